use std::future::poll_fn;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;

use futures_util::lock::Mutex;
use futures_util::task::AtomicWaker;
use pollster::block_on;

use crate::both;

/// A thread sets a flag and wakes while another registers and looks at the flag: no wake-up is lost.
#[dpor::test]
fn wake_while_registering() {
    let (waker, flag) = (AtomicWaker::new(), AtomicBool::new(false));
    both(
        || {
            flag.store(true, Relaxed);
            waker.wake();
        },
        || {
            block_on(poll_fn(|context| {
                waker.register(context.waker());
                if flag.load(Relaxed) { Poll::Ready(()) } else { Poll::Pending }
            }))
        },
    );
}

/// Two threads add one under the mutex: both count.
#[dpor::test]
fn mutex() {
    let number = Mutex::new(0);
    both(|| *block_on(number.lock()) += 1, || *block_on(number.lock()) += 1);
    assert_eq!(number.into_inner(), 2);
}
