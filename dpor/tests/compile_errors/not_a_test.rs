#[dpor::test]
struct Type;

#[dpor::test]
async fn asynchronous() {}

#[dpor::test]
fn parameters(number: u32) {}

#[dpor::test]
fn generic<T>() {}

#[dpor::test]
unsafe fn unsafe_function() {}
