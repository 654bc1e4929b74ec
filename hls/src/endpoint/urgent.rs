//! Answers that go before data: NACKs, fences and their answers, answers to repeated probes.
//!
//! An entry says what is to be said, not the packet: that is made when the plane is free, from the state of
//! that moment, and not at all if the moment has passed.

use super::connection::Connection;
use super::core::Core;
use super::counters::Counter;
use super::health::Health;
use super::packet::{Packet, Payload, Transmit};
use super::wire_time::wire_time;
use crate::wire::{Ack, AckBlock, Common, Flags, Nack, NackReason, PacketType, Probe};
use arrayvec::ArrayVec;

/// Something to be said.
#[derive(Debug, Clone, Copy)]
pub(super) enum Urgent {
    /// A packet of this connection was refused.
    Nack {
        connection: u32,
        reason: NackReason,
        stream: u8,
        message: u16,
        detail: u64,
    },
    /// Close the epoch of `path`; goes over the path `via`.
    Fence { connection: u32, path: u8, via: u8 },
    /// The epoch before the present one of `path` is closed.
    FenceAck { connection: u32, path: u8 },
    /// Acknowledge `path` by this plane, whichever its own is.
    ProbeAnswer { connection: u32, path: u8 },
}

impl Urgent {
    pub(super) const fn connection(&self) -> u32 {
        match self {
            Self::Nack { connection, .. }
            | Self::Fence { connection, .. }
            | Self::FenceAck { connection, .. }
            | Self::ProbeAnswer { connection, .. } => *connection,
        }
    }
}

impl Connection {
    /// Makes the packet; says whether there still is one to send.
    pub(super) fn emit_urgent(
        &mut self,
        core: &mut Core,
        plane: usize,
        urgent: Urgent,
        now: u64,
        out: &mut Transmit,
    ) -> bool {
        // What was refused is told even when the connection has ended for it.
        let refusal = matches!(urgent, Urgent::Nack { .. });
        if self.ended && !refusal {
            return false;
        }
        match urgent {
            Urgent::Nack {
                reason,
                stream,
                message,
                detail,
                ..
            } => {
                let path = plane * self.per_plane();
                let common = self.common(PacketType::Nack, path);
                let nack = Nack {
                    common,
                    reason,
                    stream,
                    message,
                    detail,
                };
                self.address(plane, path, Packet::Nack(nack), out);
                core.counters.bump(Counter::SentNacks);
                true
            }
            Urgent::Fence { path, via, .. } => {
                self.emit_fence(core, path.into(), via.into(), now, out)
            }
            Urgent::FenceAck { path, .. } => {
                let Some(block) = self.rx[usize::from(path)].closed().copied() else {
                    return false;
                };
                core.counters.bump(Counter::SentFenceAcks);
                self.emit_one_block(core, PacketType::FenceAck, plane, block, now, out);
                true
            }
            Urgent::ProbeAnswer { path, .. } => {
                let id = self.path_id(path.into());
                let Some(block) = self.rx[usize::from(path)].block(id, now) else {
                    return false;
                };
                core.counters.bump(Counter::SentAcks);
                core.counters.bump(Counter::SentAckBlocks);
                self.emit_one_block(core, PacketType::Ack, plane, block, now, out);
                true
            }
        }
    }

    fn emit_fence(
        &mut self,
        core: &mut Core,
        path: usize,
        via: usize,
        now: u64,
        out: &mut Transmit,
    ) -> bool {
        if self.tx[path].health != Health::Down {
            return false;
        }
        let plane = self.plane_of(via);
        let age = core.config.ack.return_mask_age_ns;
        let probe = Probe {
            common: Common {
                epoch: self.tx[via].epoch,
                timestamp: wire_time(now),
                ..self.common(PacketType::Fence, via)
            },
            return_mask: self.planes[plane].return_mask.get(now, age),
            train: self.tx[path].attempts.min(255) as u8,
            fenced_path: self.path_id(path),
            fenced_epoch: self.tx[path].epoch,
        };
        self.address(plane, via, Packet::Probe(probe), out);
        core.counters.bump(Counter::SentFences);
        true
    }

    /// Fills an ACK of one block that leaves by `plane`.
    fn emit_one_block(
        &mut self,
        core: &mut Core,
        kind: PacketType,
        plane: usize,
        block: AckBlock,
        now: u64,
        out: &mut Transmit,
    ) {
        let mut blocks = ArrayVec::new();
        blocks.push(block);
        self.emit_ack_of(core, kind, plane, blocks, now, out);
    }

    /// Fills an ACK of these blocks that leaves by the next return path of `plane`.
    pub(super) fn emit_ack_of(
        &mut self,
        core: &mut Core,
        kind: PacketType,
        plane: usize,
        blocks: ArrayVec<AckBlock, { crate::wire::BLOCKS_MAX }>,
        now: u64,
        out: &mut Transmit,
    ) {
        let mask = self.planes[plane].peer_return_mask;
        let every = core.config.ack.return_test_every;
        let k = self.planes[plane]
            .ack
            .return_path(mask, self.settled.paths_per_plane, every);
        let path = plane * self.per_plane() + usize::from(k);
        let ack = Ack {
            kind,
            flags: Flags(0),
            incarnation: self.peer_incarnation,
            connection: self.peer,
            return_path: self.path_id(path),
            share: core.share.granted(now),
            sent: Some(wire_time(now)),
            blocks,
        };
        self.address(plane, path, Packet::Ack(ack), out);
    }

    /// A common header to the peer for `path`, without PSN, epoch, ordinal or time.
    pub(super) fn common(&self, kind: PacketType, path: usize) -> Common {
        Common {
            incarnation: self.peer_incarnation,
            connection: self.peer,
            path: self.path_id(path),
            ..Common::new(kind)
        }
    }

    /// Addresses a packet without payload to the peer's port of `plane`, with the entropy of `path`.
    pub(super) fn address(&self, plane: usize, path: usize, packet: Packet, out: &mut Transmit) {
        out.plane = plane as u8;
        out.destination = self.peer_planes[plane];
        out.entropy = self.marks[path].entropy;
        out.packet = packet;
        out.payload = Payload::None;
    }
}
