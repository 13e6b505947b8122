//! thread_local 1.1.3 (RUSTSEC-2022-0006): the iterator loads the pointer to a bucket with a relaxed load.
//@ arguments: --suggest --timeout 600

use std::thread;
use thread_local::ThreadLocal;

#[dpor::test]
fn iterate_while_inserting() {
    let local: ThreadLocal<u32> = ThreadLocal::new();
    local.get_or(|| 7);
    thread::scope(|scope| {
        scope.spawn(|| {
            local.get_or(|| 7);
            thread::scope(|scope| {
                scope.spawn(|| *local.get_or(|| 7));
            });
        });
        assert!(local.iter().all(|value| *value == 7));
    });
}
