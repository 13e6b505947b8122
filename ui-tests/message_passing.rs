//@ arguments: --model pso,tso
//! Stores to different places are reordered under PSO, not under TSO.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use std::thread;

#[dpor::test]
fn the_flag_comes_first() {
    static DATA: AtomicU32 = AtomicU32::new(0);
    static FLAG: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| {
        DATA.store(42, Relaxed);
        FLAG.store(true, Relaxed);
    });
    if FLAG.load(Relaxed) {
        assert_eq!(DATA.load(Relaxed), 42);
    }
    thread.join().unwrap();
}
