//! Servers that end with the measurement, and what programs print.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server; it is stopped when this goes.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    /// First line that it printed, if it was waited for.
    pub(crate) line: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has nothing to save; if it is gone already, all the better.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts a server and waits until it has printed a line.
    pub(crate) fn announced(command: &mut Command) -> Result<Self> {
        let mut child = spawn(command.stdout(Stdio::piped()))?;
        let output = child.stdout.take().context("no output of the server")?;
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line)?;
        // The rest is read and forgotten: a closed pipe would end the server.
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        Ok(Self {
            child,
            line: line.trim().to_owned(),
        })
    }

    /// Starts a server that says nothing when it is ready.
    pub(crate) fn silent(command: &mut Command) -> Result<Self> {
        let child = spawn(command.stdout(Stdio::null()).stderr(Stdio::null()))?;
        std::thread::sleep(Duration::from_millis(500));
        Ok(Self {
            child,
            line: String::new(),
        })
    }
}

fn spawn(command: &mut Command) -> Result<Child> {
    let program = command.get_program().to_string_lossy().into_owned();
    command
        .spawn()
        .with_context(|| format!("cannot start {program}: is it installed?"))
}

/// What a program prints; it must succeed.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .with_context(|| format!("cannot start {program}: is it installed?"))?;
    if !output.status.success() {
        bail!(
            "{program}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
