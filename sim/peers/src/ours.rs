//! The software NIC: `osprey perf` between two processes.

use crate::Measured;
use crate::process::{Server, output};
use anyhow::{Context, Result};
use std::process::Command;

/// The command beside this program.
fn osprey() -> Result<Command> {
    let here = std::env::current_exe().context("cannot find the own program")?;
    Ok(Command::new(here.with_file_name("osprey")))
}

/// Local addresses, a plane each, with ports that the system chooses.
fn locals(planes: u8) -> String {
    let addresses: Vec<String> = (1..=planes)
        .map(|plane| format!("127.0.0.{plane}:0"))
        .collect();
    addresses.join(",")
}

/// Serves, measures with these arguments, and takes a field of the result.
fn measure(planes: u8, loss: f64, arguments: &[&str], field: &str) -> Measured {
    let (local, loss) = (locals(planes), loss.to_string());
    let server =
        Server::announced(osprey()?.args(["perf", "serve", "--local", &local, "--loss", &loss]))?;
    let peer = server
        .line
        .rsplit(' ')
        .next()
        .unwrap_or_default()
        .to_owned();
    let file = std::env::temp_dir().join(format!("osprey-perf-{}.json", std::process::id()));
    let json = file.to_string_lossy().into_owned();
    let common = [
        "--local", &local, "--loss", &loss, "--peer", &peer, "--json", &json,
    ];
    output(osprey()?.arg("perf").args(arguments).args(common))?;
    let text = std::fs::read_to_string(&file)?;
    std::fs::remove_file(&file)?;
    let value: serde_json::Value = serde_json::from_str(&text)?;
    value[field]
        .as_f64()
        .with_context(|| format!("no {field} in {text}"))
}

/// Gb/s of messages of 1 MiB.
pub(crate) fn bandwidth(planes: u8, loss: f64, seconds: u32) -> Measured {
    measure(
        planes,
        loss,
        &["bw", "--seconds", &seconds.to_string()],
        "gbps",
    )
}

/// Median round trip of 64 bytes, microseconds.
pub(crate) fn latency(planes: u8, loss: f64) -> Measured {
    measure(planes, loss, &["lat", "--count", "5000"], "p50_us")
}
