//! The standard library as we build it: some of its files are ours.
//!
//! Its synchronization is written anew on top of what the checker provides (`docs/synchronization.md`). The files that
//! do so are in `overlay/`, below the same paths as in the library; a few places elsewhere that must know of them are
//! edited, without moving any line.

use std::fs;
use std::hash::{Hash, Hasher};
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// A file of ours, by its path in the library.
struct Replacement {
    path: &'static str,
    text: &'static str,
}

/// Declares the files of `overlay/`.
macro_rules! replacements {
    ($($path:literal),* $(,)?) => {
        [$(Replacement { path: $path, text: include_str!(concat!("../overlay/", $path)) }),*]
    };
}

const REPLACEMENTS: [Replacement; 17] = replacements![
    "std/src/sys/sync/checker.rs",
    "std/src/sys/sync/checker/barriers.rs",
    "std/src/sys/sync/checker/files.rs",
    "std/src/sys/sync/checker/table.rs",
    "std/src/sys/sync/condvar/futex.rs",
    "std/src/sys/sync/mutex/futex.rs",
    "std/src/sys/sync/once/futex.rs",
    "std/src/sys/sync/rwlock/futex.rs",
    "std/src/sys/sync/thread_parking/futex.rs",
    "std/src/sync/barrier.rs",
    "std/src/sync/mpmc/array.rs",
    "std/src/sync/mpmc/channel.rs",
    "std/src/sync/mpmc/counter.rs",
    "std/src/sync/mpmc/list.rs",
    "std/src/sync/mpmc/queue.rs",
    "std/src/sync/mpmc/zero.rs",
    "std/src/thread/lifecycle/held.rs",
];

/// A change of a file of the library: text that stands there so many times becomes another.
#[derive(Hash)]
struct Edit {
    path: &'static str,
    from: &'static str,
    to: &'static str,
    times: usize,
}

