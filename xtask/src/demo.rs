//! `cargo xtask demo`: sets up, emits the Verilog, sends a file through two simulated engines.

use crate::{emit, run, setup};
use anyhow::Result;

/// Arguments of a program that runs emitted engines; its own `--help` lists them.
#[derive(clap::Args, Debug)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    /// Passed on as they are.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// Sets up, emits, demonstrates. The exit status tells the verdict.
pub fn run(arguments: &Arguments) -> Result<()> {
    on_engines(&["osprey-sim", "--bin", "demo", "--"], arguments)
}

/// Sets up, emits, and runs a package's program.
pub fn on_engines(program: &[&str], arguments: &Arguments) -> Result<()> {
    setup::run()?;
    emit::run()?;
    let mut cargo = run::cargo(&["run", "--quiet", "--package"]);
    run::check(cargo.args(program).args(&arguments.rest))
}
