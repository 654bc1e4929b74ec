//! `cargo xtask demo`: emits the Verilog, then runs the demonstration with the arguments given.

use std::process::{Command, ExitCode};

/// Arguments of the demonstration; `cargo xtask demo -- --help` lists them.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Passed on as they are.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// Runs one binary of the workspace; its status, or 2 if it cannot be started.
fn binary(package: &str, name: &str, rest: &[String]) -> u8 {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args([
            "run",
            "--quiet",
            "--release",
            "--package",
            package,
            "--bin",
            name,
            "--",
        ])
        .args(rest);
    match command.status() {
        Ok(status) => status
            .code()
            .and_then(|code| u8::try_from(code).ok())
            .unwrap_or(2),
        Err(error) => {
            eprintln!("error: cannot run cargo: {error}");
            2
        }
    }
}

/// Emits, then demonstrates.
pub fn run(arguments: &Arguments) -> ExitCode {
    match binary("osprey-rtl", "emit", &[]) {
        0 => ExitCode::from(binary("osprey-sim", "demo", &arguments.rest)),
        status => ExitCode::from(status),
    }
}
