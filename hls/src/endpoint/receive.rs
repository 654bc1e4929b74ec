//! What a receiver does with DATA, PROBE and FENCE (T-5): judge, check, place, count, acknowledge.
//!
//! A packet is dropped for exactly one counted reason. One that fails the memory check leaves no trace in its
//! path's sequence. Payload goes to its final place at once: there is no reorder buffer.

use super::admission::{Admitted, Refusal};
use super::connection::Connection;
use super::core::Core;
use super::counters::Counter;
use super::events::EventKind;
use super::message_table::RemoteRequest;
use super::packet::{Arrival, Memory};
use super::path_sequence::Verdict;
use super::planted::Fault;
use super::urgent::Urgent;
use super::work::Status;
use crate::wire::{Data, Flags, NackReason, Operation, PacketType, Probe};

/// What a DATA packet takes on the wire beside its payload: headers, CRC, preamble and gap.
const WIRE_OVERHEAD_BYTES: u32 = 14 + 20 + 8 + 48 + 4 + 4 + 20;

impl Connection {
    /// Counts the connection among those that share the line (T-2.12).
    fn note_activity(&mut self, core: &mut Core, now: u64, bytes: u32, flags: Flags) {
        core.share.on_packet(now, bytes, &mut self.share_tag);
        if flags.contains(Flags::IDLE) {
            core.share.on_idle(&mut self.share_tag);
        }
    }

    /// The path of a packet, if it exists and belongs to the plane that the packet came by.
    fn arrival_path(&self, arrival: &Arrival, id: crate::wire::PathId) -> Option<usize> {
        self.path_index(id)
            .filter(|path| self.plane_of(*path) == usize::from(arrival.plane))
    }

    /// Takes a DATA packet.
    pub(super) fn on_data<M: Memory>(
        &mut self,
        core: &mut Core,
        now: u64,
        arrival: &Arrival,
        data: &Data,
        payload: &[u8],
        memory: &mut M,
    ) {
        match self.judge_data(arrival, data) {
            Ok((path, Verdict::Duplicate)) => {
                core.counters.bump(Counter::Duplicate);
                if self.planted.is(Fault::PlacesTwice) {
                    memory.place(data.address, data.payload_length.into(), payload);
                }
                self.on_sequence(core, path, data, true, now);
            }
            Ok((path, _)) => match self.admit(core, data, payload) {
                Ok(admitted) => {
                    self.rx[path].accept(data.common.psn, arrival.marked);
                    core.counters.bump(Counter::ReceivedData);
                    core.counters
                        .add(Counter::ReceivedMarked, arrival.marked.into());
                    let bytes = u32::from(data.payload_length) + WIRE_OVERHEAD_BYTES;
                    self.note_activity(core, now, bytes, data.common.flags);
                    let complete = self.take(core, data, admitted, payload, memory);
                    let urgent = complete || data.common.flags.contains(Flags::ACK_REQUEST);
                    self.on_sequence(core, path, data, urgent, now);
                    if complete {
                        self.deliver(core, data.stream, now, memory);
                    }
                }
                Err(refusal) => self.refuse(core, arrival, data, refusal, now),
            },
            Err(reason) => core.counters.bump(reason),
        }
    }

    /// Does what an admitted packet asks; says whether its message is complete.
    fn take<M: Memory>(
        &mut self,
        core: &mut Core,
        data: &Data,
        admitted: Admitted,
        payload: &[u8],
        memory: &mut M,
    ) -> bool {
        let length = data.payload_length.into();
        let stream = &mut self.streams[usize::from(data.stream)];
        match admitted {
            Admitted::Place(address) => {
                if length > 0 {
                    let off = u64::from(self.planted.is(Fault::PlacesOneByteOff));
                    memory.place(address + off, length, payload);
                }
                stream.count(data, RemoteRequest::default())
            }
            Admitted::Request(request) => stream.count(data, request),
            Admitted::Answer => {
                if length > 0 {
                    memory.place(data.address, length, payload);
                }
                let Some(open) = stream.open_message(data.message) else {
                    debug_assert!(false, "an answer is admitted for an open request");
                    return false;
                };
                open.answered += length;
                open.answer_complete = open.answered == open.answer_length;
                let complete = open.answer_complete;
                if complete {
                    self.complete_stream(core, data.stream);
                }
                complete
            }
        }
    }

