//! The transport's constants, by name; defaults are the best of the search behind T-2.
//!
//! A `Config` describes one NIC. What follows from it for one connection (windows, timers in nanoseconds,
//! the bandwidth-delay product) is computed once, when the connection starts: see `windows`.

use crate::cc::aimd;
use crate::wire::{PlaneAddress, VERSION};

/// Most planes of a NIC.
pub const PLANES_MAX: usize = 8;
/// Most paths of a plane.
pub const PATHS_PER_PLANE_MAX: u8 = 16;
/// Most streams of a connection: a packet names its stream in a byte.
pub const STREAMS_MAX: u16 = 256;
/// Most message slots of a stream: half of what 16-bit message numbers tell apart.
pub const SLOTS_MAX: u16 = 1 << 15;
/// Most memory regions: the index of a key has 12 bits.
pub const REGIONS_MAX: u32 = 1 << crate::wire::Key::INDEX_BITS;

/// Bytes of a PROBE on the wire: Ethernet, IPv4, UDP, its header, CRC and check sequence.
const PROBE_WIRE_BYTES: u64 = 14 + 20 + 8 + 24 + 4 + 4;

/// One NIC and its constants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Address of each plane's port, plane 0 first.
    pub planes: Vec<PlaneAddress>,
    /// Paths of each plane (N), 1 to 16; 8 are the least for good balance.
    pub paths_per_plane: u8,
    /// W: 64, 128 or 256.
    pub window: u16,
    /// Most payload bytes of a packet.
    pub mtu: u16,
    /// Line rate of a plane.
    pub rate_bits_per_second: u64,
    /// Round trip of the empty network.
    pub base_rtt_ns: u32,
    /// Bytes that a full packet takes on the wire, preamble and gap included.
    pub packet_wire_bytes: u32,
    /// Most connections, 1 to 2^24 - 1.
    pub connections_max: u32,
    /// Streams of a connection, 1 to 256.
    pub streams: u16,
    /// Messages of a stream that may be open at a time, 1 to 2^15.
    pub slots: u16,
    /// Send requests of a stream that may wait or be open.
    pub send_requests_max: u32,
    /// Receive requests of a stream that may wait. As many delivered WRITE_IMMs may wait for the host; then more
    /// are refused until it takes some (those in the slots still follow).
    pub receive_requests_max: u32,
    /// Evidence records that are kept until the host takes them.
    pub events_max: usize,
    /// When to acknowledge.
    pub ack: AckConfig,
    /// When to probe.
    pub probe: ProbeConfig,
    /// Fences and return of paths.
    pub health: HealthConfig,
    /// New entropies for poor paths.
    pub redraw: RedrawConfig,
    /// How windows move.
    pub congestion: Congestion,
    /// First window of a path: this many thousandths of B / N packets.
    pub start_window_per_mille: u32,
    /// What senders are granted.
    pub share: ShareConfig,
    /// Log entries nearest the echo that are not yet judged (T-2.3).
    pub slack: u16,
    /// Set-up.
    pub handshake: HandshakeConfig,
    /// A connection that has heard nothing for so long asks its peer whether it is there; 0: never.
    pub keepalive_ns: u64,
    /// Receiver not ready: the sender tries again after this.
    pub rnr_retry_ns: u64,
    /// Times in a row that the receiver may be not ready before the connection fails; 0: without end.
    pub rnr_retries_max: u32,
}

/// When a receiver acknowledges, and by which path (T-2.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckConfig {
    /// An ACK waits at most this long.
    pub delay_ns: u32,
    /// An ACK leaves on this many packets.
    pub every_packets: u8,
    /// The sender asks for an ACK with each packet while its connection window is below this.
    pub request_below_packets: u32,
    /// A return path counts as good for one to two of these after its last ACK.
    pub return_mask_age_ns: u32,
    /// One ACK in so many tests a return path that does not count as good.
    pub return_test_every: u8,
}

