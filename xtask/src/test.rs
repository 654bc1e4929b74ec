//! `cargo xtask test`: sets up, emits, lints, runs every test.

use crate::{emit, lint, run, setup};
use anyhow::Result;

/// What to run.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Passed on to the test runner: filters, packages.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// Uses cargo-nextest where it is installed, else cargo's own runner.
pub fn run(arguments: &Arguments) -> Result<()> {
    setup::run()?;
    emit::run()?;
    lint::run()?;
    let nextest = run::answers("cargo", &["nextest", "--version"]);
    let runner: &[&str] = if nextest {
        &["nextest", "run", "--workspace", "--no-fail-fast"]
    } else {
        &["test", "--workspace", "--no-fail-fast"]
    };
    run::check(run::cargo(runner).args(&arguments.rest))?;
    if nextest && arguments.rest.is_empty() {
        run::check(&mut run::cargo(&[
            "test",
            "--workspace",
            "--doc",
            "--quiet",
        ]))?;
    }
    Ok(())
}
