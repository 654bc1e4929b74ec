//! The demonstration: two verilated engines, a lossy fabric, and a file that goes from host to host.

use anyhow::{Context, Result, bail};
use clap::Parser;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use osprey_sim::fabric::Faults;
use osprey_sim::job::{JobConfig, JobResult, Progress, run};
use osprey_sim::memory::Timing;
use osprey_sim::pair::PairConfig;
use osprey_sim::random::generator;
use osprey_sim::report;
use osprey_verilated::workspace_root;
use rand::RngCore;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Sends a file over two simulated Osprey engines and checks every byte.
#[derive(Parser, Debug)]
#[command(name = "demo", version)]
struct Arguments {
    /// File to send; without it, random bytes.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Random bytes to send when there is no file: a number, or with K, M, G.
    #[arg(long, default_value = "8M", value_parser = parse_size, conflicts_with = "file")]
    bytes: u64,
    /// Planes in use.
    #[arg(long, default_value_t = 4)]
    planes: usize,
    /// Paths of each plane.
    #[arg(long, default_value_t = 8)]
    paths: u8,
    /// Chance that a frame is lost, in each direction: `1%` or `0.01`.
    #[arg(long, default_value = "0%", value_parser = parse_chance)]
    loss: f64,
    /// Chance that a frame arrives twice.
    #[arg(long, default_value = "0%", value_parser = parse_chance)]
    duplication: f64,
    /// Chance that bits of a frame flip silently.
    #[arg(long, default_value = "0%", value_parser = parse_chance)]
    corruption: f64,
    /// Source of all randomness: same seed, same run.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Random stalls on every bus.
    #[arg(long)]
    stalls: bool,
    /// Line rate of a plane in Gbit/s, at a clock of 250 MHz.
    #[arg(long, default_value_t = 25.0)]
    rate: f64,
    /// Delay of each plane in microseconds, with commas; the last one counts for all that follow.
    #[arg(long, default_value = "2", value_delimiter = ',')]
    delay: Vec<f64>,
    /// Bytes of a message: a number, or with K, M, G.
    #[arg(long, default_value = "1M", value_parser = parse_size)]
    message: u64,
    /// Payload bytes of a packet: 256, 512, 1024, 2048 or 4096.
    #[arg(long, default_value_t = 4096)]
    mtu: u16,
    /// Most packets in flight on a path.
    #[arg(long, default_value_t = 32)]
    window: u8,
    /// Offsets of source and target in their pages.
    #[arg(long, default_value = "3,13", value_parser = parse_pair)]
    align: (usize, usize),
    /// Configuration of the engine.
    #[arg(long, default_value = "lab", value_parser = ["lab", "edge"])]
    config: String,
    /// Write all frames to this pcapng file.
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Write the sender's waveforms to this VCD file (slow, large).
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write the result as JSON to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the result as an HTML page to this file; without it, to `demo/report.html` in the target folder.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

fn parse_chance(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    let chance = number
        .trim()
        .parse::<f64>()
        .map_err(|_| "is no number; say 1% or 0.01".to_owned())?
        / scale;
    if (0.0..1.0).contains(&chance) {
        Ok(chance)
    } else {
        Err("must be from 0% to below 100%".into())
    }
}

fn parse_size(text: &str) -> Result<u64, String> {
    let upper = text.trim().to_ascii_uppercase();
    let upper = upper.trim_end_matches("IB");
    let (number, shift) = match upper.chars().last() {
        Some('K') => (&upper[..upper.len() - 1], 10),
        Some('M') => (&upper[..upper.len() - 1], 20),
        Some('G') => (&upper[..upper.len() - 1], 30),
        _ => (upper, 0),
    };
    let value = number
        .parse::<u64>()
        .map_err(|_| "is no number of bytes; say 65536, 64K or 4M".to_owned())?;
    let bytes = value
        .checked_mul(1 << shift)
        .filter(|bytes| (0..=1 << 30).contains(bytes));
    bytes.ok_or_else(|| "must be at most 1G".into())
}

fn parse_pair(text: &str) -> Result<(usize, usize), String> {
    let parts: Option<Vec<usize>> = text
        .split(',')
        .map(|part| part.trim().parse().ok())
        .collect();
    match parts.as_deref() {
        Some([source, target]) if *source < 4096 && *target < 4096 => Ok((*source, *target)),
        _ => Err("must be two numbers below 4096 with a comma".into()),
    }
}

impl Arguments {
    /// What no single value tells.
    fn check(&self) -> Result<()> {
        if !(1..=4).contains(&self.planes) {
            bail!("--planes {}: an engine has 1 to 4 planes", self.planes);
        }
        if !(1..=8).contains(&self.paths) {
            bail!("--paths {}: a plane has 1 to 8 paths", self.paths);
        }
        if !(self.mtu.is_power_of_two() && (256..=4096).contains(&self.mtu)) {
            bail!("--mtu {}: must be 256, 512, 1024, 2048 or 4096", self.mtu);
        }
        if !(1..=64).contains(&self.window) {
            bail!("--window {}: must be from 1 to 64", self.window);
        }
        if !(self.rate > 0.0 && self.rate <= 400.0) {
            bail!("--rate {}: must be above 0 and at most 400", self.rate);
        }
        if self
            .delay
            .iter()
            .any(|delay| !(0.0..=10_000.0).contains(delay))
        {
            bail!("--delay: must be from 0 to 10000 microseconds");
        }
        if self.message == 0 {
            bail!("--message 0: must be 1 byte at least");
        }
        if self.loss + self.duplication + self.corruption >= 1.0 {
            bail!("--loss, --duplication and --corruption: must be below 100% together");
        }
        Ok(())
    }

