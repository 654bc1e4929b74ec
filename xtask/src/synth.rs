//! `cargo xtask synth`: LUT, flip-flops, block RAM and clock of each block on an ECP5-85, speed 8.
//!
//! yosys for the area, nextpnr for the clock: the median of seeds 1 to 3, out of context, each block between
//! registers; a whole engine behind four pins, its block RAMs where `constraints/` says. The figures are the tools', for comparison with other designs measured by the same flow; no chip
//! was programmed. How a block is measured, and what is kept of it: `synth/measure.rs`.

mod floorplan;
mod measure;
mod output_registers;

use crate::{run, setup};
use anyhow::{Context as _, Result, bail};
use measure::{Figures, measure};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

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

/// Emits, synthesises, places, reports.
pub fn run(arguments: &Arguments) -> Result<()> {
    setup::run()?;
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
