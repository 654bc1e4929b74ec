//! Asks early for the memory that a packet will need, for callers that know packets some time before they hand them over.
//!
//! Changes nothing and decides nothing; a simulation of a thousand endpoints waits for memory more than for anything else.

use super::Endpoint;
use super::packet::Packet;
use super::timers::TimerKind;
use crate::prefetch::{Step, prefetch};

impl Endpoint {
    /// Before [`Self::handle_packet`]: its connection, then the paths that it speaks of.
    #[inline]
    pub fn prefetch_packet(&self, step: Step, packet: &Packet) {
        let Some(connection) = self.connections.get(packet.connection().value()) else {
            return;
        };
        match (step, packet) {
            (Step::Connection, _) => prefetch(connection),
            (Step::Path, Packet::Data(data)) => {
                if let Some(path) = connection.path_index(data.common.path) {
                    prefetch(&connection.rx[path]);
                }
                if let Some(stream) = connection.streams.get(usize::from(data.stream)) {
                    prefetch(stream);
                }
            }
            (Step::Path, Packet::Ack(ack)) => {
                for block in &ack.blocks {
                    if let Some(path) = connection.path_index(block.path) {
                        prefetch(&connection.tx[path]);
                    }
                }
            }
            _ => {}
        }
    }

    /// Before [`Self::poll_transmit`]: what waits for the plane, then the connection whose turn it is.
    #[inline]
    pub fn prefetch_transmit(&self, step: Step, plane: usize) {
        let Some(queues) = self.core.planes.get(plane) else {
            return;
        };
        if step == Step::Queue {
            prefetch(queues);
            return;
        }
        for number in [queues.acks.front(), queues.turn.front()]
            .into_iter()
            .flatten()
        {
            if let Some(connection) = self.connections.get(*number) {
                if step == Step::Connection {
                    prefetch(connection);
                } else {
                    connection.marks.first().into_iter().for_each(prefetch);
                    connection.streams.first().into_iter().for_each(prefetch);
                }
            }
        }
    }

    /// Before [`Self::handle_timeout`]: the timer that is due, its connection, its path.
    #[inline]
    pub fn prefetch_timeout(&self, step: Step) {
        let Some(key) = self.core.timers.next_key() else {
            return;
        };
        let Some(connection) = self.connections.get(key.connection) else {
            return;
        };
        if step == Step::Connection {
            prefetch(connection);
        } else if step == Step::Path && key.kind == TimerKind::Path {
            // The entry may be of an earlier connection of this number, which had more paths.
            let path = connection.tx.get(usize::from(key.index));
            path.into_iter().for_each(prefetch);
        }
    }
}
