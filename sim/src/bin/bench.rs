//! Measurements: `bench rtl` in cycles, `bench sim` in cycles a second. Not part of the tests.

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use osprey_report::{Figure, table};
use osprey_sim::measure::{rtl, simulation};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Suite {
    /// Throughput and latency of the engine, in cycles.
    Rtl,
    /// Speed of the simulation.
    Sim,
}

/// Measures the engine or its simulation.
#[derive(Parser, Debug)]
#[command(name = "bench", version)]
struct Arguments {
    /// What to measure.
    suite: Suite,
    /// Write the figures as JSON to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn work(arguments: &Arguments) -> Result<Vec<Figure>> {
    let figures = match arguments.suite {
        Suite::Rtl => rtl()?,
        Suite::Sim => simulation()?,
    };
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&figures)?;
        std::fs::write(path, text + "\n").with_context(|| format!("--json {}", path.display()))?;
    }
    Ok(figures)
}

fn main() -> ExitCode {
    match work(&Arguments::parse()) {
        Ok(figures) => {
            print!("{}", table(&figures));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