    fn data(&self) -> Result<Vec<u8>> {
        let Some(path) = &self.file else {
            let mut data = vec![0; self.bytes as usize];
            generator(self.seed, 9000).fill_bytes(&mut data);
            return Ok(data);
        };
        std::fs::read(path).with_context(|| format!("--file {}", path.display()))
    }

    fn job(&self, capture: Option<Box<dyn Write>>) -> Result<JobConfig> {
        const CLOCK_MHZ: f64 = 250.0;
        let stall_of_256 = if self.stalls { 40 } else { 0 };
        Ok(JobConfig {
            configuration: self.config.clone(),
            pair: PairConfig {
                planes: self.planes,
                seed: self.seed,
                clock_mhz: CLOCK_MHZ,
                rate_gbps: self.rate,
                delay: self
                    .delay
                    .iter()
                    .map(|us| (us * CLOCK_MHZ) as u64)
                    .collect(),
                faults: Faults {
                    loss: self.loss,
                    duplication: self.duplication,
                    corruption: self.corruption,
                    bad_check: 0.0,
                },
                timing: [Timing {
                    stall_of_256,
                    ..Timing::default()
                }; 2],
                stall_of_256,
                ..PairConfig::default()
            },
            message_bytes: self.message as usize,
            offsets: self.align,
            mtu: self.mtu,
            paths_per_plane: self.paths,
            path_window: self.window,
            capture,
            trace: self.trace.clone(),
            ..JobConfig::new(self.data()?)
        })
    }
}

/// Opens an output before the work begins, so that a bad path costs no time.
fn create(option: &str, path: Option<&Path>) -> Result<Option<BufWriter<File>>> {
    path.map(|path| {
        let file = File::create(path).with_context(|| format!("{option} {}", path.display()))?;
        Ok(BufWriter::new(file))
    })
    .transpose()
}

fn bar(total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:32} {bytes}/{total_bytes}  {msg}");
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(4));
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// The result in words and a table.
fn show(r: &JobResult, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "verdict      {}", r.verdict)?;
    for what in &r.wrong {
        writeln!(out, "  wrong      {what}")?;
    }
    writeln!(
        out,
        "bytes        {} in {} messages, SHA-256 {}",
        r.bytes, r.completions, r.sha256_received
    )?;
    writeln!(
        out,
        "time         {} cycles, {:.1} us",
        r.cycles, r.microseconds
    )?;
    writeln!(
        out,
        "goodput      {:.2} of {:.0} Gbit/s ({:.1} %)",
        r.goodput_gbps,
        r.line_gbps,
        r.goodput_fraction * 100.0
    )?;
    writeln!(
        out,
        "packets      {} sent, {} lost, {} sent again",
        r.packets, r.lost, r.retransmissions
    )?;
    writeln!(
        out,
        "found        {} by ordinal, {} by probe, {} by timeout",
        r.found_by_ordinal, r.found_by_probe, r.found_by_timeout
    )?;
    paths(r, out)?;
    writeln!(out, "replay with  --seed {} and the same options", r.seed)?;
    Ok(())
}

