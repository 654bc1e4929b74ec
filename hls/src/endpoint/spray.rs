//! Which packet leaves next by a plane, and on which path (T-2.2).
//!
//! Of a connection: probes and resends on their own path, then packets that a fence has freed, then new ones
//! on the best of the plane's open paths: largest window / ((in flight + 1) x way^(3/4)), compared as logarithms
//! with 5 fraction bits. Equal scores go around. Streams take turns, a packet each, as connections do
//! ([`super::transmit`]). Which paths are open was computed when they changed ([`Connection::refresh`]).

use super::connection::Connection;
use super::core::Core;
use super::counters::Counter;
use super::packet::Transmit;
use super::planted::Fault;
use super::timers::{NEVER, TimerKey, TimerKind};
use super::tx_path::Unacked;

impl Connection {
    /// Fills the connection's next packet for a plane, if there is one.
    pub(super) fn transmit(
        &mut self,
        core: &mut Core,
        plane: usize,
        now: u64,
        out: &mut Transmit,
    ) -> bool {
        let masks = &self.planes[plane];
        if masks.probe != 0 {
            let path = plane * self.per_plane() + masks.probe.trailing_zeros() as usize;
            self.emit_probe(core, path, now, out);
            return true;
        }
        if !self.windows.has_room() {
            return false;
        }
        if masks.resend != 0 && self.transmit_resend(core, plane, now, out) {
            return true;
        }
        self.has_new() && self.transmit_new(core, plane, now, out)
    }

    fn transmit_resend(
        &mut self,
        core: &mut Core,
        plane: usize,
        now: u64,
        out: &mut Transmit,
    ) -> bool {
        while self.planes[plane].resend != 0 {
            let path =
                plane * self.per_plane() + self.planes[plane].resend.trailing_zeros() as usize;
            let state = &mut self.tx[path];
            let next = state.resend.pop_front();
            let Some(unacked) = next else {
                debug_assert!(
                    false,
                    "the mask shows paths that have something to send again"
                );
                self.refresh(path);
                continue;
            };
            // It was late, not lost: a newer block shows it.
            if state.vector.received(unacked.psn, state.cumulative) {
                self.on_packet_arrived(core, unacked);
                self.refresh(path);
                continue;
            }
            core.counters.bump(Counter::Resends);
            self.send_data(core, path, unacked, true, now, out);
            return true;
        }
        false
    }

    fn transmit_new(
        &mut self,
        core: &mut Core,
        plane: usize,
        now: u64,
        out: &mut Transmit,
    ) -> bool {
        let Some(path) = self.choose(plane) else {
            return false;
        };
        let Some(mut unacked) = self.next_packet(core) else {
            return false;
        };
        let state = &mut self.tx[path];
        unacked.psn = state.next_psn;
        state.next_psn = state.next_psn.advance(1);
        state.packets_on_entropy = state.packets_on_entropy.saturating_add(1);
        self.planes[plane].last = (path % self.per_plane()) as u8;
        self.send_data(core, path, unacked, false, now, out);
        if !self.has_new() {
            self.probe_tails(core);
        }
        true
    }

    /// Where the connection window is below one packet, the next one waits.
    fn pace(&mut self, core: &mut Core, now: u64) {
        if self.windows.pace_ns().is_some() {
            (self.windows.paced, self.windows.paced_ns) = (true, now);
            self.set_pace(core, now);
        }
    }

    /// Sets the wait of a packet that is paced by the present window: the share may have changed.
    pub(super) fn set_pace(&mut self, core: &mut Core, now: u64) {
        if !self.windows.paced {
            return;
        }
        let due = self.windows.paced_ns + self.windows.pace_ns().unwrap_or(0);
        let connection = self.number.value();
        let key = TimerKey {
            kind: TimerKind::Pace,
            index: 0,
            connection,
        };
        core.timers
            .set(&mut self.windows.pace_timer, due.max(now), key);
    }

    /// The best open path of a plane.
    fn choose(&self, plane: usize) -> Option<usize> {
        let masks = &self.planes[plane];
        let marks = &self.marks[plane * self.per_plane()..];
        let above = masks.open & !((2_u32 << masks.last) - 1) as u16;
        let mut best: Option<(i16, usize)> = None;
        for mut part in [above, masks.open & !above] {
            while part != 0 {
                let k = part.trailing_zeros() as usize;
                part &= part - 1;
                if best.is_none_or(|(score, _)| marks[k].score > score) {
                    best = Some((marks[k].score, k));
                }
            }
        }
        best.map(|(_, k)| plane * self.per_plane() + k)
    }

    /// A freed packet, or the next one of the stream whose turn it is.
    fn next_packet(&mut self, core: &mut Core) -> Option<Unacked> {
        if let Some(freed) = self.freed.pop_front() {
            core.counters.bump(Counter::Moved);
            return Some(freed);
        }
        let stream = self.streams_ready.after(self.stream_turn)?;
        self.stream_turn = stream;
        let (mtu, slots) = (self.settled.mtu, self.settled.slots);
        let unacked = self.streams[usize::from(stream)].take(stream, mtu, slots);
        self.refresh_stream(stream);
        unacked
    }

    /// Logs a packet on a path and fills it in.
    fn send_data(
        &mut self,
        core: &mut Core,
        path: usize,
        unacked: Unacked,
        again: bool,
        now: u64,
        out: &mut Transmit,
    ) {
        let tail = self.tail_probes(core, unacked.stream);
        let state = &mut self.tx[path];
        if !state.is_waiting() {
            state.since_ns = now;
        }
        let ordinal = state.log(Some(unacked), now);
        self.last_sent_ns = now;
        state.in_flight += 1;
        state.counts.sent += u64::from(!(again && self.planted.is(Fault::HidesResends)));
        state.counts.resent += u64::from(again);
        if state.counted {
            self.windows.in_flight += 1;
        }
        state.probes_due = state.probes_due.max(tail);
        self.segment(core, path, unacked, ordinal, again, now, out);
        self.arm_path(core, path, now);
        self.pace(core, now);
        self.refresh(path);
        core.counters.bump(Counter::SentData);
    }

    fn arm_path(&mut self, core: &mut Core, path: usize, now: u64) {
        if self.tx[path].timer.deadline == NEVER {
            let due = now + self.probe_timer_ns(core, path);
            self.set_path_timer(core, path, due);
        }
    }

    /// Sets the timer of a path.
    pub(super) fn set_path_timer(&mut self, core: &mut Core, path: usize, deadline: u64) {
        let key = TimerKey {
            kind: TimerKind::Path,
            index: path as u8,
            connection: self.number.value(),
        };
        core.timers.set(&mut self.tx[path].timer, deadline, key);
    }
}