/// When a sender probes (T-2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeConfig {
    /// Least time from the last news of a path to its first probe.
    pub timer_ns: u32,
    /// Time between the probes of a train.
    pub interval_ns: u32,
    /// Probes of a train; so many unanswered and one timer condemn a path.
    pub train: u8,
    /// Most probes that follow a packet when nothing new is left to send; 0: none behind the packets before it either.
    pub tail: u8,
    /// Unanswered probes from which a path's packets leave the connection's window.
    pub discount: u8,
    /// Unit of the back-off when nothing is left to move to: unit x 2^t.
    pub backoff_unit_ns: u32,
    /// First t.
    pub backoff_first: u8,
    /// After the wait with this t the connection is reported as failed.
    pub backoff_last: u8,
}

/// Fences and the return of paths (T-2.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HealthConfig {
    /// Whether paths are given up at all: not with a peer that does not answer FENCE.
    pub fences: bool,
    /// FENCE is repeated after this, over another path.
    pub fence_repeat_ns: u32,
    /// Fences without an answer after which the connection is reported as failed.
    pub fence_attempts_max: u16,
    /// A path may be fenced once in this time on average: epochs have 8 bits.
    pub fence_interval_ns: u64,
    /// Fences of a path that may follow each other sooner.
    pub fence_burst: u8,
    /// First wait for the answer to the probe of a new epoch.
    pub return_first_ns: u32,
    /// Longest such wait; it doubles up to this.
    pub return_max_ns: u32,
}

/// When a poor path changes its entropy (T-2.11).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RedrawConfig {
    /// Whether at all.
    pub enabled: bool,
    /// Packets on an entropy before it may be judged.
    pub packets_min: u32,
    /// Time between two changes of a connection.
    pub interval_ns: u64,
    /// A path is poor below this many thousandths of the mean window.
    pub below_per_mille: u32,
}

/// Set-up (T-4): what is offered, and how patiently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandshakeConfig {
    /// Lowest transport version that is offered.
    pub version_min: u8,
    /// Highest transport version that is offered.
    pub version_max: u8,
    /// Features that are offered; none is defined in version 1.
    pub features: u32,
    /// HELLO and BYE are repeated after this.
    pub retry_ns: u64,
    /// HELLOs or BYEs without an answer before it is given up.
    pub attempts_max: u32,
}

/// The receiver's grant (T-2.12) and the sender's use of it (T-2.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShareConfig {
    /// Least length of an epoch.
    pub epoch_ns: u32,
    /// Connection window when all is granted: this many thousandths of B x planes.
    pub gain_per_mille: u32,
    /// Connection window at a smaller share: this many thousandths of share x B x planes.
    pub part_gain_per_mille: u32,
    /// Receiver: raise all shares while the line is not full, since some senders do not use theirs.
    pub raise_idle: bool,
}

/// The kernel that moves windows, and its constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Congestion {
    /// [`crate::cc::aimd`]: constants in packets x 2^10, the increase for B packets.
    Aimd {
        /// Packets added while B packets arrive.
        increase_packets: u32,
        /// Taken for each marked packet.
        decrease_q10: u32,
        /// Least window.
        floor_q10: u32,
    },
    /// [`crate::cc::nscc`], with the constants of Ultra Ethernet.
    Nscc,
}

impl Config {
    /// The defaults for a NIC with these ports at 100 Gb/s, 4,096 bytes of payload, 8 paths a plane.
    pub fn new(planes: Vec<PlaneAddress>) -> Self {
        Self {
            planes,
            paths_per_plane: 8,
            window: 64,
            mtu: 4096,
            rate_bits_per_second: 100_000_000_000,
            base_rtt_ns: 9_350,
            packet_wire_bytes: 4_096 + 98,
            connections_max: 1024,
            streams: 4,
            slots: 64,
            send_requests_max: 1024,
            receive_requests_max: 1024,
            events_max: 1024,
            ack: AckConfig::default(),
            probe: ProbeConfig::default(),
            health: HealthConfig::default(),
            redraw: RedrawConfig::default(),
            congestion: Congestion::default(),
            start_window_per_mille: 1_500,
            share: ShareConfig::default(),
            slack: 0,
            handshake: HandshakeConfig::default(),
            keepalive_ns: 0,
            rnr_retry_ns: 20_000,
            rnr_retries_max: 0,
        }
    }

