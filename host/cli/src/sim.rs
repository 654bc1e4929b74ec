//! `osprey sim` and `osprey merge`: clusters in simulation, alone or as a part of a sweep.

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use osprey_cluster::report;
use osprey_cluster::result::RunResult;
use osprey_cluster::scenario::Scenario;
use osprey_cluster::simulation::Progress;
use osprey_cluster::sweep::{self, Shard};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `osprey sim`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Scenario file; docs/scenarios.md says what it may hold.
    scenario: PathBuf,
    /// Run part i of n of the scenario's sweep.
    #[arg(long, value_name = "i/n", default_value = "0/1")]
    shard: Shard,
    /// Keep the times of every flow in the results.
    #[arg(long)]
    flows: bool,
    #[command(flatten)]
    output: Output,
}

/// Arguments of `osprey merge`.
#[derive(clap::Args, Debug)]
pub struct MergeArguments {
    /// Result files of `osprey sim --json`.
    #[arg(required = true)]
    results: Vec<PathBuf>,
    #[command(flatten)]
    output: Output,
}

/// Where results go.
#[derive(clap::Args, Debug)]
struct Output {
    /// Write the results to this file, one run a line.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a report with plots to this file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Runs a scenario or a shard of its sweep.
pub fn run(arguments: &Arguments) -> Result<()> {
    let scenario = Scenario::read(&arguments.scenario)?;
    let json = arguments.output.open_json()?;
    let folder = arguments.scenario.parent().unwrap_or(Path::new("."));
    let bar = bar();
    let mut results = Vec::new();
    let told = |run: usize, runs: usize, progress: Progress| show(&bar, run, runs, progress);
    sweep::run(
        &scenario,
        folder,
        arguments.shard,
        arguments.flows,
        told,
        |result| results.push(result),
    )?;
    bar.finish_and_clear();
    if results.is_empty() {
        bail!(
            "this shard has no run: the scenario stands for {} runs",
            scenario.runs().len()
        );
    }
    arguments.output.write(json, &scenario.name, &results)
}

/// Puts the results of shards together.
pub fn merge(arguments: &MergeArguments) -> Result<()> {
    let paths: Vec<&Path> = arguments.results.iter().map(PathBuf::as_path).collect();
    let results = sweep::merge(&paths)?;
    let Some(first) = results.first() else {
        bail!("the files hold no result: were the shards run with --json?");
    };
    let title = first.scenario.clone();
    let json = arguments.output.open_json()?;
    arguments.output.write(json, &title, &results)
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} flows, {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

fn show(bar: &ProgressBar, run: usize, runs: usize, progress: Progress) {
    bar.set_length(progress.flows as u64);
    bar.set_position(progress.completed as u64);
    bar.set_message(format!(
        "run {} of {runs}: {:.0} us, {} data packets",
        run + 1,
        progress.now_us,
        progress.data_packets
    ));
}

impl Output {
    /// Opened before the work: a path that cannot be written is told at once.
    fn open_json(&self) -> Result<Option<std::fs::File>> {
        let open = |path: &PathBuf| {
            std::fs::File::create(path).with_context(|| format!("--json {}", path.display()))
        };
        self.json.as_ref().map(open).transpose()
    }

    fn write(&self, json: Option<std::fs::File>, title: &str, results: &[RunResult]) -> Result<()> {
        if let Some(mut file) = json {
            for result in results {
                writeln!(file, "{}", serde_json::to_string(result)?).context("--json")?;
            }
        }
        if let Some(path) = &self.html {
            let page = report::html(title, results);
            std::fs::write(path, page).with_context(|| format!("--html {}", path.display()))?;
        }
        print(results);
        match results
            .iter()
            .filter(|result| result.verdict != "pass")
            .count()
        {
            0 => Ok(()),
            failed => bail!("{failed} of {} runs failed", results.len()),
        }
    }
}

fn print(results: &[RunResult]) {
    println!(
        "loss     planes paths seed class      flows  ended  goodput slowest     p50 us     p99 us   p99.9 us    Jain verdict"
    );
    for result in results {
        for class in &result.classes {
            println!(
                "{:<8} {:>6} {:>5} {:>4} {:<8} {:>7} {:>6}  {:.4}  {:.4} {:>10.1} {:>10.1} {:>10.1}  {:.4} {}",
                result.loss,
                result.planes,
                result.paths,
                result.seed,
                class.name,
                class.flows,
                class.completed,
                class.goodput_mean,
                class.goodput_min,
                class.p50_us,
                class.p99_us,
                class.p999_us,
                class.jain,
                result.verdict
            );
        }
        for finding in &result.findings {
            println!("  {finding}");
        }
    }
}
