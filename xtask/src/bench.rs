//! `cargo xtask bench SUITE`: measurements; never part of the tests.

use crate::{emit, run, setup};
use anyhow::Result;

/// Suite and its options.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// `rtl` (cycles) or `sim` (cycles a second).
    #[arg(value_parser = ["rtl", "sim"])]
    suite: String,
    /// Passed on: `--json FILE`, ...
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// Sets up, emits, measures.
pub fn run(arguments: &Arguments) -> Result<()> {
    setup::run()?;
    emit::run()?;
    run::check(
        run::cargo(&[
            "run",
            "--quiet",
            "--release",
            "--package",
            "osprey-sim",
            "--bin",
            "bench",
            "--",
        ])
        .arg(&arguments.suite)
        .args(&arguments.rest),
    )
}
