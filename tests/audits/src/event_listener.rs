use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

use event_listener::{Event, Listener};

use crate::both;

/// A thread sets a flag and notifies while another listens and looks at the flag: no wake-up is lost.
#[dpor::test]
fn notify_while_listening() {
    let (event, flag) = (Event::new(), AtomicBool::new(false));
    both(
        || {
            flag.store(true, SeqCst);
            event.notify(1);
        },
        || {
            while !flag.load(SeqCst) {
                let listener = event.listen();
                if flag.load(SeqCst) {
                    break;
                }
                listener.wait();
            }
        },
    );
}
