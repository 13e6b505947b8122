//! Code that a macro has made is shown where the macro is used.

use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;

static COUNTER: AtomicU32 = AtomicU32::new(0);

macro_rules! increment {
    ($counter:expr) => {{
        let count = $counter.load(Relaxed);
        $counter.store(count + 1, Relaxed);
    }};
}

macro_rules! in_a_thread {
    ($($body:tt)*) => {
        thread::spawn(move || { $($body)* })
    };
}

#[dpor::test]
fn counts() {
    let thread = in_a_thread! { increment!(COUNTER) };
    increment!(COUNTER);
    thread.join().unwrap();
    assert_eq!(COUNTER.load(Relaxed), 2);
}
