//! `cargo xtask soak`: the random tests of the blocks with many more rounds.

use crate::{emit, run, setup};
use anyhow::Result;

/// How long.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Test name filter; none: all soak tests.
    filter: Option<String>,
}

/// Runs the tests that are marked as ignored: they are the slow ones.
pub fn run(arguments: &Arguments) -> Result<()> {
    setup::run()?;
    emit::run()?;
    run::check(
        run::cargo(&["test", "--workspace", "--release", "--"])
            .args(&arguments.filter)
            .arg("--ignored"),
    )
}
