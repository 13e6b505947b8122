use crate::both;

/// A thread unparks while another parks: no token is lost, and what was written before is seen.
#[dpor::test]
fn unpark_while_parking() {
    let (parker, unparker) = parking::pair();
    let mut value = 0;
    let shared = &mut value;
    both(
        move || {
            *shared = 1;
            unparker.unpark();
        },
        || parker.park(),
    );
    assert_eq!(value, 1);
}
