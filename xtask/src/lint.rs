//! `cargo xtask lint`: the emitted engines under Verilator and yosys, and the size rules of the sources.
//!
//! The guard against expressions that Rust and Verilog read differently runs whenever Verilog is emitted.

use crate::{emit, run, setup, tidy};
use anyhow::Result;

/// Runs all checks that need no simulation.
pub fn run() -> Result<()> {
    tidy::run()?;
    setup::run()?;
    emit::run()?;
    run::check(
        run::cargo(&[
            "run",
            "--quiet",
            "--package",
            "osprey-verilated",
            "--bin",
            "lint",
            "--",
        ])
        .arg(run::target().join("emit")),
    )
}
