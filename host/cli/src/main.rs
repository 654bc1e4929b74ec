//! The `osprey` command: a file a subcommand. Nothing is written to a device so far.

#[cfg(feature = "sim")]
mod comply;
mod info;
mod perf;
#[cfg(feature = "sim")]
mod sim;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser, Debug)]
#[command(
    name = "osprey",
    version,
    about = "Osprey: loss-tolerant, multipath RDMA transport"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Says what the engine behind a PCI function is, or why it cannot be used.
    Info(info::Arguments),
    /// Measures bandwidth and latency between two processes, without a card.
    #[command(subcommand)]
    Perf(perf::Command),
    /// Runs a cluster of endpoints in simulation, after a scenario file.
    #[cfg(feature = "sim")]
    Sim(sim::Arguments),
    /// Puts an implementation of the transport under test.
    #[cfg(feature = "sim")]
    Comply(comply::Arguments),
    /// Puts result files of `osprey sim --shard` together.
    #[cfg(feature = "sim")]
    Merge(sim::MergeArguments),
}

fn main() -> ExitCode {
    // A reader that has seen enough (`| head`) ends the command, without a panic.
    sigpipe::reset();
    let result = match Arguments::parse().command {
        Command::Info(arguments) => info::run(&arguments),
        Command::Perf(command) => perf::run(&command),
        #[cfg(feature = "sim")]
        Command::Sim(arguments) => sim::run(&arguments),
        #[cfg(feature = "sim")]
        Command::Comply(arguments) => comply::run(&arguments),
        #[cfg(feature = "sim")]
        Command::Merge(arguments) => sim::merge(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
