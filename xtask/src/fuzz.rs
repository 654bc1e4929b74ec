//! `cargo xtask fuzz`: both fuzz targets, one after the other (see fuzz/README.md).

use crate::run;
use anyhow::{Result, bail};

/// Targets, and the longest input that each is given: bytes.
const TARGETS: [(&str, u32); 2] = [("frame", 4_096), ("endpoint", 8_192)];

/// How long.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Minutes for each target.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    minutes: u32,
    /// Only this target.
    #[arg(value_parser = ["frame", "endpoint"])]
    target: Option<String>,
}

/// Runs them; the first finding ends it, and its input is kept in fuzz/artifacts.
pub fn run(arguments: &Arguments) -> Result<()> {
    if !run::answers("cargo", &["fuzz", "--version"]) {
        bail!("cargo-fuzz is missing: cargo install cargo-fuzz");
    }
    let only = arguments.target.as_deref();
    for (target, length_max) in TARGETS {
        if only.is_none_or(|only| only == target) {
            // The sanitizers of cargo-fuzz need a nightly compiler; without them the stable one serves.
            let build = ["fuzz", "run", "--debug-assertions", "--sanitizer", "none"];
            let time = format!("-max_total_time={}", arguments.minutes * 60);
            let length = format!("-max_len={length_max}");
            run::check(run::cargo(&build).args([target, "--", &time, &length, "-timeout=20"]))?;
        }
    }
    Ok(())
}
