//! A peer that says anything: packets with random fields never panic, write outside of registered memory or
//! leave a connection that hangs.

use super::pair::{BASE, CONNECTION, Chance, Fate, Pair, address, config};
use crate::endpoint::*;
use crate::wire::{
    Ack, Common, Data, Epoch, Flags, Incarnation, Nack, NackReason, Operation, Ordinal, PacketType,
    PathId, Probe, Psn,
};
use arrayvec::ArrayVec;

const LENGTH: usize = 64 << 10;

/// A small number, or one near the end of its range.
fn pick(chance: &mut Chance, range: u64) -> u64 {
    match chance.below(8) {
        0 => chance.below(range),
        1 => range - 1 - chance.below(3),
        2 => chance.below(300) % range,
        _ => chance.below(20) % range,
    }
}

fn common(chance: &mut Chance, kind: PacketType) -> Common {
    Common {
        kind,
        flags: Flags(chance.below(16) as u8),
        incarnation: Incarnation(8),
        connection: CONNECTION,
        path: PathId(pick(chance, 18) as u8),
        psn: Psn::new(pick(chance, 1 << 24) as u32),
        epoch: Epoch(pick(chance, 256) as u8 % 3),
        ordinal: Ordinal(pick(chance, 1 << 16) as u16),
        timestamp: chance.below(1 << 16) as u16,
    }
}

fn data(chance: &mut Chance, key: crate::wire::Key) -> Packet {
    let message_length = [0, 8, 16, 32, 4096, 9000, u32::MAX][chance.below(7) as usize];
    Packet::Data(Data {
        common: common(chance, PacketType::Data),
        address: match chance.below(3) {
            0 => BASE + chance.below(2 * LENGTH as u64),
            1 => u64::MAX - chance.below(5000),
            _ => pick(chance, 1 << 40),
        },
        key: crate::wire::Key(key.0 ^ u32::from(chance.below(4) == 0)),
        payload_length: [0, 8, 16, 32, 4096, u16::MAX][chance.below(6) as usize],
        operation: Operation::from_code(chance.below(9) as u8).expect("defined"),
        stream: pick(chance, 6) as u8,
        message: pick(chance, 1 << 16) as u16,
        return_mask: chance.below(1 << 16) as u16,
        message_length,
        offset: pick(chance, 1 << 32) as u32,
        immediate: 0,
    })
}

fn ack(chance: &mut Chance) -> Packet {
    let kind = if chance.below(4) == 0 {
        PacketType::FenceAck
    } else {
        PacketType::Ack
    };
    let mut blocks = ArrayVec::new();
    for _ in 0..1 + chance.below(4) {
        let common = common(chance, PacketType::Ack);
        let mut bitvector = crate::wire::Bitvector::new([64, 128][chance.below(8) as usize / 7]);
        for _ in 0..chance.below(6) {
            bitvector.toggle(Psn::new(chance.below(64) as u32));
        }
        blocks.push(crate::wire::AckBlock {
            path: common.path,
            epoch: common.epoch,
            cumulative: common.psn,
            flags: 0,
            ordinal: common.ordinal,
            timestamp: common.timestamp,
            delay: chance.below(1 << 16) as u16,
            marked: chance.below(1 << 16) as u16,
            received: chance.below(1 << 16) as u16,
            bitvector,
        });
    }
    Packet::Ack(Ack {
        kind,
        flags: Flags(0),
        incarnation: Incarnation(8),
        connection: CONNECTION,
        return_path: PathId(pick(chance, 18) as u8),
        share: chance.below(1 << 16) as u16,
        sent: (chance.below(4) > 0).then(|| chance.below(1 << 16) as u16),
        blocks,
    })
}

fn packet(chance: &mut Chance, key: crate::wire::Key) -> Packet {
    match chance.below(12) {
        0 => Packet::Nack(Nack {
            common: common(chance, PacketType::Nack),
            // The others end the connection at once: that is tested elsewhere.
            reason: [NackReason::NoReceiveRequest, NackReason::NoResource]
                [chance.below(2) as usize],
            stream: pick(chance, 6) as u8,
            message: pick(chance, 1 << 16) as u16,
            detail: chance.below(100),
        }),
        1 | 2 => {
            let kind = if chance.below(2) == 0 {
                PacketType::Fence
            } else {
                PacketType::Probe
            };
            Packet::Probe(Probe {
                common: common(chance, kind),
                return_mask: chance.below(1 << 16) as u16,
                train: chance.below(256) as u8,
                fenced_path: PathId(pick(chance, 18) as u8),
                fenced_epoch: Epoch(chance.below(3) as u8),
            })
        }
        3..7 => ack(chance),
        _ => data(chance, key),
    }
}

/// A pair whose end 1 has work and receive requests posted, and the key of the half of its memory that is
/// registered.
fn pair_at_work(seed: u64) -> (Pair, crate::wire::Key) {
    let congestion = [config::Congestion::default(), config::Congestion::Nscc][seed as usize % 2];
    let mut pair = Pair::with(
        seed,
        [0, 1].map(|end| Config {
            congestion,
            ..config(end, 2)
        }),
    );
    // The honest side does not learn that its name is abused: it goes on.
    pair.fate = Box::new(|_, _, out, _| match out.packet {
        Packet::Nack(_) | Packet::Control(_) => Fate::Drop,
        _ => Fate::Deliver,
    });
    let keys = pair.with_memory(2 * LENGTH);
    pair.ends[1].endpoint.deregister(keys[1]).unwrap();
    let key = pair.register(1, LENGTH as u64);
    for id in 0..20 {
        pair.receive(1, 0, id, 0, 9000);
        pair.write(1, id, 0, 0, 9000, keys[0]);
    }
    (pair, key)
}

