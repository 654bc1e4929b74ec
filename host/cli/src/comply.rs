//! `osprey comply`: puts an implementation of the transport under test.

use anyhow::{Context, Result, bail};
use osprey_comply::report;
use osprey_comply::suite::{self, CaseResult, Selection, Verdict};
use osprey_comply::world::Target;
use std::io::{BufRead, BufReader};
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A target by name.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum TargetName {
    /// Behavioural endpoints in virtual time.
    Model,
    /// Software NICs over loopback sockets.
    Soft,
    /// A software NIC here against an implementation in another process (see --peer).
    Mixed,
    /// The verilated engine in both roles, against a behavioural endpoint: `cargo xtask comply --target rtl`.
    Rtl,
}

impl TargetName {
    fn targets(self) -> Result<Vec<Target>> {
        Ok(match self {
            Self::Model => vec![Target::Model],
            Self::Soft => vec![Target::Soft],
            Self::Mixed => vec![Target::Mixed],
            Self::Rtl => rtl()?,
        })
    }
}

#[cfg(feature = "rtl")]
fn rtl() -> Result<Vec<Target>> {
    // Says at once, and not with every test, that there is no Verilog.
    osprey_comply_rtl::check()?;
    Ok(osprey_comply_rtl::targets())
}

#[cfg(not(feature = "rtl"))]
fn rtl() -> Result<Vec<Target>> {
    bail!(
        "--target rtl: this program was built without the verilated engine; in the repository run \
         'cargo xtask comply --target rtl'"
    );
}

/// Arguments of `osprey comply`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// What is put under test.
    #[arg(long, value_enum, default_value = "model")]
    target: TargetName,
    /// Addresses of an implementation that serves, a plane each, separated by commas (mixed); by default an
    /// `osprey perf serve` of our own.
    #[arg(long, value_name = "ADDRESS:PORT", value_delimiter = ',')]
    peer: Vec<SocketAddrV4>,
    /// Only these chapters or tests, such as C-4 or C-4.2.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Seed of all faults.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the results as JSON to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the results as JUnit XML to this file.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write a page with a failure matrix to this file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// An implementation that was started for the test, and ends with it.
struct Serving {
    child: Child,
    addresses: Vec<SocketAddrV4>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It has no state to save; if it is gone already, all the better.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Serving {
    /// Starts `osprey perf serve` with two planes and reads where it serves.
    fn start() -> Result<Self> {
        let program = std::env::current_exe().context("cannot find the own program")?;
        let mut child = Command::new(program)
            .args([
                "perf",
                "serve",
                "--local",
                "127.0.0.1:0,127.0.0.2:0",
                "--mtu",
                "4096",
            ])
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start 'osprey perf serve'")?;
        let output = child
            .stdout
            .take()
            .context("no output of 'osprey perf serve'")?;
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line)?;
        // What it says later is read and forgotten: a closed pipe would end it.
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        let addresses = line.trim().rsplit(' ').next().unwrap_or_default();
        let addresses = addresses
            .split(',')
            .map(str::parse)
            .collect::<Result<Vec<_>, _>>();
        let addresses =
            addresses.with_context(|| format!("'osprey perf serve' said '{}'", line.trim()))?;
        Ok(Self { child, addresses })
    }
}

/// Runs the suite.
pub fn run(arguments: &Arguments) -> Result<()> {
    check_names(&arguments.only)?;
    let targets = arguments.target.targets()?;
    let serving = match arguments.target {
        TargetName::Mixed if arguments.peer.is_empty() => Some(Serving::start()?),
        _ => None,
    };
    let peer = serving.as_ref().map_or_else(
        || arguments.peer.clone(),
        |serving| serving.addresses.clone(),
    );
    let selection = Selection {
        targets,
        peer,
        only: arguments.only.clone(),
        seed: arguments.seed,
    };
    let results = suite::run(&selection, print);
    if let Some(path) = &arguments.json {
        write(
            path,
            "--json",
            &(serde_json::to_string_pretty(&results)? + "\n"),
        )?;
    }
    if let Some(path) = &arguments.junit {
        write(path, "--junit", &report::junit(&results))?;
    }
    if let Some(path) = &arguments.html {
        write(path, "--html", &report::html(&results))?;
    }
    let count = |verdict| {
        results
            .iter()
            .filter(|result| result.verdict == verdict)
            .count()
    };
    let (passed, failed, skipped) = (
        count(Verdict::Pass),
        count(Verdict::Fail),
        count(Verdict::Skip),
    );
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    if failed > 0 {
        bail!(
            "{failed} tests failed; again with --target {} --seed {} --only NAME",
            name(arguments.target),
            arguments.seed
        );
    }
    Ok(())
}

/// As it is written on the command line.
fn name(target: TargetName) -> String {
    use clap::ValueEnum;
    let value = target.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

fn check_names(only: &[String]) -> Result<()> {
    let names = suite::names();
    for wanted in only {
        let known = |name: &String| name == wanted || name.starts_with(&format!("{wanted}."));
        if !names.iter().any(known) {
            bail!(
                "--only {wanted}: no such chapter or test; they are named C-1 to C-12, and C-1.1 and so on"
            );
        }
    }
    Ok(())
}

fn print(result: &CaseResult) {
    println!(
        "{:<7} {} {} [{}] {}",
        result.name,
        result.verdict.name(),
        result.title,
        result.rule,
        result.target
    );
    if result.verdict != Verdict::Pass {
        println!("        {}", result.reason);
    }
    for (name, value) in &result.evidence {
        println!("        {name}: {value}");
    }
}

fn write(path: &Path, option: &str, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("{option} {}", path.display()))
}
