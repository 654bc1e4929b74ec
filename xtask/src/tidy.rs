//! Rules of STYLE.md that a machine can check: every file says what it is, and files stay short.

use crate::run;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Longest source file, in lines.
const FILE_LINES_MAX: usize = 600;

/// Files that are wiring or tables and may be longer, with their own bound: they may shrink, not grow.
const LONGER: &[(&str, usize)] = &[("rtl/src/top/engine.rs", 740)];

/// Checks every Rust file that git knows.
pub fn run() -> Result<()> {
    let faults: Vec<String> = sources()?.iter().flat_map(|path| faults(path)).collect();
    if faults.is_empty() {
        return Ok(());
    }
    bail!("tidy:\n  {}", faults.join("\n  "));
}

fn sources() -> Result<Vec<PathBuf>> {
    let listed = Command::new("git")
        .current_dir(run::root())
        .args(["ls-files", "*.rs"])
        .output()
        .context("cannot run git")?;
    let text = String::from_utf8(listed.stdout).context("a file name is not UTF-8")?;
    Ok(text.lines().map(PathBuf::from).collect())
}

fn faults(path: &Path) -> Vec<String> {
    let Ok(text) = std::fs::read_to_string(run::root().join(path)) else {
        return Vec::new();
    };
    let shown = path.display().to_string();
    let allowed = LONGER
        .iter()
        .find(|(name, _)| *name == shown)
        .map_or(FILE_LINES_MAX, |(_, lines)| *lines);
    let mut found = Vec::new();
    if !text.starts_with("//!") {
        found.push(format!(
            "{shown}: the first line does not say what the file is (`//!`)"
        ));
    }
    let lines = text.lines().count();
    if lines > allowed {
        found.push(format!(
            "{shown}: {lines} lines, at most {allowed}: split it by mechanism"
        ));
    }
    found
}