const EDITS: [Edit; 33] = [
    Edit {
        path: "std/src/sys/sync/mod.rs",
        from: "mod condvar;\n",
        to: "pub(crate) mod checker; mod condvar;\n",
        times: 1,
    },
    Edit {
        path: "std/src/sync/mpmc/mod.rs",
        from: "mod context;\nmod counter;\nmod error;\nmod list;\nmod select;\nmod utils;\nmod waker;\n",
        to: "mod channel;\nmod counter;\nmod error;\nmod list;\nmod queue;\n\n\n",
        times: 1,
    },
    // Times are relative: what a thread does must not depend on how often it did it before.
    Edit {
        path: "std/src/sync/mpmc/mod.rs",
        from: "        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.recv_deadline(deadline),
            // So far in the future that it's practically the same as waiting indefinitely.
            None => self.recv().map_err(RecvTimeoutError::from),
",
        to: "        match &self.flavor {
            ReceiverFlavor::Array(chan) => chan.recv_within(timeout),
            ReceiverFlavor::List(chan) => chan.recv_within(timeout),
            ReceiverFlavor::Zero(chan) => chan.recv_within(timeout),
",
        times: 1,
    },
    // What is initialized once is looked at once: by the call that would initialize it.
    Edit {
        path: "std/src/sync/once.rs",
        from: "        if self.inner.is_completed() {\n            return;\n        }\n",
        to: "\n\n\n",
        times: 2,
    },
    Edit {
        path: "std/src/sync/once.rs",
        from: "        if !self.inner.is_completed() {\n",
        to: "        {\n",
        times: 2,
    },
    Edit {
        path: "std/src/sync/once_lock.rs",
        from: "        if let Some(value) = self.get() {\n            return Ok(value);\n        }\n        self.init",
        to: "\n\n\n        self.init",
        times: 1,
    },
    // Who holds the result of a thread is a word of its own, instead of a reference count.
    Edit {
        path: "std/src/thread/lifecycle.rs",
        from: "use super::{Result, spawnhook};\n",
        to: "use super::{Result, spawnhook}; mod held;\n",
        times: 1,
    },
    Edit {
        path: "std/src/thread/lifecycle.rs",
        from: "    result: UnsafeCell<Option<Result<T>>>,\n",
        to: "    result: UnsafeCell<Option<Result<T>>>, holders: Atomic<u32>,\n",
        times: 1,
    },
    Edit {
        path: "std/src/thread/lifecycle.rs",
        from: "result: UnsafeCell::new(None), _marker",
        to: "result: UnsafeCell::new(None), holders: Atomic::<u32>::new(2), _marker",
        times: 1,
    },
    Edit {
        path: "std/src/thread/lifecycle.rs",
        from: "        drop(their_packet);\n",
        to: "        held::finish(their_packet);\n",
        times: 1,
    },
    Edit {
        path: "std/src/thread/lifecycle.rs",
        from: "        packet: my_packet,\n",
        to: "        packet: held::Held::new(my_packet),\n",
        times: 1,
    },
    Edit {
        path: "std/src/thread/lifecycle.rs",
        from: "            *self.result.get_mut() = None;\n",
        to: "            held::discard(self.result.get_mut());\n",
        times: 1,
    },
    Edit {
        path: "std/src/thread/lifecycle.rs",
        from: "    packet: Arc<Packet<'scope, T>>,\n}\n",
        to: "    packet: held::Held<'scope, T>,\n}\n",
        times: 1,
    },
    Edit {
        path: "std/src/thread/lifecycle.rs",
        from: "Arc::strong_count(&self.packet) == 1",
        to: "self.packet.is_alone()",
        times: 1,
    },
    Edit {
        path: "std/src/thread/lifecycle.rs",
        from: "Arc::get_mut(&mut self.packet)\n",
        to: "Arc::get_mut(self.packet.join())\n",
        times: 1,
    },
    Edit {
        path: "std/src/thread/functions.rs",
        from: "    imp::sleep(dur)\n",
        to: "    crate::sys::sync::checker::dpor_sleep(dur); imp::sleep(dur)\n",
        times: 1,
    },
    // A thread of a scope is done when its result is there, whoever drops that; if its owner's token matters, when the
    // result is dropped, as in the library.
    Edit {
        path: "std/src/thread/scoped.rs",
        from: "    main_thread: Thread,\n",
        to: "    main_thread: Thread, parks: bool, handles: Atomic<usize>,\n",
        times: 1,
    },
    Edit {
        path: "std/src/thread/scoped.rs",
        from: "            main_thread: current_or_unnamed(),\n",
        to: "            main_thread: current_or_unnamed(), parks: { \
             use crate::sys::sync::checker::{dpor_asked, question}; dpor_asked(question::TOKEN) }, \
             handles: AtomicUsize::new(0),\n",
        times: 1,
    },
    Edit {
        path: "std/src/thread/scoped.rs",
        from: "        if self.num_running_threads.fetch_add(1, Ordering::Relaxed) > usize::MAX / 2 {\n",
        to: "        if (if self.parks { crate::sys::sync::checker::scope::enter(&self.num_running_threads) } \
             else { self.num_running_threads.fetch_add(1, Ordering::Relaxed) }) > usize::MAX / 2 {\n",
        times: 1,
    },
    Edit {
        path: "std/src/thread/scoped.rs",
        from: "        if self.num_running_threads.fetch_sub(1, Ordering::Release) == 1 {
            self.main_thread.unpark();
        }
    }
",
        to: "        if self.parks { crate::sys::sync::checker::scope::leave(&self.num_running_threads, &self.main_thread) } }

    pub(super) fn leave(&self) { if !self.parks { crate::sys::sync::checker::dpor_leave(self.num_running_threads.as_ptr().cast()); \
             self.num_running_threads.fetch_sub(1, Ordering::Relaxed); } }
    pub(super) fn parks(&self) -> bool { self.parks } pub(super) fn add_handle(&self) { self.handles.fetch_add(1, Ordering::Relaxed); } \
             pub(super) fn drop_handle(&self) { self.handles.fetch_sub(1, Ordering::Relaxed); }
",
        times: 1,
    },
    Edit {
        path: "std/src/thread/scoped.rs",
        from: "    while scope.data.num_running_threads.load(Ordering::Acquire) != 0 {
        // SAFETY: this is the main thread, the handle belongs to us.
        unsafe { scope.data.main_thread.park() };
    }
",
        to: "    { use crate::sys::sync::checker::scope::{park, wait, wait_for_handles}; let ScopeData { num_running_threads, main_thread, .. } = &*scope.data;
        if scope.data.parks { park(num_running_threads, main_thread) } else { wait(num_running_threads) }
        if scope.data.handles.load(Ordering::Relaxed) != 0 { wait_for_handles() }
    }
