//! Programs of others: iperf3 and fi_pingpong.

use crate::Measured;
use crate::process::{Server, output};
use anyhow::Context;
use std::process::Command;

/// Ports that nothing else here uses.
const IPERF_PORT: &str = "45201";
const FABRIC_PORT: &str = "45592";

/// Gb/s of one TCP connection.
pub(crate) fn iperf3(seconds: u32) -> Measured {
    let _server = Server::silent(Command::new("iperf3").args(["-s", "-p", IPERF_PORT]))?;
    let seconds = seconds.to_string();
    let text = output(Command::new("iperf3").args([
        "-c",
        "127.0.0.1",
        "-p",
        IPERF_PORT,
        "-t",
        &seconds,
        "-J",
    ]))?;
    let value: serde_json::Value = serde_json::from_str(&text)?;
    let bits = value["end"]["sum_received"]["bits_per_second"].as_f64();
    Ok(bits.context("iperf3 tells no rate")? * 1e-9)
}

/// A row of fi_pingpong for messages of `size` bytes: its columns.
fn pingpong(size: &str, count: &str) -> anyhow::Result<Vec<String>> {
    let common = ["-p", "tcp", "-e", "msg", "-S", size, "-I", count];
    let _server = Server::silent(
        Command::new("fi_pingpong")
            .args(common)
            .args(["-B", FABRIC_PORT]),
    )?;
    let text =
        output(
            Command::new("fi_pingpong")
                .args(common)
                .args(["-P", FABRIC_PORT, "127.0.0.1"]),
        )?;
    let row = text.lines().last().context("fi_pingpong prints nothing")?;
    Ok(row.split_whitespace().map(str::to_owned).collect())
}

/// Gb/s of messages of 1 MiB that go back and forth: one direction at a time, as fi_pingpong counts.
pub(crate) fn fabric_bandwidth() -> Measured {
    let row = pingpong("1048576", "2000")?;
    let megabytes: f64 = row
        .get(5)
        .context("fi_pingpong's table is short")?
        .parse()?;
    Ok(megabytes * 8e-3)
}

/// Round trip of 64 bytes, microseconds: twice the time of a transfer.
pub(crate) fn fabric_latency() -> Measured {
    let row = pingpong("64", "20000")?;
    let transfer_us: f64 = row
        .get(6)
        .context("fi_pingpong's table is short")?
        .parse()?;
    Ok(2.0 * transfer_us)
}
