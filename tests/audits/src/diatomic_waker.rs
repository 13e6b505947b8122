use std::future::poll_fn;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;

use diatomic_waker::WakeSink;
use pollster::block_on;

use crate::both;

/// A thread sets a flag and notifies while another registers and looks at the flag: no wake-up is lost.
#[dpor::test]
fn notify_while_registering() {
    let mut sink = WakeSink::new();
    let source = sink.source();
    let flag = AtomicBool::new(false);
    both(
        || {
            flag.store(true, Relaxed);
            source.notify();
        },
        || {
            block_on(poll_fn(|context| {
                sink.register(context.waker());
                if flag.load(Relaxed) { Poll::Ready(()) } else { Poll::Pending }
            }))
        },
    );
}
