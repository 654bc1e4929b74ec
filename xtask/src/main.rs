//! Project commands.

mod demo;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser, Debug)]
#[command(name = "xtask", about = "Project commands")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Emits the engine, puts two of them into simulation and sends a file.
    Demo(demo::Arguments),
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Demo(arguments) => demo::run(&arguments),
    }
}
