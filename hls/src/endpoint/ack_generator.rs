//! When and with what to acknowledge (T-2.7): by (connection, plane), up to four path blocks an ACK.
//!
//! One leaves on the 4th packet, or a delay after the first, or at once when something is urgent. Paths are
//! taken oldest news first; a second ACK follows at once when more than four have news. The answer to a probe has
//! room for what the ACKs before it said, and says it again.

use super::connection::Connection;
use super::core::Core;
use super::counters::Counter;
use super::packet::Transmit;
use super::planted::Fault;
use super::timers::{NEVER, TimerKey, TimerKind};
use crate::wire::{AckBlock, BLOCKS_MAX, PacketType};
use arrayvec::ArrayVec;

impl Connection {
    /// Notes that a path has news; `urgent`: the ACK leaves at once.
    pub(super) fn note_news(&mut self, core: &mut Core, path: usize, urgent: bool, now: u64) {
        if self.is_silent_on(path) {
            return;
        }
        let (plane, k) = (self.plane_of(path), path % self.per_plane());
        let state = &mut self.planes[plane];
        state.ack.note(k as u8);
        if urgent || state.ack.packets >= core.config.ack.every_packets {
            self.queue_ack(core, plane);
        } else if state.ack_timer.deadline == NEVER {
            let key = TimerKey {
                kind: TimerKind::Ack,
                index: plane as u8,
                connection: self.number.value(),
            };
            let due = now + u64::from(core.config.ack.delay_ns);
            core.timers.set(&mut state.ack_timer, due, key);
        }
    }

    /// A planted fault: nothing is ever said of the path.
    pub(super) fn is_silent_on(&self, path: usize) -> bool {
        path == 0 && self.planted.is(Fault::SilentOnPathZero)
    }

    /// The ACK of a plane is due.
    pub(super) fn queue_ack(&mut self, core: &mut Core, plane: usize) {
        let state = &mut self.planes[plane];
        if !state.ack.queued && !state.ack.paths.is_empty() {
            state.ack.queued = true;
            core.planes[plane].acks.push_back(self.number.value());
        }
    }

    /// Fills the ACK that is due on a plane.
    pub(super) fn emit_ack(
        &mut self,
        core: &mut Core,
        plane: usize,
        now: u64,
        out: &mut Transmit,
    ) -> bool {
        self.planes[plane].ack.queued = false;
        if self.ended {
            return false;
        }
        let mut blocks = ArrayVec::<_, BLOCKS_MAX>::new();
        while blocks.len() < BLOCKS_MAX {
            let Some(k) = self.planes[plane].ack.take() else {
                break;
            };
            let path = plane * self.per_plane() + usize::from(k);
            // A fence may have closed the epoch since: then there is nothing to say.
            if let Some(block) = self.rx[path].block(self.path_id(path), now) {
                blocks.push(block);
            }
        }
        if std::mem::take(&mut self.planes[plane].ack.probed) {
            self.say_again(plane, &mut blocks, now);
        }
        let state = &mut self.planes[plane];
        state.ack.packets = 0;
        state.ack_timer.deadline = NEVER;
        self.queue_ack(core, plane);
        if blocks.is_empty() {
            return false;
        }
        core.counters.bump(Counter::SentAcks);
        core.counters
            .add(Counter::SentAckBlocks, blocks.len() as u64);
        self.emit_ack_of(core, PacketType::Ack, plane, blocks, now, out);
        true
    }

    /// Fills an ACK with blocks of the paths that were acknowledged last: that ACK may be lost.
    fn say_again(&self, plane: usize, blocks: &mut ArrayVec<AckBlock, BLOCKS_MAX>, now: u64) {
        for k in self.planes[plane].ack.recent() {
            let path = plane * self.per_plane() + usize::from(k);
            let id = self.path_id(path);
            if blocks.is_full() {
                return;
            }
            if blocks.iter().all(|block| block.path != id) {
                blocks.extend(self.rx[path].block(id, now));
            }
        }
    }
}
