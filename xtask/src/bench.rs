//! `cargo xtask bench SUITE`: measurements; never part of the tests.

use crate::{emit, run, setup};
use anyhow::Result;

/// Suite and its options.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// `rtl` (cycles), `sim` (cycles a second) `cluster` (the transport at scale) or `sockets`
    /// (the software NIC beside TCP, QUIC and libfabric).
    #[arg(value_parser = ["rtl", "sim", "cluster", "sockets"])]
    suite: String,
    /// Passed on: `--json FILE`, ...
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// Sets up, emits, measures.
pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.suite == "cluster" {
        let program = [
            "run",
            "--quiet",
            "--release",
            "--package",
            "osprey-cluster",
            "--",
        ];
        return run::check(run::cargo(&program).args(&arguments.rest));
    }
    if arguments.suite == "sockets" {
        run::check(&mut run::cargo(&[
            "build",
            "--quiet",
            "--release",
            "--package",
            "osprey-cli",
        ]))?;
        let program = [
            "run",
            "--quiet",
            "--release",
            "--package",
            "osprey-peers",
            "--",
        ];
        return run::check(run::cargo(&program).args(&arguments.rest));
    }
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
