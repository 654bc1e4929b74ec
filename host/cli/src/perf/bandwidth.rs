//! `osprey perf bw`: how fast WRITEs go, and how long each takes.

use super::session::{close, connect, open, print_paths};
use super::{Local, Peer};
use anyhow::{Result, bail};
use hdrhistogram::Histogram;
use indicatif::{ProgressBar, ProgressStyle};
use osprey_hls::wire::RemoteRegion;
use osprey_host::verbs::{
    CallerError, ConnectionHandle, Error, MemoryRegion, Nic, Rights, Status, WorkOperation,
    WorkRequest,
};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Arguments of `osprey perf bw`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    #[command(flatten)]
    local: Local,
    #[command(flatten)]
    peer: Peer,
    /// Bytes of a message.
    #[arg(long, default_value_t = 1 << 20)]
    size: u32,
    /// Messages that are posted at a time.
    #[arg(long, default_value_t = 16)]
    depth: usize,
    /// Seconds to measure.
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Write the result as JSON to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

struct Run<'a, N> {
    arguments: &'a Arguments,
    nic: N,
    connection: ConnectionHandle,
    region: RemoteRegion,
    local: MemoryRegion,
    /// When each message that is out was posted, by number.
    posted: Vec<Instant>,
    completed: usize,
    times_ns: Histogram<u64>,
}

/// Measures and prints.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut nic = open(&arguments.local)?;
    let (connection, region) = connect(&mut nic, &arguments.peer, &[])?;
    if u64::from(arguments.size) > region.length {
        bail!(
            "--size {}: the peer serves {} bytes",
            arguments.size,
            region.length
        );
    }
    // A region has a byte at least, also where nothing is to be sent.
    let local = nic.register(arguments.size.max(1).into(), Rights::default())?;
    let times_ns = Histogram::new_with_bounds(1, 60_000_000_000, 3)?;
    let mut run = Run {
        arguments,
        nic,
        connection,
        region,
        local,
        posted: Vec::new(),
        completed: 0,
        times_ns,
    };
    let seconds = run.measure()?;
    run.report(seconds)?;
    close(&mut run.nic, connection)
}

impl<N: Nic> Run<'_, N> {
    /// Keeps messages out until the time is over, then waits for the last; seconds that it took.
    fn measure(&mut self) -> Result<f64> {
        let bar = bar(self.arguments.seconds);
        let begun = Instant::now();
        let end = begun + Duration::from_secs_f64(self.arguments.seconds);
        let mut told = begun;
        loop {
            let now = Instant::now();
            if now < end {
                self.post()?;
            } else if self.completed == self.posted.len() {
                break;
            }
            self.nic.progress(Duration::from_millis(5))?;
            self.take_completions()?;
            if now - told > Duration::from_millis(100) {
                told = now;
                bar.set_position((now - begun).as_millis() as u64);
                bar.set_message(format!(
                    "{:.2} Gb/s",
                    self.gbps(begun.elapsed().as_secs_f64())
                ));
            }
        }
        bar.finish_and_clear();
        Ok(begun.elapsed().as_secs_f64())
    }

    fn post(&mut self) -> Result<()> {
        while self.posted.len() - self.completed < self.arguments.depth {
            let operation = WorkOperation::Write {
                local: self.local.address,
                length: self.arguments.size,
                remote: self.region.address,
                key: self.region.key,
            };
            let request = WorkRequest {
                id: self.posted.len() as u64,
                operation,
            };
            match self.nic.post_send(self.connection, 0, request) {
                Ok(()) => self.posted.push(Instant::now()),
                Err(Error::Caller(CallerError::Full { .. })) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn take_completions(&mut self) -> Result<()> {
        while let Some(completion) = self.nic.poll() {
            if completion.status != Status::Ok {
                bail!("message {}: {}", completion.id, completion.status);
            }
            self.completed += 1;
            let took = self.posted[completion.id as usize].elapsed().as_nanos() as u64;
            self.times_ns.saturating_record(took);
        }
        Ok(())
    }

    fn gbps(&self, seconds: f64) -> f64 {
        self.completed as f64 * f64::from(self.arguments.size) * 8e-9 / seconds
    }

    fn report(&mut self, seconds: f64) -> Result<()> {
        let us = |part: f64| self.times_ns.value_at_quantile(part) as f64 / 1e3;
        let gbps = self.gbps(seconds);
        println!(
            "{} messages of {} bytes in {seconds:.2} s: {gbps:.3} Gb/s",
            self.completed, self.arguments.size
        );
        println!(
            "completion, us: p50 {:.1}, p99 {:.1}, p99.9 {:.1}, max {:.1}",
            us(0.5),
            us(0.99),
            us(0.999),
            us(1.0)
        );
        print_paths(&mut self.nic, self.connection)?;
        if let Some(path) = &self.arguments.json {
            let text = format!(
                "{{\"gbps\": {gbps}, \"messages\": {}, \"p50_us\": {}, \"p99_us\": {}, \"p999_us\": {}}}\n",
                self.completed,
                us(0.5),
                us(0.99),
                us(0.999)
            );
            std::fs::write(path, text)
                .map_err(|error| anyhow::anyhow!("--json {}: {error}", path.display()))?;
        }
        Ok(())
    }
}

fn bar(seconds: f64) -> ProgressBar {
    let bar = ProgressBar::new((seconds * 1e3) as u64);
    let style = ProgressStyle::with_template("[{bar:40}] {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