    /// `Ok` if the transport can run with these values.
    pub fn check(&self) -> Result<(), ConfigError> {
        let within = |name, value: u64, least: u64, most: u64| {
            if (least..=most).contains(&value) {
                Ok(())
            } else {
                Err(ConfigError {
                    name,
                    value,
                    least,
                    most,
                })
            }
        };
        within("planes", self.planes.len() as u64, 1, PLANES_MAX as u64)?;
        within(
            "paths_per_plane",
            self.paths_per_plane.into(),
            1,
            PATHS_PER_PLANE_MAX.into(),
        )?;
        let window = if self.window.is_power_of_two() {
            self.window
        } else {
            0
        };
        within("window", window.into(), 64, 256)?;
        within(
            "mtu",
            self.mtu.into(),
            super::settle::MTU_MIN.into(),
            1 << 15,
        )?;
        within(
            "rate_bits_per_second",
            self.rate_bits_per_second,
            1_000_000,
            1 << 43,
        )?;
        within("base_rtt_ns", self.base_rtt_ns.into(), 100, 100_000_000)?;
        within(
            "packet_wire_bytes",
            self.packet_wire_bytes.into(),
            64,
            1 << 16,
        )?;
        within(
            "connections_max",
            self.connections_max.into(),
            1,
            (1 << 24) - 1,
        )?;
        within("streams", self.streams.into(), 1, STREAMS_MAX.into())?;
        within("slots", self.slots.into(), 1, SLOTS_MAX.into())?;
        within(
            "send_requests_max",
            self.send_requests_max.into(),
            1,
            1 << 24,
        )?;
        within(
            "receive_requests_max",
            self.receive_requests_max.into(),
            0,
            1 << 24,
        )?;
        within("events_max", self.events_max as u64, 1, 1 << 24)?;
        self.check_timers(within)
    }

