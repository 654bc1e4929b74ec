//! `bench sockets`: the software NIC between two processes over loopback, beside TCP (iperf3), QUIC (quinn) and libfabric's
//! tcp provider (fi_pingpong), as ratios in the same run.
//!
//! Every measurement is two processes that share the machine, one after the other. Peers that are not installed are left
//! out and named. Loss is injected by our own NIC; the peers run without.

mod ours;
mod peers;
mod process;
mod quic;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use osprey_report::{Better, Figure, table};
use std::path::PathBuf;
use std::process::ExitCode;

/// Measures the software NIC beside other transports.
#[derive(Parser, Debug)]
#[command(name = "osprey-peers", version)]
struct Arguments {
    /// Seconds of a throughput measurement.
    #[arg(long, default_value_t = 3)]
    seconds: u32,
    /// Write the figures as JSON to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(subcommand)]
    part: Option<Part>,
}

/// Parts of a measurement that run as processes of their own.
#[derive(Subcommand, Debug)]
enum Part {
    /// Serves QUIC: prints its address and certificate, then takes what comes and answers pings.
    #[command(name = "quic-serve")]
    Serve,
    /// Sends for some seconds; prints Gb/s.
    #[command(name = "quic-bandwidth")]
    Bandwidth(quic::Target),
    /// Pings; prints the median round trip in microseconds.
    #[command(name = "quic-latency")]
    Latency(quic::Target),
}

/// Throughput in Gb/s, or round trip in microseconds.
type Measured = Result<f64>;

/// Our cases: name, planes, loss.
const CASES: [(&str, u8, f64); 4] = [
    ("1 plane", 1, 0.0),
    ("1 plane, 1 % loss", 1, 0.01),
    ("4 planes", 4, 0.0),
    ("4 planes, 1 % loss", 4, 0.01),
];

fn bandwidth(seconds: u32, figures: &mut Vec<Figure>) -> Result<()> {
    let peers = [
        ("TCP (iperf3)", peers::iperf3(seconds)),
        ("QUIC (quinn)", quic::bandwidth(seconds)),
        ("libfabric tcp (fi_pingpong)", peers::fabric_bandwidth()),
    ];
    let found = told("throughput", "Gb/s", Better::Higher, peers, figures);
    for (name, planes, loss) in CASES {
        let ours = ours::bandwidth(planes, loss, seconds)?;
        figures.push(Figure::plain(
            format!("throughput, osprey, {name}"),
            ours,
            "Gb/s",
            Better::Higher,
        ));
        for (peer, theirs) in &found {
            let name = format!("throughput, osprey {name} over {peer}");
            figures.push(Figure::plain(name, ours / theirs, "ratio", Better::Higher));
        }
    }
    Ok(())
}

fn latency(figures: &mut Vec<Figure>) -> Result<()> {
    let peers = [
        ("QUIC (quinn)", quic::latency()),
        ("libfabric tcp (fi_pingpong)", peers::fabric_latency()),
    ];
    let found = told("round trip of 64 B", "us", Better::Lower, peers, figures);
    for (name, planes, loss) in CASES {
        let ours = ours::latency(planes, loss)?;
        figures.push(Figure::plain(
            format!("round trip of 64 B, osprey, {name}: median"),
            ours,
            "us",
            Better::Lower,
        ));
        for (peer, theirs) in &found {
            let name = format!("round trip of 64 B, osprey {name} over {peer}");
            figures.push(Figure::plain(name, ours / theirs, "ratio", Better::Lower));
        }
    }
    Ok(())
}

/// Figures of the peers that run; the others are named on the error output.
fn told<const N: usize>(
    what: &str,
    unit: &'static str,
    better: Better,
    peers: [(&'static str, Measured); N],
    figures: &mut Vec<Figure>,
) -> Vec<(&'static str, f64)> {
    let mut found = Vec::new();
    for (name, measured) in peers {
        match measured {
            Ok(value) => {
                figures.push(Figure::plain(
                    format!("{what}, {name}"),
                    value,
                    unit,
                    better,
                ));
                found.push((name, value));
            }
            Err(error) => eprintln!("{what}: {name} left out: {error:#}"),
        }
    }
    found
}

fn work(arguments: &Arguments) -> Result<()> {
    match &arguments.part {
        Some(Part::Serve) => return quic::serve(),
        Some(Part::Bandwidth(target)) => return quic::send(target),
        Some(Part::Latency(target)) => return quic::ping(target),
        None => {}
    }
    let mut figures = Vec::new();
    bandwidth(arguments.seconds, &mut figures)?;
    latency(&mut figures)?;
    print!("{}", table(&figures));
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&figures)? + "\n";
        std::fs::write(path, text).with_context(|| format!("--json {}", path.display()))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    match work(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
