//! `cargo xtask comply`: the compliance suite with the verilated engine among its targets.

use crate::{emit, run, setup};
use anyhow::Result;

/// Arguments of `osprey comply`; `cargo xtask comply --help` lists them.
#[derive(clap::Args, Debug)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    /// Passed on as they are.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// Sets up, emits, runs the suite. The exit status tells the verdict.
pub fn run(arguments: &Arguments) -> Result<()> {
    setup::run()?;
    emit::run()?;
    run::check(
        run::cargo(&[
            "run",
            "--quiet",
            "--package",
            "osprey-cli",
            "--features",
            "rtl",
            "--",
            "comply",
        ])
        .args(&arguments.rest),
    )
}