#[test]
fn a_peer_that_says_anything_breaks_nothing() {
    for seed in 0..60 {
        let (mut pair, key) = pair_at_work(seed);
        let mut chance = Chance::new(seed);
        for _ in 0..3000 {
            let packet = packet(&mut chance, key);
            let plane = chance.below(2) as u8;
            let arrival = Arrival {
                plane,
                source: address(0, plane.into()),
                entropy: 0xc000,
                marked: chance.per_mille(100),
            };
            let payload = vec![1; packet.payload_len()];
            let (now, end) = (pair.now, &mut pair.ends[1]);
            end.endpoint
                .handle_packet(now, &arrival, &packet, &payload, &mut end.host);
            let pause = chance.below(3_000);
            pair.run_for(pause);
        }
        let outside = &pair.ends[1].host.placed[LENGTH..];
        assert!(outside.iter().all(|count| *count == 0), "seed {seed}");
        // It still ends: by completion or by an error.
        let now = pair.now;
        let _ = pair.ends[1].endpoint.close(now, CONNECTION);
        pair.run_for(20_000_000);
        let sends = pair.ends[1]
            .completions
            .iter()
            .filter(|c| c.side == Side::Send)
            .count();
        assert_eq!(sends, 20, "seed {seed}: each request completes once");
    }
}

/// A number near the true one.
fn near(chance: &mut Chance, value: u64) -> u64 {
    value.wrapping_add(chance.below(9)).wrapping_sub(4)
}

/// Changes one field of a packet a little.
fn distort(packet: &mut Packet, chance: &mut Chance) {
    match packet {
        Packet::Ack(ack) => {
            let count = ack.blocks.len() as u64;
            let block = &mut ack.blocks[chance.below(count) as usize];
            match chance.below(8) {
                0 => {
                    block.cumulative =
                        Psn::new(near(chance, block.cumulative.value().into()) as u32)
                }
                1 => block.ordinal = Ordinal(near(chance, block.ordinal.0.into()) as u16),
                2 => block.received = near(chance, block.received.into()) as u16,
                3 => block.marked = near(chance, block.marked.into()) as u16,
                4 => block.epoch = Epoch(near(chance, block.epoch.0.into()) as u8),
                5 => block
                    .bitvector
                    .toggle(block.cumulative.advance(chance.below(8) as u32)),
                6 => block.path = PathId(near(chance, block.path.0.into()) as u8),
                _ => ack.share = chance.below(1 << 16) as u16,
            }
        }
        Packet::Data(data) => match chance.below(8) {
            0 => data.common.psn = Psn::new(near(chance, data.common.psn.value().into()) as u32),
            1 => data.common.ordinal = Ordinal(near(chance, data.common.ordinal.0.into()) as u16),
            2 => data.common.path = PathId(near(chance, data.common.path.0.into()) as u8),
            3 => data.message = near(chance, data.message.into()) as u16,
            4 => data.offset = near(chance, data.offset.into()) as u32,
            5 => data.stream = chance.below(4) as u8,
            6 => data.message_length = near(chance, data.message_length.into()) as u32,
            _ => data.common.epoch = Epoch(near(chance, data.common.epoch.0.into()) as u8),
        },
        Packet::Probe(probe) => match chance.below(3) {
            0 => probe.common.ordinal = Ordinal(near(chance, probe.common.ordinal.0.into()) as u16),
            1 => probe.common.epoch = Epoch(near(chance, probe.common.epoch.0.into()) as u8),
            _ => probe.fenced_path = PathId(near(chance, probe.fenced_path.0.into()) as u8),
        },
        Packet::Nack(nack) => nack.reason = NackReason::NoReceiveRequest,
        Packet::Control(_) => {}
    }
}

#[test]
fn packets_that_lie_a_little_break_nothing_either() {
    for seed in 0..60 {
        let mut pair = Pair::new(seed, 2);
        let keys = [0, 1].map(|end| pair.register(end, 1 << 30));
        let mut chance = Chance::new(seed);
        let lies_per_mille = 1 + chance.below(200);
        pair.change = Box::new(move |packet| {
            if chance.per_mille(lies_per_mille) {
                distort(packet, &mut chance);
            }
            if let Packet::Nack(nack) = packet {
                // A refusal would end the game.
                nack.reason = NackReason::NoReceiveRequest;
            }
        });
        pair.fate = Box::new(move |now, _, out, chance| {
            let dead = out.plane == 1 && now > 100_000;
            if dead || chance.per_mille(30) {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        });
        for id in 0..40 {
            for end in 0..2 {
                pair.write(end, id, (id % 4) as u8, 0, 100_000, keys[1 - end]);
            }
        }
        pair.run_for(2_000_000);
        for end in 0..2 {
            let now = pair.now;
            let _ = pair.ends[end].endpoint.close(now, CONNECTION);
        }
        pair.run_for(20_000_000);
        for end in 0..2 {
            assert_eq!(
                pair.ends[end].completions.len(),
                40,
                "seed {seed}: each completes once"
            );
        }
    }
}
