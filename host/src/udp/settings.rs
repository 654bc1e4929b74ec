//! Settings of a software NIC, and the transport's constants for sockets.

use super::plane_address;
use osprey_hls::endpoint::{Config, ConfigError};
use std::net::SocketAddrV4;

/// What a software NIC is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct UdpSettings {
    /// A local address and port for each plane. Addresses must be concrete: the CRC covers them.
    pub planes: Vec<SocketAddrV4>,
    /// Paths a plane, 1 to 16: so many source ports.
    pub paths_per_plane: u8,
    /// Payload bytes of a packet.
    pub mtu: u16,
    /// Rate of a plane, Gb/s, as far as is known: windows start from it.
    pub rate_gbps: f64,
    /// Round trip of the idle network, microseconds, as far as is known.
    pub rtt_us: f64,
    /// Chance that a packet is deleted instead of sent, 0 to 1: for tests.
    pub loss: f64,
    /// Source of chance: keys, incarnations, entropy. Must not be guessable where peers are not trusted.
    pub seed: u64,
}

impl UdpSettings {
    /// Settings for sockets of one machine.
    pub fn new(planes: Vec<SocketAddrV4>, seed: u64) -> Self {
        Self {
            planes,
            paths_per_plane: 8,
            mtu: 8_192,
            rate_gbps: 60.0,
            rtt_us: 50.0,
            loss: 0.0,
            seed,
        }
    }

    /// The transport's constants. Its times are those of a scheduler, not of a wire: a process may sleep for a
    /// millisecond, so timers are long and a silent path is condemned late.
    pub fn config(&self) -> Result<Config, ConfigError> {
        let rtt_ns = (self.rtt_us * 1e3) as u32;
        let mut config = Config::new(
            self.planes
                .iter()
                .map(|plane| plane_address(*plane))
                .collect(),
        );
        config.paths_per_plane = self.paths_per_plane;
        config.mtu = self.mtu;
        config.packet_wire_bytes = u32::from(self.mtu) + 98;
        config.rate_bits_per_second = (self.rate_gbps * 1e9) as u64;
        config.base_rtt_ns = rtt_ns;
        config.ack.delay_ns = rtt_ns / 2;
        config.ack.return_mask_age_ns = 20_000_000;
        config.probe.timer_ns = rtt_ns.saturating_mul(4).max(500_000);
        config.probe.interval_ns = rtt_ns.saturating_mul(4).max(500_000);
        config.probe.backoff_unit_ns = 100_000;
        config.probe.backoff_last = 14;
        config.health.fence_repeat_ns = 5_000_000;
        config.health.return_first_ns = 5_000_000;
        config.health.return_max_ns = 200_000_000;
        config.health.fence_interval_ns = 50_000_000;
        config.redraw.interval_ns = 20_000_000;
        config.share.epoch_ns = 500_000;
        config.handshake.retry_ns = 20_000_000;
        config.keepalive_ns = 5_000_000_000;
        config.rnr_retry_ns = 200_000;
        config.check()?;
        Ok(config)
    }
}
