//! What a sender does with ACK, FENCE_ACK and NACK, and how messages and connections end.

use super::connection::Connection;
use super::core::Core;
use super::counters::Counter;
use super::events::EventKind;
use super::stream::Done;
use super::stream_set::StreamSet;
use super::work::{Completion, Side, Status};
use crate::wire::{Ack, Nack, NackReason, PacketType, PathId};

impl Connection {
    /// Takes an ACK or FENCE_ACK.
    pub(super) fn on_ack(&mut self, core: &mut Core, now: u64, ack: &Ack) {
        let Some(path) = self.path_index(ack.return_path) else {
            core.counters.bump(Counter::DropPath);
            return;
        };
        let (plane, k) = (self.plane_of(path), path % self.per_plane());
        let age = core.config.ack.return_mask_age_ns;
        self.heard = true;
        self.planes[plane].return_mask.note(k as u8, now, age);
        if self.windows.set_share(ack.share) {
            self.set_pace(core, now);
            core.event(
                now,
                self.number,
                PathId(0),
                EventKind::Share,
                ack.share.into(),
            );
        }
        if ack.kind == PacketType::FenceAck {
            core.counters.bump(Counter::ReceivedFenceAcks);
            for block in &ack.blocks {
                self.on_fence_ack(core, block, now);
            }
        } else {
            core.counters.bump(Counter::ReceivedAcks);
            for block in &ack.blocks {
                self.on_block(core, block, ack.sent, now);
            }
        }
        self.wake(core);
    }

    /// Takes a NACK: the message waits, or the connection ends (T-5.3).
    pub(super) fn on_nack(&mut self, core: &mut Core, now: u64, nack: &Nack) {
        if u16::from(nack.stream) >= self.settled.streams {
            core.counters.bump(Counter::DropAckInvalid);
            return;
        }
        core.counters.bump(Counter::ReceivedNacks);
        let status = match nack.reason {
            NackReason::NoReceiveRequest | NackReason::NoResource => {
                self.on_not_ready(core, now, nack);
                return;
            }
            NackReason::Access => Status::RemoteAccess,
            _ => Status::RemoteInvalid,
        };
        core.event(
            now,
            self.number,
            nack.common.path,
            EventKind::Refused,
            nack.reason as u64,
        );
        self.fail(core, now, Some((nack.stream, nack.message)), status);
    }

    /// Computes anew whether a stream can give a packet.
    pub(super) fn refresh_stream(&mut self, stream: u8) {
        let ready = self.streams[usize::from(stream)].is_ready(self.settled.slots);
        self.streams_ready.set(stream, ready);
    }

    /// Delivers the complete messages of a stream, in order.
    pub(super) fn complete_stream(&mut self, core: &mut Core, stream: u8) {
        while let Some(done) = self.streams[usize::from(stream)].complete() {
            let completion = self.completion(stream, done);
            self.complete(core, completion);
        }
        self.refresh_stream(stream);
    }

    fn completion(&self, stream: u8, done: Done) -> Completion {
        Completion {
            id: done.id,
            connection: self.number,
            stream,
            message: done.message,
            side: Side::Send,
            status: done.status,
            length: done.length,
            immediate: None,
        }
    }

    /// The connection is over: what was `refused` ends with `status`, all else is flushed, in order.
    pub(super) fn fail(
        &mut self,
        core: &mut Core,
        now: u64,
        refused: Option<(u8, u16)>,
        status: Status,
    ) {
        if !self.ended {
            core.event(now, self.number, PathId(0), EventKind::ConnectionFailed, 0);
            core.ended.push((self.number.value(), status));
            self.end(core, refused, status);
        }
    }

    /// Flushes everything; with the status `Flushed`, by nobody's fault.
    pub(super) fn end(&mut self, core: &mut Core, refused: Option<(u8, u16)>, status: Status) {
        if self.ended {
            return;
        }
        self.ended = true;
        for stream in 0..self.streams.len() {
            let stream = stream as u8;
            let mut first = match refused {
                Some((at, message)) => (at == stream).then_some((message, status)),
                None => self.streams[usize::from(stream)]
                    .oldest()
                    .map(|n| (n, status)),
            };
            while let Some(done) = self.streams[usize::from(stream)].flush(first) {
                first = first.filter(|(message, _)| *message != done.message);
                let completion = self.completion(stream, done);
                self.complete(core, completion);
            }
            self.flush_receives(core, stream);
        }
        self.streams_ready = StreamSet::default();
        self.freed.clear();
        for path in &mut self.tx {
            path.log.clear();
            path.resend.clear();
            path.held.clear();
        }
    }

    fn flush_receives(&mut self, core: &mut Core, stream: u8) {
        self.streams[usize::from(stream)].forget_peer();
        while let Some(receive) = self.streams[usize::from(stream)].receives.pop_front() {
            let completion = Completion {
                id: receive.id,
                connection: self.number,
                stream,
                message: 0,
                side: Side::Receive,
                status: Status::Flushed,
                length: 0,
                immediate: None,
            };
            self.complete(core, completion);
        }
    }
}
