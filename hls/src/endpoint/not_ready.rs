//! Receiver not ready: a message that finds no receive request waits and is sent again (T-3.7, reasons 1 and 6).
//!
//! Its packets stand aside on their paths, which go on with other streams; its stream takes nothing new
//! until the time that the receiver has named. Their PSNs stay holes in the windows of their paths, so what
//! other streams may send meanwhile is bounded by W a path.

use super::connection::Connection;
use super::core::Core;
use super::counters::Counter;
use super::events::EventKind;
use super::timers::{TimerKey, TimerKind};
use super::tx_path::Unacked;
use super::wire_time::UNIT_SHIFT;
use super::work::Status;
use crate::wire::{Nack, PathId};

impl Connection {
    /// The peer was not ready for a message of ours.
    pub(super) fn on_not_ready(&mut self, core: &mut Core, now: u64, nack: &Nack) {
        let stream = &mut self.streams[usize::from(nack.stream)];
        if stream.held.is_some() || stream.open_message(nack.message).is_none() {
            // One that is known already, or that is over.
            return;
        }
        core.counters.bump(Counter::Holds);
        stream.holds += 1;
        let (holds, most) = (stream.holds, core.config.rnr_retries_max);
        if most > 0 && holds > most {
            let refused = Some((nack.stream, nack.message));
            self.fail(core, now, refused, Status::ReceiverNotReady);
            return;
        }
        stream.held = Some(nack.message);
        let wait = nack.detail.clamp(1, u16::MAX.into()) << UNIT_SHIFT;
        let key = TimerKey {
            kind: TimerKind::Hold,
            index: nack.stream,
            connection: self.number.value(),
        };
        core.timers.set(&mut stream.hold_timer, now + wait, key);
        core.event(now, self.number, PathId(0), EventKind::NotReady, wait);
        self.refresh_stream(nack.stream);
        self.forgive_losses();
        self.set_aside();
    }

    /// Takes what the held stream has to send again out of the way.
    fn set_aside(&mut self) {
        for path in 0..self.tx.len() {
            for _ in 0..self.tx[path].resend.len() {
                if let Some(unacked) = self.tx[path].resend.pop_front() {
                    self.keep_lost(path, unacked);
                }
            }
            self.refresh(path);
        }
    }

    /// A lost packet waits to be sent again, apart if its message is held.
    pub(super) fn keep_lost(&mut self, path: usize, unacked: Unacked) {
        let stream = &self.streams[usize::from(unacked.stream)];
        // Later messages of the stream would find no request either.
        if stream.held.is_some() && !unacked.answer {
            self.tx[path].held.push(unacked);
        } else {
            self.tx[path].resend.push_back(unacked);
        }
    }

    /// The time that the receiver named has come: all of the stream goes on.
    pub(super) fn on_hold_timer(&mut self, core: &mut Core, stream: u8) {
        self.streams[usize::from(stream)].held = None;
        for path in 0..self.tx.len() {
            let state = &mut self.tx[path];
            let resend = &mut state.resend;
            state.held.retain(|unacked| {
                let goes_on = unacked.stream == stream;
                if goes_on {
                    resend.push_back(*unacked);
                }
                !goes_on
            });
            self.refresh(path);
        }
        self.refresh_stream(stream);
        self.wake(core);
    }
}
