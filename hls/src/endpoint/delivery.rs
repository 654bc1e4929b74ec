//! What a receiver does with messages that are complete, in the order of their numbers (T-2.9, T-5.4).
//!
//! A WRITE is silent. A WRITE_IMM and a SEND complete at the host. A READ or atomic is done now, after all
//! earlier messages of its stream, and opens an answer.

use super::connection::Connection;
use super::core::Core;
use super::events::EventKind;
use super::message_table::Message;
use super::packet::Memory;
use super::planted::Fault;
use super::region::Access;
use super::stream::OpenMessage;
use super::urgent::Urgent;
use super::work::{Completion, Side, Status};
use crate::wire::{NackReason, Operation};

impl Connection {
    /// Delivers what is complete of a stream.
    pub(super) fn deliver<M: Memory>(
        &mut self,
        core: &mut Core,
        stream: u8,
        now: u64,
        memory: &mut M,
    ) {
        let keep = self.planted.is(Fault::LeaksSlot);
        while let Some((number, message)) = self.streams[usize::from(stream)].take_complete(keep) {
            match message.operation {
                Operation::Write => {}
                Operation::WriteImm => {
                    self.complete_receive(core, stream, number, &message, Side::WriteImm, 0);
                }
                Operation::Send | Operation::SendImm => {
                    self.deliver_send(core, stream, number, &message, now);
                }
                _ => self.execute(core, stream, number, &message, now, memory),
            }
        }
        self.refresh_stream(stream);
        self.wake(core);
    }

    /// The receive request that a SEND names must be the oldest: SENDs are numbered without gaps.
    fn deliver_send(
        &mut self,
        core: &mut Core,
        stream: u8,
        number: u16,
        message: &Message,
        now: u64,
    ) {
        let half = &mut self.streams[usize::from(stream)];
        let oldest = half.first_receive == message.receive;
        let Some(receive) = (if oldest {
            half.receives.pop_front()
        } else {
            None
        }) else {
            self.refuse_message(core, stream, number, NackReason::InvalidRequest, now);
            self.fail(core, now, None, Status::RemoteInvalid);
            return;
        };
        half.first_receive += 1;
        self.complete_receive(core, stream, number, message, Side::Receive, receive.id);
    }

    fn complete_receive(
        &mut self,
        core: &mut Core,
        stream: u8,
        number: u16,
        message: &Message,
        side: Side,
        id: u64,
    ) {
        let bears_value = message.operation != Operation::Send;
        let completion = Completion {
            id,
            connection: self.number,
            stream,
            message: number,
            side,
            status: Status::Ok,
            length: message.length,
            immediate: bears_value.then_some(message.immediate),
        };
        self.complete(core, completion);
    }

    /// Reads or changes memory and opens the answer. The key may have been taken back since the request was
    /// admitted: then the peer is told.
    fn execute<M: Memory>(
        &mut self,
        core: &mut Core,
        stream: u8,
        number: u16,
        message: &Message,
        now: u64,
        memory: &mut M,
    ) {
        let request = &message.request;
        let read = message.operation == Operation::Read;
        let access = if read { Access::Read } else { Access::Atomic };
        if core
            .regions
            .check(request.key, access, request.address, request.length)
            .is_err()
        {
            self.refuse_message(core, stream, number, NackReason::Access, now);
            return;
        }
        let value = match message.operation {
            Operation::CompareSwap => compare_swap(memory, request.address, request.operands),
            Operation::FetchAdd => fetch_add(memory, request.address, request.operands[0]),
            _ => 0,
        };
        let operation = if read {
            Operation::ReadResponse
        } else {
            Operation::AtomicResponse
        };
        let answer = OpenMessage {
            id: 0,
            number,
            operation,
            local: request.address,
            local_key: request.key,
            remote: request.answer_address,
            key: request.answer_key,
            length: request.length,
            immediate: 0,
            operands: [value, 0],
            packets: request.length.div_ceil(self.settled.mtu.into()).max(1),
            taken: 0,
            arrived: 0,
            answer_length: 0,
            answered: 0,
            answer_complete: true,
        };
        self.streams[usize::from(stream)].answer(answer);
    }

    fn refuse_message(
        &mut self,
        core: &mut Core,
        stream: u8,
        message: u16,
        reason: NackReason,
        now: u64,
    ) {
        let connection = self.number.value();
        let plane = (0..self.planes.len())
            .find(|plane| core.planes[*plane].link_up)
            .unwrap_or(0);
        core.urgent(
            plane,
            Urgent::Nack {
                connection,
                reason,
                stream,
                message,
                detail: 0,
            },
        );
        core.event(
            now,
            self.number,
            self.path_id(0),
            EventKind::Refusal,
            reason as u64,
        );
    }
}

fn compare_swap<M: Memory>(memory: &mut M, address: u64, [compare, swap]: [u64; 2]) -> u64 {
    let before = memory.load(address);
    if before == compare {
        memory.store(address, swap);
    }
    before
}

fn fetch_add<M: Memory>(memory: &mut M, address: u64, add: u64) -> u64 {
    let before = memory.load(address);
    memory.store(address, before.wrapping_add(add));
    before
}
