//! Starting programs: where the workspace is, and errors that name what was run.

use anyhow::{Context as _, Result};
use std::path::PathBuf;
use std::process::Command;

/// A program that ran and reported failure; it has told the user why.
#[derive(Debug)]
pub struct Failed {
    /// Its exit status.
    pub status: u8,
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a program failed with status {}", self.status)
    }
}

impl std::error::Error for Failed {}

/// The workspace's folder.
pub fn root() -> PathBuf {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().map_or(manifest.clone(), PathBuf::from)
}

/// Where generated files go: the same place for every program of the project, wherever cargo builds.
pub fn target() -> PathBuf {
    root().join("target")
}

/// The project's own Python environment.
pub fn environment() -> PathBuf {
    root().join(".venv")
}

/// A cargo command in the workspace.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(arguments);
    command
}

/// Runs it to its end.
pub fn check(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot run {}", command.get_program().display()))?;
    if status.success() {
        return Ok(());
    }
    let status = status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(1);
    Err(Failed { status }.into())
}

/// Is there such a program, and does it answer?
pub fn answers(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .output()
        .is_ok_and(|answer| answer.status.success())
}
