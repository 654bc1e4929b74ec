//! The `osprey` command.

fn main() {}
