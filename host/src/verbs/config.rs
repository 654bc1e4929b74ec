//! Settings of a context, checked against the device before anything is written.

use super::CallerError;
use crate::device::Capabilities;
use osprey_hls::wire::{DEFAULT_UDP_PORT, PlaneAddress};

/// Timers of the engine, units of 128 ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timers {
    /// Least probe timer.
    pub probe: u16,
    /// Spacing of a probe train.
    pub probe_interval: u16,
    /// Highest exponent of the back-off.
    pub probe_backoff_max: u8,
    /// Longest delay of an ACK.
    pub ack_delay: u16,
}

impl Default for Timers {
    /// 12 us, 5 us, 2^14 x 1.024 us (17 ms), 3 us.
    fn default() -> Self {
        Self {
            probe: 94,
            probe_interval: 39,
            probe_backoff_max: 14,
            ack_delay: 23,
        }
    }
}

/// The numbers that the paths of a connection start with: zero, but for tests of what happens when they wrap.
/// Both sides must start alike; set-up does not carry them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FirstNumbers {
    /// First PSN: 24 bits, a multiple of twice the window.
    pub psn: u32,
    /// Epoch.
    pub epoch: u8,
    /// First ordinal.
    pub ordinal: u16,
}

/// Settings of a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Addresses of this side's ports, plane 0 first, one for each plane in use.
    pub planes: Vec<PlaneAddress>,
    /// Paths of each plane in use.
    pub paths_per_plane: u8,
    /// Most payload bytes of a packet: a power of two, 256 to 4096.
    pub mtu: u16,
    /// Most packets in flight on a path.
    pub path_window: u8,
    /// log2 of a send ring's entries.
    pub log2_send_ring: u8,
    /// UDP port of the transport.
    pub udp_port: u16,
    /// What the engine adds to its time fraction each clock: 2^16 x clock period / 128 ns.
    pub time_increment: u16,
    /// Timers of the engine.
    pub timers: Timers,
    /// Time between repetitions of a set-up message, units of 128 ns.
    pub retry_interval: u32,
    /// How often a set-up message is sent before it is given up.
    pub retry_attempts: u32,
    /// What the paths of every connection start with.
    pub first_numbers: FirstNumbers,
}

impl Config {
    /// Settings for an engine at 250 MHz whose ports have these addresses.
    pub fn new(planes: Vec<PlaneAddress>) -> Self {
        Self {
            planes,
            paths_per_plane: 8,
            mtu: 4096,
            path_window: 32,
            log2_send_ring: 6,
            udp_port: DEFAULT_UDP_PORT,
            time_increment: 2048,
            timers: Timers::default(),
            retry_interval: 800,
            retry_attempts: 16,
            first_numbers: FirstNumbers::default(),
        }
    }

    /// Most messages in the send ring.
    pub const fn send_entries(&self) -> u32 {
        1 << self.log2_send_ring
    }

    pub(super) fn check(&self, capabilities: &Capabilities) -> Result<(), CallerError> {
        let planes = self.planes.len();
        if planes == 0 || planes > usize::from(capabilities.planes) {
            return Err(CallerError::Planes {
                found: planes,
                expected: capabilities.planes.into(),
            });
        }
        let within = |name, found: u64, range: std::ops::RangeInclusive<u64>| {
            if range.contains(&found) {
                return Ok(());
            }
            Err(CallerError::Setting {
                name,
                found,
                possible: format!("{} to {}", range.start(), range.end()),
            })
        };
        within(
            "paths a plane",
            self.paths_per_plane.into(),
            1..=capabilities.paths_per_plane.into(),
        )?;
        within("MTU", self.mtu.into(), 256..=4096)?;
        if !self.mtu.is_power_of_two() {
            let possible = "a power of two".into();
            return Err(CallerError::Setting {
                name: "MTU",
                found: self.mtu.into(),
                possible,
            });
        }
        within(
            "path window",
            self.path_window.into(),
            1..=capabilities.window.min(255).into(),
        )?;
        within("log2 send ring", self.log2_send_ring.into(), 1..=12)?;
        within("time increment", self.time_increment.into(), 1..=65535)?;
        let (psn, step) = (self.first_numbers.psn, 2 * u32::from(capabilities.window));
        if psn >= 1 << 24 || !psn.is_multiple_of(step.max(1)) {
            return Err(CallerError::Setting {
                name: "first PSN",
                found: psn.into(),
                possible: format!("multiples of {step} below 2^24"),
            });
        }
        let backoff = self.timers.probe_backoff_max;
        within("exponent of the back-off", backoff.into(), 0..=15)?;
        within("retry attempts", self.retry_attempts.into(), 1..=1000)
    }
}
