use left_right::Absorb;

use crate::both;

#[derive(Clone, Default)]
struct Pair(u32, u32);

struct Add(u32);

impl Absorb<Add> for Pair {
    fn absorb_first(&mut self, operation: &mut Add, _: &Self) {
        self.0 += operation.0;
        self.1 += operation.0;
    }

    fn sync_with(&mut self, first: &Self) {
        *self = first.clone();
    }
}

/// A thread publishes two changes of two numbers while another reads both: they agree.
#[dpor::test]
fn read_while_publishing() {
    let (mut writer, reader) = left_right::new::<Pair, Add>();
    writer.append(Add(1));
    writer.publish();
    writer.append(Add(1));
    let (_, seen) = both(
        || {
            writer.publish();
            writer.append(Add(1));
            writer.publish();
        },
        || reader.enter().map(|pair| (pair.0, pair.1)),
    );
    assert!(seen.is_some_and(|(a, b)| a == b && (1..=3).contains(&a)));
}
