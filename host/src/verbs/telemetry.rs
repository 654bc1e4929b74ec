//! What the engine counts for each path of a connection.

use super::{ConnectionHandle, Context, Error};
use crate::device::{Device, read_table};
use osprey_hls::regs::table::{self, loss_telemetry as loss, send_telemetry as send};
use osprey_hls::wire::PathId;

/// Counts of one path, since the connection was set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathTelemetry {
    /// The path.
    pub path: PathId,
    /// DATA packets sent, resends included.
    pub packets: u32,
    /// Payload bytes of these.
    pub bytes: u64,
    /// Packets sent again.
    pub retransmissions: u32,
    /// Probes sent.
    pub probes: u32,
    /// Losses found by an ACK of later packets.
    pub lost_by_ordinal: u32,
    /// Losses found by the answer to a probe.
    pub lost_by_probe: u32,
    /// Losses presumed after a time without answer.
    pub lost_by_timeout: u32,
    /// Least round trip, units of 128 ns; meaningless without samples.
    pub rtt_min: u32,
    /// Greatest round trip, units of 128 ns.
    pub rtt_max: u32,
    /// Sum of the round trips, units of 128 ns.
    pub rtt_sum: u64,
    /// Round trips measured.
    pub rtt_samples: u32,
}

impl Context {
    /// The counts of every path of a connection, path by path.
    pub fn path_telemetry<D: Device + ?Sized>(
        &self,
        device: &mut D,
        handle: ConnectionHandle,
    ) -> Result<Vec<PathTelemetry>, Error> {
        let connection = self.connections.get(handle)?;
        let Some(settled) = connection.settled else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        for path in (0..settled.planes)
            .flat_map(|p| (0..settled.paths_per_plane).map(move |k| PathId::new(p, k)))
        {
            let pair = connection.number.value() << 5 | u32::from(path.0);
            let sent = read_table(device, &table::SEND_TELEMETRY, pair)?;
            let lost = read_table(device, &table::LOSS_TELEMETRY, pair)?;
            all.push(PathTelemetry {
                path,
                packets: send::PACKETS.get(&sent) as u32,
                bytes: send::BYTES.get(&sent),
                retransmissions: send::RETRANSMISSIONS.get(&sent) as u32,
                probes: send::PROBES.get(&sent) as u32,
                lost_by_ordinal: loss::BY_ORDINAL.get(&lost) as u32,
                lost_by_probe: loss::BY_PROBE.get(&lost) as u32,
                lost_by_timeout: loss::BY_TIMEOUT.get(&lost) as u32,
                rtt_min: loss::RTT_MIN.get(&lost) as u32,
                rtt_max: loss::RTT_MAX.get(&lost) as u32,
                rtt_sum: loss::RTT_SUM.get(&lost),
                rtt_samples: loss::RTT_SAMPLES.get(&lost) as u32,
            });
        }
        Ok(all)
    }
}
