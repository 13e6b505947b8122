use seqlock::SeqLock;

use crate::both;

/// A thread writes two numbers while another reads both: they agree. The reads of a sequence lock race by design.
#[dpor::test(allow = "data-race in seqlock::")]
fn read_while_writing() {
    let pair = SeqLock::new((0, 0));
    let (_, seen) = both(|| *pair.lock_write() = (1, 1), || pair.read());
    assert!(seen == (0, 0) || seen == (1, 1));
}

/// Two threads write: both count.
#[dpor::test]
fn two_writes() {
    let number = SeqLock::new(0);
    both(|| *number.lock_write() += 1, || *number.lock_write() += 1);
    assert_eq!(number.into_inner(), 2);
}
