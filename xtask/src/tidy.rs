//! Rules of STYLE.md that a machine can check: every file says what it is, files stay short, and every clause
//! that is cited stands in `docs/transport.md`.

use crate::run;
use anyhow::{Context as _, Result, bail};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Longest source file, in lines.
const FILE_LINES_MAX: usize = 600;

/// Checks every Rust file that git knows.
pub fn run() -> Result<()> {
    let specification = run::root().join("docs/transport.md");
    let text = std::fs::read_to_string(&specification)
        .with_context(|| format!("cannot read {}", specification.display()))?;
    let known: BTreeSet<String> = clauses(&text).collect();
    let faults: Vec<String> = sources()?
        .iter()
        .flat_map(|path| faults(path, &known))
        .collect();
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

/// Every `T-<section>.<clause>` in a text.
fn clauses(text: &str) -> impl Iterator<Item = String> + '_ {
    text.match_indices("T-").filter_map(|(at, _)| {
        let rest = &text[at + 2..];
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let number = rest[..end].trim_end_matches('.');
        let (section, clause) = number.split_once('.')?;
        (!section.is_empty() && !clause.is_empty()).then(|| format!("T-{number}"))
    })
}

fn faults(path: &Path, known: &BTreeSet<String>) -> Vec<String> {
    let Ok(text) = std::fs::read_to_string(run::root().join(path)) else {
        return Vec::new();
    };
    let shown = path.display().to_string();
    let mut found = Vec::new();
    if !text.starts_with("//!") {
        found.push(format!(
            "{shown}: the first line does not say what the file is (`//!`)"
        ));
    }
    for clause in clauses(&text).filter(|clause| !known.contains(clause)) {
        found.push(format!("{shown}: {clause} is not in docs/transport.md"));
    }
    let lines = text.lines().count();
    if lines > FILE_LINES_MAX {
        found.push(format!(
            "{shown}: {lines} lines, at most {FILE_LINES_MAX}: split it by mechanism"
        ));
    }
    found
}