",
        times: 1,
    },
    // The thread that runs a test is called like it, without any allocation.
    Edit {
        path: "std/src/thread/thread.rs",
        from: "    name: Option<ThreadNameString>,\n",
        to: "    name: Option<ThreadNameString>, test: Option<&'static CStr>,\n",
        times: 1,
    },
    Edit {
        path: "std/src/thread/thread.rs",
        from: "            (&raw mut (*ptr).name).write(name);\n",
        to: "            (&raw mut (*ptr).name).write(name); (&raw mut (*ptr).test).write(None);\n",
        times: 1,
    },
    Edit {
        path: "std/src/thread/thread.rs",
        from: "        let thread = Thread::new(id, None);\n",
        to: "        let thread = Thread::new(id, None); \
             unsafe { (&raw const thread.inner.test).cast_mut().write(crate::sys::sync::checker::test_name()) };\n",
        times: 1,
    },
    Edit {
        path: "std/src/thread/thread.rs",
        from: "        } else if main_thread::get() == Some(self.inner.id) {\n            Some(\"main\")\n",
        to: "        } else if let Some(test) = self.inner.test { test.to_str().ok() \
             } else if main_thread::get() == Some(self.inner.id) {\n            Some(\"main\")\n",
        times: 1,
    },
    Edit {
        path: "std/src/thread/thread.rs",
        from: "        } else if main_thread::get() == Some(self.inner.id) {\n            Some(c\"main\")\n",
        to: "        } else if self.inner.test.is_some() { self.inner.test \
             } else if main_thread::get() == Some(self.inner.id) {\n            Some(c\"main\")\n",
        times: 1,
    },
    // The hook for panics is behind a lock, which is of interest only if somebody changes the hook while there are
    // others.
    Edit {
        path: "std/src/panicking.rs",
        from: "use crate::sys::backtrace;\n",
        to: "use crate::sys::{backtrace, sync::checker::{dpor_ask, dpor_asked, hook as visible, question}};\n",
        times: 1,
    },
    Edit {
        path: "std/src/panicking.rs",
        from: "    drop(HOOK.replace(Hook::Custom(hook)));\n",
        to: "    dpor_ask(question::HOOK); drop(replace_hook(Hook::Custom(hook)));\n",
        times: 1,
    },
    Edit {
        path: "std/src/panicking.rs",
        from: "    HOOK.replace(Hook::Default).into_box()\n",
        to: "    dpor_ask(question::HOOK); replace_hook(Hook::Default).into_box()\n",
        times: 1,
    },
    Edit {
        path: "std/src/panicking.rs",
        from: "    let mut hook = HOOK.write();\n",
        to: "    dpor_ask(question::HOOK); let mut hook = if dpor_asked(question::HOOK) { visible::write(&HOOK) } else { HOOK.write() };\n",
        times: 1,
    },
    Edit {
        path: "std/src/panicking.rs",
        from: "    match *HOOK.read() {\n",
        to: "    match *if dpor_asked(question::HOOK) { visible::read(&HOOK) } else { HOOK.read() } {\n",
        times: 1,
    },
    Edit {
        path: "std/src/panicking.rs",
        from: "static HOOK: RwLock<Hook> = RwLock::new(Hook::Default);\n",
        to: "static HOOK: RwLock<Hook> = RwLock::new(Hook::Default); fn replace_hook(new: Hook) -> Hook { \
             if dpor_asked(question::HOOK) { visible::replace(&HOOK, new) } else { HOOK.replace(new) } }\n",
        times: 1,
    },
    // Runs a `#[test]`, given the closure for the harness: a result that means failure is a panic.
    Edit {
        path: "test/src/lib.rs",
        from: "pub fn assert_test_result<T: Termination>",
        to: "#[doc(hidden)] pub fn dpor_run<F: FnOnce() -> Result<(), String>>() { \
             let run = unsafe { std::mem::zeroed::<F>() }; \
             if let Err(message) = run() { panic!(\"{message}\") } } \
             pub fn assert_test_result<T: Termination>",
        times: 1,
    },
];

