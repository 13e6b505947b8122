//! internment 0.3.12 (RUSTSEC-2020-0017): a value is freed although it was interned again.

use internment::ArcIntern;
use std::thread;

#[dpor::test]
fn intern_while_dropping() {
    let first = ArcIntern::new(7_u8);
    let thread = thread::spawn(move || drop(first));
    let second = ArcIntern::new(7_u8);
    thread.join().unwrap();
    assert_eq!(*second, 7);
}
