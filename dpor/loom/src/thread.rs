//! Threads, and what is their own.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

#[doc(no_inline)]
pub use std::thread::{current, panicking, park, yield_now, Thread, ThreadId};

/// Something that is sent to another thread though its type does not say that it can be: loom does not ask.
struct Sent<T>(T);

// SAFETY: loom runs all threads on one. Here the user has to see to it, and `cargo dpor` finds the data races.
unsafe impl<T> Send for Sent<T> {}

impl<T> Sent<T> {
    fn into_inner(self) -> T {
        self.0
    }
}

/// A thread to be joined.
pub struct JoinHandle<T> {
    handle: std::thread::JoinHandle<Sent<T>>,
}

// SAFETY: As for [`Sent`]: loom's is, whatever the thread gives.
unsafe impl<T> Send for JoinHandle<T> {}
// SAFETY: As above.
unsafe impl<T> Sync for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// Waits for the thread to end.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        self.handle.join().map(Sent::into_inner)
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        self.handle.thread()
    }
}

impl<T: fmt::Debug> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish()
    }
}

/// Starts a thread.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    spawn_by(std::thread::Builder::new(), f).expect("failed to spawn thread")
}

fn spawn_by<F, T>(builder: std::thread::Builder, f: F) -> io::Result<JoinHandle<T>>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    let f = Sent(f);
    let handle = builder.spawn(move || {
        let _alarm = Alarm;
        let f = f.into_inner();
        Sent(f())
    })?;
    Ok(JoinHandle { handle })
}

/// Starts threads that have a name.
#[derive(Debug)]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// A thread without a name.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Builder {
        Builder { name: None, stack_size: None }
    }

    /// Gives the thread a name.
    pub fn name(self, name: String) -> Builder {
        Builder { name: Some(name), ..self }
    }

    /// Sets the size of the thread's stack.
    pub fn stack_size(self, size: usize) -> Builder {
        Builder { stack_size: Some(size), ..self }
    }

    /// Starts the thread.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let mut builder = std::thread::Builder::new();
        if let Some(name) = self.name {
            builder = builder.name(name);
        }
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        spawn_by(builder, f)
    }
}

/// Whether a thread has panicked: then the model fails, also if nobody joins the thread.
static PANICKED: AtomicBool = AtomicBool::new(false);

struct Alarm;

impl Drop for Alarm {
    fn drop(&mut self) {
        if panicking() {
            PANICKED.store(true, Ordering::SeqCst);
        }
    }
}

/// Panics if a thread has, all of which have ended.
#[track_caller]
pub(crate) fn check_panics() {
    // SAFETY: All threads have ended.
    let panicked = unsafe { std::mem::take(&mut *PANICKED.as_ptr()) };
    assert!(!panicked, "a thread of the model panicked");
}

/// A thread-local, fresh in each execution of a model.
pub struct LocalKey<T> {
    #[doc(hidden)]
    pub init: fn() -> T,
    #[doc(hidden)]
    pub _p: PhantomData<fn(T)>,
}

/// The values of a thread, by the address of their keys; nothing where one was dropped.
type Locals = Vec<(usize, Option<Rc<dyn Any>>)>;

std::thread_local! {
    static LOCALS: RefCell<Locals> = const { RefCell::new(Vec::new()) };
}

impl<T: 'static> LocalKey<T> {
    /// Gives the value to a closure.
    ///
    /// # Panics
    ///
    /// If the value was dropped.
    #[track_caller]
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.try_with(f).expect("cannot access a thread-local during or after it is destroyed")
    }

    /// Gives the value to a closure, unless it was dropped.
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        let value = match self.find()? {
            Some(value) => value,
            None => {
                let value: Rc<dyn Any> = Rc::new((self.init)());
                let known = self.find()?;
                known.map_or_else(|| self.insert(value), Ok)?
            }
        };
        Ok(f(value.downcast_ref().expect("a thread-local has the type of its key")))
    }

    fn address(&'static self) -> usize {
        let key: *const LocalKey<T> = self;
        key as usize
    }

    fn find(&'static self) -> Result<Option<Rc<dyn Any>>, AccessError> {
        let found = LOCALS.try_with(|locals| {
            let locals = locals.borrow();
            locals.iter().find(|(key, _)| *key == self.address()).map(|(_, value)| value.clone())
        });
        match found {
            Ok(Some(Some(value))) => Ok(Some(value)),
            Ok(None) => Ok(None),
            Ok(Some(None)) | Err(_) => Err(AccessError { _private: () }),
        }
    }

    fn insert(&'static self, value: Rc<dyn Any>) -> Result<Rc<dyn Any>, AccessError> {
        let inserted = LOCALS.try_with(|locals| locals.borrow_mut().push((self.address(), Some(value.clone()))));
        inserted.map(|()| value).map_err(|_| AccessError { _private: () })
    }
}

impl<T> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("LocalKey { .. }")
    }
}

/// Drops the thread-locals of the main thread, at the end of a model.
pub(crate) fn drop_locals() {
    let mut next = 0;
    while let Some(value) = LOCALS.with(|locals| locals.borrow_mut().get_mut(next).map(|(_, value)| value.take())) {
        drop(value);
        next += 1;
    }
    LOCALS.with(|locals| *locals.borrow_mut() = Vec::new());
}

/// A thread-local was dropped.
pub struct AccessError {
    _private: (),
}

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessError").finish()
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl std::error::Error for AccessError {}
