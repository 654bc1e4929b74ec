//! `cargo xtask emit`: the Verilog of every named configuration.

use crate::run;
use anyhow::Result;

/// Writes `target/emit/osprey_engine_*.v`; rust-hdl's own checks and the guard run on the way.
pub fn run() -> Result<()> {
    let directory = run::target().join("emit");
    run::check(
        run::cargo(&[
            "run",
            "--quiet",
            "--package",
            "osprey-rtl",
            "--bin",
            "emit",
            "--",
        ])
        .arg(&directory),
    )
}
