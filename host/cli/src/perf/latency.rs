//! `osprey perf lat`: round trips, one message at a time.

use super::session::{close, connect, open, print_paths};
use super::{Local, Peer};
use anyhow::{Result, bail};
use hdrhistogram::Histogram;
use indicatif::{ProgressBar, ProgressIterator};
use osprey_hls::wire::RemoteRegion;
use osprey_host::verbs::{ConnectionHandle, Nic, Rights, Side, Status, WorkOperation, WorkRequest};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Arguments of `osprey perf lat`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    #[command(flatten)]
    local: Local,
    #[command(flatten)]
    peer: Peer,
    /// Bytes of a message.
    #[arg(long, default_value_t = 64)]
    size: u32,
    /// Round trips to measure.
    #[arg(long, default_value_t = 10_000)]
    count: u32,
    /// Write the result as JSON to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A round trip that takes longer is a failure.
const PATIENCE: Duration = Duration::from_secs(10);

/// Measures and prints.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut nic = open(&arguments.local)?;
    let own = nic.register(
        arguments.size.max(1).into(),
        Rights {
            write: true,
            ..Rights::default()
        },
    )?;
    let (connection, region) = connect(&mut nic, &arguments.peer, &[own])?;
    if u64::from(arguments.size) > region.length {
        bail!(
            "--size {}: the peer serves {} bytes",
            arguments.size,
            region.length
        );
    }
    let mut times_ns = Histogram::<u64>::new_with_bounds(1, 60_000_000_000, 3)?;
    let bar = ProgressBar::new(arguments.count.into());
    for _ in (0..arguments.count).progress_with(bar) {
        let begun = Instant::now();
        round_trip(&mut nic, connection, own.address, region, arguments.size)?;
        times_ns.saturating_record(begun.elapsed().as_nanos() as u64);
    }
    let us = |part: f64| times_ns.value_at_quantile(part) as f64 / 1e3;
    println!(
        "{} round trips of {} bytes",
        arguments.count, arguments.size
    );
    println!(
        "round trip, us: p50 {:.1}, p99 {:.1}, p99.9 {:.1}, max {:.1}",
        us(0.5),
        us(0.99),
        us(0.999),
        us(1.0)
    );
    print_paths(&mut nic, connection)?;
    if let Some(path) = &arguments.json {
        let text = format!(
            "{{\"p50_us\": {}, \"p99_us\": {}, \"p999_us\": {}}}\n",
            us(0.5),
            us(0.99),
            us(0.999)
        );
        std::fs::write(path, text)
            .map_err(|error| anyhow::anyhow!("--json {}: {error}", path.display()))?;
    }
    close(&mut nic, connection)
}

/// Writes with an immediate, and waits for the peer's write back.
fn round_trip(
    nic: &mut impl Nic,
    connection: ConnectionHandle,
    local: u64,
    region: RemoteRegion,
    length: u32,
) -> Result<()> {
    let operation = WorkOperation::WriteImm {
        local,
        length,
        remote: region.address,
        key: region.key,
        immediate: 1,
    };
    nic.post_send(connection, 0, WorkRequest { id: 0, operation })?;
    let begun = Instant::now();
    loop {
        nic.progress(Duration::from_millis(5))?;
        while let Some(completion) = nic.poll() {
            if completion.status != Status::Ok {
                bail!("a message: {}", completion.status);
            }
            if completion.side == Side::WriteImm {
                return Ok(());
            }
        }
        if begun.elapsed() > PATIENCE {
            bail!("no answer within {} s", PATIENCE.as_secs());
        }
    }
}
