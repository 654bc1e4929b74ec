//! `bench cluster`: every figure of the suite, or of the groups that are named.

use clap::Parser;
use osprey_cluster::bench::GROUPS;
use osprey_report::{Figure, table};
use std::path::PathBuf;
use std::process::ExitCode;

/// Measures the transport at the scale of a cluster.
#[derive(Parser, Debug)]
#[command(name = "cluster-bench", version)]
struct Arguments {
    /// Only these groups: permutation, incast, failure, collective, beyond, speed.
    groups: Vec<String>,
    /// Write the figures as JSON to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn work(arguments: &Arguments) -> Result<(), String> {
    for group in &arguments.groups {
        if !GROUPS.iter().any(|(name, _)| name == group) {
            let names: Vec<&str> = GROUPS.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "no group '{group}': there are {}",
                names.join(", ")
            ));
        }
    }
    let mut figures: Vec<Figure> = Vec::new();
    let wanted = |name: &str| {
        arguments.groups.is_empty() || arguments.groups.iter().any(|group| group == name)
    };
    for (name, group) in GROUPS.iter().filter(|(name, _)| wanted(name)) {
        eprintln!("{name} ...");
        let made = group().map_err(|error| error.to_string())?;
        print!("{}", table(&made));
        figures.extend(made);
    }
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&figures).map_err(|error| error.to_string())?;
        std::fs::write(path, text + "\n")
            .map_err(|error| format!("--json {}: {error}", path.display()))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    match work(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
