//@ arguments: --format json --keep-going

use std::sync::atomic::{AtomicUsize, Ordering};

mod inner {
    #[dpor::test]
    fn passes() {}
}

#[dpor::test(model = "tso", buffer_bound = 2)]
fn fails() {
    println!("a line");
    panic!("a \"message\"");
}

#[dpor::test]
#[ignore]
fn is_ignored() {}

/// 2 executions are complete, and 1 is not.
#[dpor::test(model = "sc,rc11")]
fn has_several_executions() {
    dpor::assume(dpor::choose(3) != 1);
}

#[dpor::test]
fn has_two_errors() {
    static X: AtomicUsize = AtomicUsize::new(0);
    let thread = std::thread::spawn(|| X.store(1, Ordering::Relaxed));
    if X.load(Ordering::Relaxed) == 1 {
        panic!("seen");
    }
    thread.join().unwrap();
    panic!("not seen");
}
