//! `cargo xtask demo`: sets up, emits the Verilog, sends a file through two simulated engines.

use crate::{emit, run, setup};
use anyhow::Result;

/// Arguments of the demonstration; `cargo xtask demo --help` lists them.
#[derive(clap::Args, Debug)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    /// Passed on as they are.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// Sets up, emits, demonstrates. The exit status tells the verdict.
pub fn run(arguments: &Arguments) -> Result<()> {
    setup::run()?;
    emit::run()?;
    run::check(
        run::cargo(&[
            "run",
            "--quiet",
            "--package",
            "osprey-sim",
            "--bin",
            "demo",
            "--",
        ])
        .args(&arguments.rest),
    )
}
