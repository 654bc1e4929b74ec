//! The `osprey` command. So far it tells what an engine is; nothing is written to the device.

mod info;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser, Debug)]
#[command(name = "osprey", version, about = "Osprey engines of this host")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Says what the engine behind a PCI function is, or why it cannot be used.
    Info(info::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Info(arguments) => info::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
