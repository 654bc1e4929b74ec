//! `osprey perf`: bandwidth and latency between two processes, over the endpoint in software.
//!
//! One process serves, the other measures. Nothing but the peers' addresses is known beforehand: the set-up carries the
//! keys of the memory that is written.

mod bandwidth;
mod latency;
mod session;

use anyhow::Result;
use std::net::SocketAddrV4;

/// What to measure, or serve.
#[derive(clap::Subcommand, Debug)]
pub enum Command {
    /// Serves peers that measure, until it is stopped.
    Serve(Local),
    /// Measures the rate of WRITEs to a peer that serves.
    Bw(bandwidth::Arguments),
    /// Measures round trips of WRITEs with an immediate to a peer that serves.
    Lat(latency::Arguments),
}

/// The own NIC.
#[derive(clap::Args, Debug, Clone)]
pub struct Local {
    /// Local address and port of each plane, separated by commas; port 0 takes a free one.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        value_delimiter = ',',
        default_value = "127.0.0.1:4792"
    )]
    local: Vec<SocketAddrV4>,
    /// Paths a plane.
    #[arg(long, default_value_t = 8)]
    paths: u8,
    /// Payload bytes of a packet; the smaller of both sides counts.
    #[arg(long, default_value_t = 8_192)]
    mtu: u16,
    /// Rate of a plane, Gb/s, as far as is known: windows start from it.
    #[arg(long, default_value_t = 60.0)]
    rate_gbps: f64,
    /// Round trip of the idle network, microseconds, as far as is known.
    #[arg(long, default_value_t = 50.0)]
    rtt_us: f64,
    /// Deletes packets instead of sending them, such as 0.01 for 1 %: for tests.
    #[arg(long, default_value_t = 0.0)]
    loss: f64,
    /// Seed of what is drawn; by default from the clock.
    #[arg(long)]
    seed: Option<u64>,
}

/// The peer.
#[derive(clap::Args, Debug, Clone)]
pub struct Peer {
    /// Address and port of each of the peer's planes, separated by commas; one is enough to find it.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        value_delimiter = ',',
        required = true
    )]
    peer: Vec<SocketAddrV4>,
}

/// Serves or measures.
pub fn run(command: &Command) -> Result<()> {
    match command {
        Command::Serve(local) => session::serve(local),
        Command::Bw(arguments) => bandwidth::run(arguments),
        Command::Lat(arguments) => latency::run(arguments),
    }
}