    fn check_timers(
        &self,
        within: impl Fn(&'static str, u64, u64, u64) -> Result<(), ConfigError>,
    ) -> Result<(), ConfigError> {
        within("ack.every_packets", self.ack.every_packets.into(), 1, 64)?;
        within(
            "ack.return_test_every",
            self.ack.return_test_every.into(),
            1,
            255,
        )?;
        within(
            "ack.return_mask_age_ns",
            self.ack.return_mask_age_ns.into(),
            1,
            1 << 30,
        )?;
        within("probe.train", self.probe.train.into(), 1, 64)?;
        within("probe.tail", self.probe.tail.into(), 0, 8)?;
        within(
            "probe.interval_ns",
            self.probe.interval_ns.into(),
            1,
            1 << 30,
        )?;
        within("probe.backoff_last", self.probe.backoff_last.into(), 0, 32)?;
        within("health.fence_burst", self.health.fence_burst.into(), 1, 64)?;
        within(
            "health.fence_repeat_ns",
            self.health.fence_repeat_ns.into(),
            1,
            1 << 30,
        )?;
        within(
            "health.return_first_ns",
            self.health.return_first_ns.into(),
            1,
            1 << 30,
        )?;
        within("handshake.retry_ns", self.handshake.retry_ns, 1, 1 << 40)?;
        within("keepalive_ns", self.keepalive_ns, 0, 1 << 50)?;
        within("slack", self.slack.into(), 0, 1 << 10)
    }

    /// Bandwidth-delay product of a plane (B), in packets x 2^10.
    pub fn bdp_q10(&self) -> u32 {
        let bits = u128::from(self.rate_bits_per_second) * u128::from(self.base_rtt_ns);
        let packet_bits = 8_000_000_000 * u128::from(self.packet_wire_bytes);
        (bits * 1024 / packet_bits).clamp(1, 1 << 26) as u32
    }

    /// Time that a PROBE takes on a plane, in picoseconds.
    pub(super) fn probe_time_ps(&self) -> u64 {
        PROBE_WIRE_BYTES * 8_000_000_000_000 / self.rate_bits_per_second
    }

    /// Time that a full packet takes on a plane.
    pub fn packet_time_ns(&self) -> u64 {
        (u64::from(self.packet_wire_bytes) * 8_000_000_000 / self.rate_bits_per_second).max(1)
    }
}

impl Default for AckConfig {
    fn default() -> Self {
        Self {
            delay_ns: 3_000,
            every_packets: 4,
            request_below_packets: 4,
            return_mask_age_ns: 50_000,
            return_test_every: 64,
        }
    }
}

impl Default for ProbeConfig {
    fn default() -> Self {
        Self {
            timer_ns: 12_000,
            interval_ns: 5_000,
            train: 8,
            tail: 3,
            discount: 1,
            backoff_unit_ns: 1_024,
            backoff_first: 4,
            backoff_last: 17,
        }
    }
}

impl Default for HealthConfig {
    fn default() -> Self {
        Self {
            fences: true,
            fence_repeat_ns: 30_000,
            fence_attempts_max: 64,
            fence_interval_ns: 1_000_000,
            fence_burst: 4,
            return_first_ns: 30_000,
            return_max_ns: 3_200_000,
        }
    }
}

impl Default for RedrawConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            packets_min: 32,
            interval_ns: 100_000,
            below_per_mille: 500,
        }
    }
}

impl Default for ShareConfig {
    fn default() -> Self {
        Self {
            epoch_ns: 10_000,
            gain_per_mille: 2_700,
            part_gain_per_mille: 2_000,
            raise_idle: true,
        }
    }
}

impl Default for HandshakeConfig {
    fn default() -> Self {
        Self {
            version_min: VERSION,
            version_max: VERSION,
            features: 0,
            retry_ns: 1_000_000,
            attempts_max: 16,
        }
    }
}

impl Default for Congestion {
    fn default() -> Self {
        Self::Aimd {
            increase_packets: aimd::INCREASE_PACKETS,
            decrease_q10: aimd::DECREASE_Q10,
            floor_q10: aimd::FLOOR_Q10,
        }
    }
}

/// A value that the transport cannot run with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{name} is {value}; it must lie between {least} and {most}")]
pub struct ConfigError {
    /// Field of [`Config`].
    pub name: &'static str,
    /// What it holds.
    pub value: u64,
    /// Least value.
    pub least: u64,
    /// Largest value.
    pub most: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidth_delay_product_of_the_search() {
        let config = Config {
            packet_wire_bytes: 4_150,
            ..Config::new(vec![PlaneAddress::default()])
        };
        assert_eq!(config.bdp_q10(), 28_838, "28.16 packets");
        assert_eq!(config.packet_time_ns(), 332);
    }

    #[test]
    fn impossible_values_are_named() {
        let good = Config::new(vec![PlaneAddress::default()]);
        assert_eq!(good.check(), Ok(()));
        let planes = Config {
            planes: vec![],
            ..good.clone()
        };
        assert_eq!(planes.check().unwrap_err().name, "planes");
        let window = Config {
            window: 96,
            ..good.clone()
        };
        assert_eq!(window.check().unwrap_err().name, "window");
        let mtu = Config { mtu: 100, ..good };
        assert_eq!(
            mtu.check().unwrap_err().to_string(),
            "mtu is 100; it must lie between 256 and 32768"
        );
    }
}
