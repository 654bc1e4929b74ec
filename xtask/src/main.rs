//! Project commands: `cargo xtask COMMAND`. Each runs programs; none links a crate of ours.

mod bench;
mod comply;
mod demo;
mod emit;
mod fuzz;
mod lint;
mod run;
mod setup;
mod soak;
mod synth;
mod test;
mod tidy;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser, Debug)]
#[command(name = "cargo xtask", about = "Osprey project commands")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Installs what the other commands need; a second run costs nothing.
    Setup,
    /// Writes the Verilog of every configuration to target/emit.
    Emit,
    /// Checks the emitted Verilog: silent mismatches, Verilator -Wall, yosys; and the size rules of the sources.
    Lint,
    /// Sets up and runs all tests.
    Test(test::Arguments),
    /// Sets up, puts two engines into simulation and sends a file from one host to the other.
    Demo(demo::Arguments),
    /// Runs the compliance suite; `--target rtl` is the verilated engine.
    Comply(demo::Arguments),
    /// Area and clock of each block and of the edge engine on an ECP5-85 (yosys, nextpnr).
    Synth(synth::Arguments),
    /// Measures; `rtl` in cycles, `sim` in cycles a second.
    Bench(bench::Arguments),
    /// Feeds inputs that a fuzzer makes up to the parsers and to the endpoint.
    Fuzz(fuzz::Arguments),
    /// Long random runs that are too slow for `test`.
    Soak(soak::Arguments),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Setup => setup::run(),
        Command::Emit => emit::run(),
        Command::Lint => lint::run(),
        Command::Test(arguments) => test::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Comply(arguments) => comply::run(&arguments),
        Command::Synth(arguments) => synth::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Soak(arguments) => soak::run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A program that failed has said why itself; its status is ours.
            if let Some(failed) = error.downcast_ref::<run::Failed>() {
                return ExitCode::from(failed.status);
            }
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