    /// Everything that can be said without looking at memory.
    fn judge_data(&self, arrival: &Arrival, data: &Data) -> Result<(usize, Verdict), Counter> {
        let path = self
            .arrival_path(arrival, data.common.path)
            .ok_or(Counter::DropPath)?;
        if u16::from(data.stream) >= self.settled.streams {
            return Err(Counter::DropOperation);
        }
        let end = data.offset.checked_add(data.payload_length.into());
        if end.is_none_or(|end| end > data.message_length) || data.payload_length > self.settled.mtu
        {
            return Err(Counter::DropMessageBounds);
        }
        if data.common.epoch != self.rx[path].epoch {
            return Err(Counter::DropEpoch);
        }
        match self.rx[path].judge(data.common.psn) {
            Verdict::Outside => Err(Counter::DropWindow),
            verdict => Ok((path, verdict)),
        }
    }

    /// Tells the sender that a packet is not taken. An answer of the peer that our own key no longer lets in is
    /// our own fault: the connection ends, and the peer is not blamed.
    fn refuse(
        &mut self,
        core: &mut Core,
        arrival: &Arrival,
        data: &Data,
        refusal: Refusal,
        now: u64,
    ) {
        core.counters.bump(refusal.counter);
        core.event(
            now,
            self.number,
            data.common.path,
            EventKind::Refusal,
            refusal.reason as u64,
        );
        let answer = matches!(
            data.operation,
            Operation::ReadResponse | Operation::AtomicResponse
        );
        if answer && refusal.reason == NackReason::Access {
            self.fail(
                core,
                now,
                Some((data.stream, data.message)),
                Status::LocalAccess,
            );
            return;
        }
        let nack = Urgent::Nack {
            connection: self.number.value(),
            reason: refusal.reason,
            stream: data.stream,
            message: data.message,
            detail: refusal.detail,
        };
        core.urgent(arrival.plane.into(), nack);
    }

    /// A DATA packet belongs to the path's epoch: echo it, acknowledge it.
    fn on_sequence(&mut self, core: &mut Core, path: usize, data: &Data, urgent: bool, now: u64) {
        let plane = self.plane_of(path);
        self.planes[plane].peer_return_mask = data.return_mask;
        let gap = self.rx[path].echo(data.common.ordinal, data.common.timestamp, now);
        self.note_news(core, path, urgent || gap, now);
    }

    /// Takes a PROBE or FENCE.
    pub(super) fn on_probe(&mut self, core: &mut Core, now: u64, arrival: &Arrival, probe: &Probe) {
        let Some(path) = self.arrival_path(arrival, probe.common.path) else {
            core.counters.bump(Counter::DropPath);
            return;
        };
        if probe.common.kind == PacketType::Fence {
            self.on_fence(core, now, arrival, probe);
            return;
        }
        if probe.common.epoch != self.rx[path].epoch {
            core.counters.bump(Counter::DropEpoch);
            return;
        }
        core.counters.bump(Counter::ReceivedProbes);
        // Who probes has packets on the way, if only lost ones.
        self.note_activity(core, now, 0, probe.common.flags);
        let plane = self.plane_of(path);
        self.planes[plane].peer_return_mask = probe.return_mask;
        self.rx[path].echo(probe.common.ordinal, probe.common.timestamp, now);
        let by = (plane + usize::from(probe.train)) % self.planes.len();
        if self.is_silent_on(path) {
            return;
        }
        if by == plane || !core.planes[by].link_up {
            self.planes[plane].ack.probed = true;
            self.note_news(core, path, true, now);
        } else {
            let connection = self.number.value();
            core.urgent(
                by,
                Urgent::ProbeAnswer {
                    connection,
                    path: path as u8,
                },
            );
        }
    }

    fn on_fence(&mut self, core: &mut Core, now: u64, arrival: &Arrival, probe: &Probe) {
        let Some(path) = self.path_index(probe.fenced_path) else {
            core.counters.bump(Counter::DropPath);
            return;
        };
        if self.rx[path]
            .fence(probe.fenced_epoch, probe.fenced_path, now)
            .is_none()
        {
            core.counters.bump(Counter::DropEpoch);
            return;
        }
        core.counters.bump(Counter::ReceivedFences);
        if self.is_silent_on(path) {
            return;
        }
        let connection = self.number.value();
        core.urgent(
            arrival.plane.into(),
            Urgent::FenceAck {
                connection,
                path: path as u8,
            },
        );
    }
}
