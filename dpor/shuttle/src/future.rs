//! Futures: a task is a thread that polls one.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::{pin, Pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

#[doc(no_inline)]
pub use loom::future::block_on;

/// What a task and its handles share.
trait Abort: Send + Sync {
    fn abort(&self);
    fn is_finished(&self) -> bool;
}

struct Shared<T>(Mutex<State<T>>);

struct State<T> {
    result: Option<Result<T, JoinError>>,
    finished: bool,
    aborted: bool,
    /// The task that waits for the result.
    waker: Option<Waker>,
    /// The thread of the task.
    thread: Option<Thread>,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, result: Result<T, JoinError>) {
        let mut state = self.lock();
        (state.result, state.finished) = (Some(result), true);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T: Send> Abort for Shared<T> {
    fn abort(&self) {
        let mut state = self.lock();
        state.aborted = true;
        let thread = state.thread.clone();
        drop(state);
        if let Some(thread) = thread {
            thread.unpark();
        }
    }

    fn is_finished(&self) -> bool {
        self.lock().finished
    }
}

/// Wakes a task by unparking its thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Starts a task.
#[track_caller]
pub fn spawn<F>(fut: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let state = State { result: None, finished: false, aborted: false, waker: None, thread: None };
    let shared = Arc::new(Shared(Mutex::new(state)));
    let task = shared.clone();
    crate::thread::spawn(move || {
        let result = run(fut, &task);
        task.finish(result);
    });
    JoinHandle { shared }
}

/// Polls a future until it is ready, or the task is aborted.
fn run<F: Future>(future: F, shared: &Shared<F::Output>) -> Result<F::Output, JoinError> {
    let thread = std::thread::current();
    shared.lock().thread = Some(thread.clone());
    let waker = Waker::from(Arc::new(Unpark(thread)));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if shared.lock().aborted {
            return Err(JoinError::Cancelled);
        }
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Ok(value);
        }
        std::thread::park();
    }
}

/// A task to be waited for. Dropping it aborts the task.
pub struct JoinHandle<T: Send + 'static> {
    shared: Arc<Shared<T>>,
}

impl<T: Send + 'static> JoinHandle<T> {
    /// Aborts the task, unless it is finished: its future is dropped when it would be polled the next time.
    pub fn abort(&self) {
        self.shared.abort();
    }

    /// Whether the task is finished.
    pub fn is_finished(&self) -> bool {
        self.shared.is_finished()
    }

    /// A handle by which the task can be aborted.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle { shared: self.shared.clone() }
    }
}

impl<T: Send + 'static> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        self.abort();
    }
}

impl<T: Send + 'static> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.shared.lock();
        match state.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T: Send + 'static> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("JoinHandle { .. }")
    }
}

/// By which a task can be aborted.
#[derive(Clone)]
pub struct AbortHandle {
    shared: Arc<dyn Abort>,
}

impl AbortHandle {
    /// Aborts the task, unless it is finished.
    pub fn abort(&self) {
        self.shared.abort();
    }

    /// Whether the task is finished.
    pub fn is_finished(&self) -> bool {
        self.shared.is_finished()
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("AbortHandle { .. }")
    }
}

/// Why a task has no result.
#[derive(Debug)]
pub enum JoinError {
    /// It was aborted.
    Cancelled,
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Cancelled => f.write_str("task was cancelled"),
        }
    }
}

impl Error for JoinError {}

/// Lets other tasks go first.
pub async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}
