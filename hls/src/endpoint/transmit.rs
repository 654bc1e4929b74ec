//! Which packet leaves by a plane whose port is free: ACKs first, then other answers, then data in turn.
//!
//! A connection that cannot send leaves the plane's turn and comes back with an ACK, a timer or new work,
//! so a poll that finds nothing is cheap.

use super::Endpoint;
use super::counters::Counter;
use super::packet::{Packet, Payload, Transmit};

impl Endpoint {
    /// Fills the next packet for `plane`. Call it when the plane's port is free, after every `handle_*` and
    /// `post_*`, until it says no.
    pub fn poll_transmit(&mut self, now: u64, plane: u8, out: &mut Transmit) -> bool {
        let plane = usize::from(plane);
        if !self
            .core
            .planes
            .get(plane)
            .is_some_and(|queues| queues.link_up)
        {
            return false;
        }
        self.poll_acks(now, plane, out)
            || self.poll_urgent(now, plane, out)
            || self.poll_control(plane, out)
            || self.poll_turn(now, plane, out)
    }

    fn poll_acks(&mut self, now: u64, plane: usize, out: &mut Transmit) -> bool {
        while let Some(number) = self.core.planes[plane].acks.pop_front() {
            if let Some(connection) = self.connections.get_mut(number)
                && connection.emit_ack(&mut self.core, plane, now, out)
            {
                return true;
            }
        }
        false
    }

    fn poll_urgent(&mut self, now: u64, plane: usize, out: &mut Transmit) -> bool {
        while let Some(urgent) = self.core.planes[plane].urgent.pop_front() {
            if let Some(connection) = self.connections.get_mut(urgent.connection())
                && connection.emit_urgent(&mut self.core, plane, urgent, now, out)
            {
                return true;
            }
        }
        false
    }

    fn poll_control(&mut self, plane: usize, out: &mut Transmit) -> bool {
        let Some((to, control)) = self.core.planes[plane].control.pop_front() else {
            return false;
        };
        out.plane = plane as u8;
        out.destination = to;
        out.entropy = self.core.rng.entropy();
        out.packet = Packet::Control(control);
        out.payload = Payload::None;
        self.core.counters.bump(Counter::SentControl);
        true
    }

    fn poll_turn(&mut self, now: u64, plane: usize, out: &mut Transmit) -> bool {
        while let Some(number) = self.core.planes[plane].turn.pop_front() {
            let Some(connection) = self.connections.get_mut(number) else {
                continue;
            };
            connection.planes[plane].queued = false;
            if !connection.can_send(plane) {
                continue;
            }
            let sent = connection.transmit(&mut self.core, plane, now, out);
            if sent && !connection.planes[plane].queued && connection.can_send(plane) {
                connection.planes[plane].queued = true;
                self.core.planes[plane].turn.push_back(number);
            }
            if sent {
                return true;
            }
        }
        false
    }
}
