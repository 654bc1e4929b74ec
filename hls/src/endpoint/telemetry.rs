//! What a host may look at: counters, paths, state.

use super::Endpoint;
use super::counters::Counter;
use super::health::Health;
use super::setup::ConnectionState;
use crate::wire::{ConnectionId, Epoch, PathId};

/// Running counts of a sender's path, over all its epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PathCounts {
    /// DATA packets sent, resends included.
    pub sent: u64,
    /// DATA packets sent again.
    pub resent: u64,
    /// DATA packets that the log has shown as lost.
    pub lost: u64,
    /// PROBEs sent.
    pub probes: u64,
}

/// A sender's view of one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathTelemetry {
    /// Plane of the path.
    pub plane: u8,
    /// Its number among the plane's paths.
    pub k: u8,
    /// What was sent on it.
    pub counts: PathCounts,
    /// Health.
    pub health: Health,
    /// Epoch.
    pub epoch: Epoch,
    /// UDP source port.
    pub entropy: u16,
    /// Window, packets x 2^10.
    pub window_q10: u32,
    /// Packets in flight.
    pub in_flight: u16,
    /// Lost packets that wait to be sent again.
    pub resends_waiting: u32,
    /// Smoothed round trip.
    pub srtt_ns: u32,
    /// What packets lately waited on the way there, in the mean.
    pub queue_ns: u32,
    /// Probes of the timer without an answer.
    pub unanswered: u8,
}

/// A sender's view of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionTelemetry {
    /// The peer's grant, in 1/65535 of the line.
    pub share: u16,
    /// Packets in flight on paths that count.
    pub in_flight: u32,
    /// Smoothed round trip.
    pub srtt_ns: u32,
    /// Packets that a fence has freed and that wait for a path.
    pub freed: u32,
}

impl Endpoint {
    /// A running count.
    pub fn counter(&self, counter: Counter) -> u64 {
        self.core.counters.get(counter)
    }

    /// State of a connection, if it is there.
    pub fn connection_state(&self, connection: ConnectionId) -> Option<ConnectionState> {
        self.setup_of(connection.value()).map(|setup| setup.state)
    }

    /// Numbers of all connections that are there, over or not.
    pub fn connections(&self) -> Vec<ConnectionId> {
        let setups = self.setups.iter().flatten();
        setups
            .map(|setup| ConnectionId::new(setup.number))
            .collect()
    }

    /// A path of a connection, by its number on the wire.
    pub fn path_telemetry(&self, connection: ConnectionId, path: PathId) -> Option<PathTelemetry> {
        let connection = self.connections.get(connection.value())?;
        let index = connection.path_index(path)?;
        let path = &connection.tx[index];
        Some(PathTelemetry {
            plane: (index / connection.per_plane()) as u8,
            k: (index % connection.per_plane()) as u8,
            counts: path.counts,
            health: path.health,
            epoch: path.epoch,
            entropy: connection.marks[index].entropy,
            window_q10: path.window_q10,
            in_flight: path.in_flight,
            resends_waiting: path.resend.len() as u32,
            srtt_ns: path.srtt_ns,
            queue_ns: path.queue.mean_ns,
            unanswered: path.unanswered,
        })
    }

    /// A connection as its sender sees it.
    pub fn connection_telemetry(&self, connection: ConnectionId) -> Option<ConnectionTelemetry> {
        let connection = self.connections.get(connection.value())?;
        Some(ConnectionTelemetry {
            share: connection.windows.share(),
            in_flight: connection.windows.in_flight,
            srtt_ns: connection.windows.srtt_ns,
            freed: connection.freed.len() as u32,
        })
    }
}