/// Each path's share of the traffic, how its losses were found, and its round trips.
fn paths(r: &JobResult, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(
        out,
        "path     packets     bytes  share   again  probes  ordinal   probe timeout   RTT us min / mean / max"
    )?;
    for p in &r.paths {
        let us = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2}"));
        let sent: u64 = r.paths.iter().map(|path| path.bytes).sum();
        writeln!(
            out,
            "{}.{} {:>12} {:>9} {:>5.1}% {:>7} {:>7} {:>8} {:>7} {:>7}   {} / {} / {}",
            p.plane,
            p.k,
            p.packets,
            p.bytes,
            p.bytes as f64 * 100.0 / sent.max(1) as f64,
            p.retransmissions,
            p.probes,
            p.found_by_ordinal,
            p.found_by_probe,
            p.found_by_timeout,
            us(p.rtt_min_us),
            us(p.rtt_mean_us),
            us(p.rtt_max_us)
        )?;
    }
    Ok(())
}

/// Where the page goes when nobody says.
fn default_report() -> Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| workspace_root().join("target"), PathBuf::from);
    let folder = target.join("demo");
    std::fs::create_dir_all(&folder).with_context(|| format!("--report {}", folder.display()))?;
    Ok(folder.join("report.html"))
}

fn work(arguments: &Arguments) -> Result<bool> {
    arguments.check()?;
    let capture = create("--pcap", arguments.pcap.as_deref())?;
    let json = create("--json", arguments.json.as_deref())?;
    let report = match &arguments.report {
        Some(path) => path.clone(),
        None => default_report()?,
    };
    let page = create("--report", Some(&report))?;
    drop(create("--trace", arguments.trace.as_deref())?);
    let job = arguments.job(capture.map(|file| Box::new(file) as Box<dyn Write>))?;
    let clock_mhz = job.pair.clock_mhz;
    let bar = bar(job.data.len() as u64);
    bar.set_message("building the engine");
    bar.tick();
    let mut progress = |progress: Progress| {
        bar.set_position(progress.bytes);
        let gbps = progress.bytes as f64 * 8.0 * clock_mhz / 1000.0 / progress.cycles.max(1) as f64;
        bar.set_message(format!(
            "{gbps:.1} Gbit/s simulated, {} cycles",
            progress.cycles
        ));
    };
    let result = run(job, &mut progress)?;
    bar.finish_and_clear();
    if let Some(mut json) = json {
        serde_json::to_writer_pretty(&mut json, &result)?;
        json.flush()?;
    }
    if let Some(mut page) = page {
        page.write_all(report::html(&result).as_bytes())?;
        page.flush()?;
    }
    // A reader that has gone away is no error: the verdict stands.
    let mut out = std::io::stdout().lock();
    let _ =
        show(&result, &mut out).and_then(|()| writeln!(out, "report       {}", report.display()));
    Ok(result.verdict == "pass")
}

/// The command line, or the status to end with. What is wrong with it is said in one line.
fn arguments() -> Result<Arguments, ExitCode> {
    Arguments::try_parse().map_err(|error| {
        if !error.use_stderr() {
            // A reader that has gone away is no error.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        let text = error.to_string();
        eprintln!("{}", text.lines().next().unwrap_or("error: bad arguments"));
        ExitCode::from(2)
    })
}

fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(status) => return status,
    };
    match work(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
