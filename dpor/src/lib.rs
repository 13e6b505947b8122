//! Tests that `cargo dpor` explores exhaustively.
