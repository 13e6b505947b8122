//! tokio 1.44.1 (RUSTSEC-2025-0023): two receivers clone the same message at once, although it is not `Sync`.

use std::cell::Cell;
use std::thread;
use tokio::sync::broadcast;

struct Counted {
    clones: Cell<u32>,
}

impl Clone for Counted {
    fn clone(&self) -> Counted {
        self.clones.set(self.clones.get() + 1);
        Counted { clones: Cell::new(0) }
    }
}

#[dpor::test]
fn two_receivers() {
    let (sender, mut one) = broadcast::channel(1);
    let mut two = sender.subscribe();
    assert!(sender.send(Counted { clones: Cell::new(0) }).is_ok());
    let thread = thread::spawn(move || one.try_recv().is_ok());
    assert!(two.try_recv().is_ok());
    assert!(thread.join().unwrap());
}
