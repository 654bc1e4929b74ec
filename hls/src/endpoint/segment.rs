//! One packet of a message: its header and where its payload lies (T-2.1, T-3.4).
//!
//! Called for first transmissions and resends alike: nothing of a packet is kept but which one it is.

use super::connection::Connection;
use super::core::Core;
use super::packet::{INLINE_MAX, Packet, Payload, Transmit};
use super::stream::OpenMessage;
use super::tx_path::Unacked;
use super::wire_time::wire_time;
use crate::wire::{Common, Data, Flags, Operation, Ordinal, PacketType};

impl Connection {
    /// Fills a DATA packet.
    // What a packet is made of: where, what, which number, whether again, when.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn segment(
        &mut self,
        core: &Core,
        path: usize,
        unacked: Unacked,
        ordinal: Ordinal,
        again: bool,
        now: u64,
        out: &mut Transmit,
    ) {
        let plane = self.plane_of(path);
        let age = core.config.ack.return_mask_age_ns;
        let return_mask = self.planes[plane].return_mask.get(now, age);
        let stream = &self.streams[usize::from(unacked.stream)];
        let Some(message) = stream.source(&unacked) else {
            debug_assert!(false, "a packet to send belongs to an open message");
            return;
        };
        let mtu = u32::from(self.settled.mtu);
        let offset = unacked.packet * mtu;
        let length = mtu.min(message.length - offset);
        let last = unacked.packet + 1 == message.packets;
        let ask = again
            || (!self.heard && self.windows.in_flight == 1)
            || (last && !self.has_new())
            || self.windows.is_below(core.config.ack.request_below_packets);
        let flag = |on: bool, flag: Flags| if on { flag } else { Flags(0) };
        let immediate = matches!(message.operation, Operation::WriteImm | Operation::SendImm);
        let flags = flag(ask, Flags::ACK_REQUEST)
            .with(flag(immediate, Flags::IMMEDIATE))
            .with(flag(again, Flags::RETRANSMISSION))
            .with(flag(self.is_ending(), Flags::IDLE))
            .with(flag(last, Flags::LAST));
        out.plane = plane as u8;
        out.destination = self.peer_planes[plane];
        out.entropy = self.marks[path].entropy;
        out.payload = message.payload(offset, length);
        out.packet = Packet::Data(Data {
            common: Common {
                flags,
                psn: unacked.psn,
                epoch: self.tx[path].epoch,
                ordinal,
                timestamp: wire_time(now),
                ..self.common(PacketType::Data, path)
            },
            address: message.remote_at(offset),
            key: message.key,
            payload_length: length as u16,
            operation: message.operation,
            stream: unacked.stream,
            message: unacked.message,
            return_mask,
            message_length: message.length,
            offset,
            immediate: message.immediate,
        });
    }
}

impl OpenMessage {
    /// Address field of the packet at `offset`: of a SEND, the receive request's number.
    fn remote_at(&self, offset: u32) -> u64 {
        if self.has_memory_address() {
            self.remote.wrapping_add(offset.into())
        } else {
            self.remote
        }
    }

    /// Where the payload of the packet at `offset` lies. Requests and the answers of atomics carry their own.
    fn payload(&self, offset: u32, length: u32) -> Payload {
        let mut bytes = [0; INLINE_MAX];
        let answer_length = self.answer_length.to_be_bytes();
        match self.operation {
            _ if length == 0 => return Payload::None,
            Operation::Read | Operation::CompareSwap | Operation::FetchAdd => {
                bytes[..8].copy_from_slice(&self.local.to_be_bytes());
                bytes[8..12].copy_from_slice(&self.local_key.0.to_be_bytes());
                bytes[12..16].copy_from_slice(&answer_length);
                bytes[16..24].copy_from_slice(&self.operands[0].to_be_bytes());
                bytes[24..32].copy_from_slice(&self.operands[1].to_be_bytes());
            }
            // As it stood in memory: hosts are little-endian.
            Operation::AtomicResponse => {
                bytes[..8].copy_from_slice(&self.operands[0].to_le_bytes())
            }
            _ => {
                return Payload::Memory {
                    address: self.local + u64::from(offset),
                    length,
                };
            }
        }
        Payload::Inline {
            bytes,
            length: length as u8,
        }
    }
}
