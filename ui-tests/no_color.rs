//@ env: NO_COLOR=1
//@ env: CLICOLOR_FORCE=0
//@ arguments: --color auto
//! No color where none is wanted.

#[dpor::test]
fn fails() {
    panic!("in black and white");
}