/// Adds everything that distinguishes our library from the released one.
pub fn hash(hasher: &mut impl Hasher) {
    for replacement in &REPLACEMENTS {
        replacement.path.hash(hasher);
        replacement.text.hash(hasher);
    }
    EDITS.hash(hasher);
}

/// Copies the sources of the library, with ours in place.
pub fn copy_library(from: &Path, to: &Path) -> Result<()> {
    copy_directory(from, to)?;
    for Replacement { path, text } in &REPLACEMENTS {
        let path = to.join(path);
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .with_context(|| format!("cannot create {}", path.display()))?;
        write(&path, text)?;
    }
    EDITS.iter().try_for_each(|edit| edit.apply(to))
}

impl Edit {
    fn apply(&self, library: &Path) -> Result<()> {
        let path = library.join(self.path);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let found = text.matches(self.from).count();
        ensure!(
            found == self.times,
            "{} is not as expected: it contains `{}` {found} times",
            path.display(),
            self.from
        );
        write(&path, &text.replace(self.from, self.to))
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn copy_directory(from: &Path, to: &Path) -> Result<()> {
    let failed = || format!("cannot copy {} to {}", from.display(), to.display());
    fs::create_dir_all(to).with_context(failed)?;
    for entry in fs::read_dir(from).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy_directory(&source, &target)?;
        } else {
            // Not with its permissions: installed sources may be read-only.
            let contents = fs::read(&source).with_context(failed)?;
            fs::write(&target, contents).with_context(failed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env;
    use std::path::PathBuf;
    use std::process::Command;

    /// The files of the library that ours were written for: a checksum and a path in each line.
    const UPSTREAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/overlay/upstream.txt");

    #[test]
    fn edits_move_no_line() {
        for edit in &EDITS {
            let lines = |text: &str| text.matches('\n').count();
            assert_eq!(lines(edit.from), lines(edit.to), "{}: {}", edit.path, edit.from);
        }
    }

    /// `docs/upgrading.md` says what to do where this fails.
    #[test]
    fn the_library_is_as_it_was_when_the_overlay_was_written() {
        let library = library();
        let is_upstream = |replacement: &&Replacement| library.join(replacement.path).is_file();
        let replaced = REPLACEMENTS.iter().filter(is_upstream).map(|replacement| line(&library, replacement.path));
        let found: String = replaced.collect();
        if env::var_os("BLESS").is_some() {
            fs::write(UPSTREAM, &found).unwrap();
        }
        let written_for = fs::read_to_string(UPSTREAM).unwrap();
        let changed = written_for.lines().filter(|line| !found.lines().any(|other| other == *line));
        let added = found.lines().filter(|line| !written_for.lines().any(|other| other == *line));
        let differ: Vec<String> =
            changed.map(|line| format!("- {line}")).chain(added.map(|line| format!("+ {line}"))).collect();
        let stale: Vec<String> = EDITS.iter().filter_map(|edit| edit.is_stale(&library)).collect();
        assert!(differ.is_empty() && stale.is_empty(), "{}\n{}", differ.join("\n"), stale.join("\n"));
    }

    /// The sources of the library of the toolchain that `$DPOR_TOOLCHAIN` names, or of the pinned one.
    fn library() -> PathBuf {
        let mut rustc = Command::new("rustc");
        if let Some(toolchain) = env::var_os("DPOR_TOOLCHAIN") {
            rustc = Command::new("rustup");
            rustc.arg("run").arg(toolchain).arg("rustc");
        }
        let output = rustc.args(["--print", "sysroot"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let sysroot = String::from_utf8(output.stdout).unwrap();
        let library = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library");
        assert!(library.is_dir(), "the toolchain needs the component rust-src: {}", library.display());
        library
    }

    fn line(library: &Path, path: &str) -> String {
        format!("{:08x} {path}\n", crc32fast::hash(&fs::read(library.join(path)).unwrap()))
    }

    impl Edit {
        /// How the file is other than the edit expects, if it is.
        fn is_stale(&self, library: &Path) -> Option<String> {
            let Edit { path, from, times, .. } = self;
            let found = fs::read_to_string(library.join(path)).map_or(0, |text| text.matches(from).count());
            (found != *times).then(|| format!("{path} contains {found} times instead of {times}:\n{from}"))
        }
    }
}
