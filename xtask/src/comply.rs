//! `cargo xtask comply`: the compliance suite with the verilated engine among its targets. The exit status tells the verdict.

use crate::demo::{Arguments, on_engines};
use anyhow::Result;

/// Sets up, emits, runs the suite.
pub fn run(arguments: &Arguments) -> Result<()> {
    let suite = &["osprey-cli", "--features", "rtl", "--", "comply"];
    on_engines(suite, arguments)
}
