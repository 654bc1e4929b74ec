//! One packet of a message: its header and where its payload lies (T-2.1, T-3.4).
//!
//! Called for first transmissions and resends alike: nothing of a packet is kept but which one it is.

use super::connection::Connection;
use super::core::Core;
use super::packet::{Packet, Payload, Transmit};
use super::tx_path::Unacked;
use super::wire_time::wire_time;
use crate::wire::{Common, Data, Flags, Ordinal, PacketType};

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
        let Some(message) = stream.message(unacked.message) else {
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
        let flags = flag(ask, Flags::ACK_REQUEST)
            .with(flag(again, Flags::RETRANSMISSION))
            .with(flag(!self.has_new(), Flags::IDLE))
            .with(flag(last, Flags::LAST));
        out.plane = plane as u8;
        out.destination = self.peer_planes[plane];
        out.entropy = self.tx[path].entropy;
        out.payload = match length {
            0 => Payload::None,
            _ => Payload::Memory {
                address: message.local + u64::from(offset),
                length,
            },
        };
        out.packet = Packet::Data(Data {
            common: Common {
                flags,
                psn: unacked.psn,
                epoch: self.tx[path].epoch,
                ordinal,
                timestamp: wire_time(now),
                ..self.common(PacketType::Data, path)
            },
            address: message.remote + u64::from(offset),
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
