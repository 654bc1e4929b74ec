//! Failures met in the field, as inputs to two endpoints. Those that belong to one mechanism stand beside it.

use super::pair::{BASE, CONNECTION, Fate, Pair, address, config};
use crate::endpoint::*;
use crate::wire::{
    Ack, AckBlock, Bitvector, ConnectionId, Epoch, Flags, Incarnation, Ordinal, PacketType, PathId,
    Psn,
};
use arrayvec::ArrayVec;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

fn one_path(end: usize) -> Config {
    Config {
        paths_per_plane: 1,
        ..config(end, 1)
    }
}

fn arrival(end: usize) -> Arrival {
    Arrival {
        plane: 0,
        source: address(end, 0),
        entropy: 0xc000,
        marked: false,
    }
}

impl Pair {
    /// Hands a packet to an end, as if it had come from the other.
    fn inject(&mut self, to: usize, packet: &Packet, payload: &[u8]) {
        let (now, end) = (self.now, &mut self.ends[to]);
        end.endpoint
            .handle_packet(now, &arrival(1 - to), packet, payload, &mut end.host);
    }
}

#[test]
fn field_case_14_a_lost_ack_and_duplicates_do_not_livelock() {
    let mut pair = Pair::with(1, [one_path(0), one_path(1)]);
    let keys = pair.with_memory(4 * 4096);
    let sent: Rc<RefCell<Vec<Packet>>> = Rc::default();
    let log = sent.clone();
    pair.fate = Box::new(move |now, from, out, _| {
        if from == 0 && matches!(out.packet, Packet::Data(_)) {
            log.borrow_mut().push(out.packet.clone());
        }
        if from == 1 && now < 9_000 {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pair.write(0, 1, 0, 0, 4 * 4096, keys[1]);
    pair.run_until_completed(0, 1, 1_000_000);
    pair.run_for(100_000);
    let packets = sent.take();
    assert_eq!(
        packets.len(),
        4,
        "a probe brought the ACK, nothing was sent twice"
    );
    let (acks, placements) = (
        pair.count(1, Counter::SentAcks),
        pair.ends[1].host.placements,
    );
    for (n, packet) in packets.iter().enumerate() {
        pair.inject(1, packet, &[0xee; 4096]);
        pair.run_for(1_000);
        assert_eq!(
            pair.count(1, Counter::SentAcks),
            acks + n as u64 + 1,
            "each is answered"
        );
    }
    assert_eq!(
        pair.ends[1].host.placements, placements,
        "memory is not written again"
    );
    pair.run_for(1_000_000);
    assert_eq!(pair.ends[0].completions.len(), 1);
}

#[test]
fn field_case_17_a_sender_stops_at_the_window_and_a_receiver_drops_beyond() {
    // No timer interferes: a probe would make the path suspect.
    let probe = config::ProbeConfig {
        timer_ns: 1_000_000,
        ..Default::default()
    };
    let with = |end| Config {
        start_window_per_mille: 100_000,
        probe,
        ..one_path(end)
    };
    let mut pair = Pair::with(2, [with(0), with(1)]);
    let keys = pair.with_memory(66 * 4096);
    let sent: Rc<RefCell<Vec<Packet>>> = Rc::default();
    let (log, open) = (sent.clone(), Rc::new(Cell::new(false)));
    let gate = open.clone();
    pair.fate = Box::new(move |_, from, out, _| match &out.packet {
        Packet::Data(_) if from == 0 => {
            log.borrow_mut().push(out.packet.clone());
            // The first packet is lost: the window cannot move.
            if log.borrow().len() == 1 {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        }
        _ if from == 1 && !gate.get() => Fate::Drop,
        _ => Fate::Deliver,
    });
    pair.write(0, 1, 0, 0, 66 * 4096, keys[1]);
    pair.run_for(100_000);
    assert_eq!(sent.borrow().len(), 64, "W packets, and not one more");
    // A sender without a limit: the receiver has a counter for it.
    let Packet::Data(mut beyond) = sent.borrow()[63].clone() else {
        panic!("data");
    };
    beyond.common.psn = Psn::new(64);
    let placements = pair.ends[1].host.placements;
    pair.inject(1, &Packet::Data(beyond), &[0; 4096]);
    assert_eq!(pair.count(1, Counter::DropWindow), 1);
    assert_eq!(pair.ends[1].host.placements, placements);
    open.set(true);
    pair.run_until_completed(0, 1, 10_000_000);
    assert_eq!(pair.count(0, Counter::Resends), 1);
    assert!(pair.ends[0].host.bytes == pair.ends[1].host.bytes);
}

/// An ACK of path 0, epoch 0, of a vector that is all zero.
fn ack(cumulative: u32, ordinal: u16, received: u16) -> Ack {
    let block = AckBlock {
        path: PathId(0),
        epoch: Epoch(0),
        cumulative: Psn::new(cumulative),
        flags: 0,
        ordinal: Ordinal(ordinal),
        timestamp: 0,
        delay: 0,
        marked: 0,
        received,
        bitvector: Bitvector::new(64),
    };
    Ack {
        kind: PacketType::Ack,
        flags: Flags(0),
        incarnation: Incarnation(7),
        connection: CONNECTION,
        return_path: PathId(0),
        share: u16::MAX,
        sent: None,
        blocks: ArrayVec::from_iter([block]),
    }
}

#[test]
fn field_case_20_empty_repeated_and_impossible_acks() {
    let mut pair = Pair::with(3, [one_path(0), one_path(1)]);
    let keys = pair.with_memory(8 * 4096);
    let inject = |pair: &mut Pair, ack: Ack| pair.inject(0, &Packet::Ack(ack), &[]);
    // Nothing is in flight: an ACK of anything is impossible.
    inject(&mut pair, ack(0, 0, 0));
    assert_eq!(pair.count(0, Counter::DropAckInvalid), 1);
    pair.fate = Box::new(|_, _, _, _| Fate::Drop);
    pair.write(0, 1, 0, 0, 8 * 4096, keys[1]);
    pair.run_for(3_000);
    assert_eq!(pair.count(0, Counter::SentData), 8);
    // Numbers that were never sent, as cumulative PSN, as ordinal, in the vector.
    inject(&mut pair, ack(9, 3, 0));
    inject(&mut pair, ack(1, 900, 0));
    let mut vector = ack(1, 3, 1);
    vector.blocks[0].bitvector.toggle(Psn::new(0));
    vector.blocks[0].bitvector.toggle(Psn::new(40));
    inject(&mut pair, vector);
    assert_eq!(pair.count(0, Counter::DropAckInvalid), 4);
    assert_eq!(pair.count(0, Counter::Losses), 0, "they change nothing");
    // The same hole three times in a round trip: packet 0 is lost, 1 has come.
    let mut hole = ack(0, 1, 1);
    hole.blocks[0].bitvector.toggle(Psn::new(1));
    for _ in 0..3 {
        inject(&mut pair, hole.clone());
    }
    pair.run_for(1_000);
    assert_eq!(
        (
            pair.count(0, Counter::Losses),
            pair.count(0, Counter::Resends)
        ),
        (1, 1)
    );
    assert_eq!(pair.count(0, Counter::OldBlocks), 2);
    // An empty vector under the same echo takes nothing back and declares nothing lost.
    inject(&mut pair, ack(0, 1, 0));
    assert_eq!(pair.count(0, Counter::Losses), 1);
    pair.fate = Box::new(|_, _, _, _| Fate::Deliver);
    pair.ends[1].host.placed.fill(0);
    pair.run_for(1_000_000);
    // End 1 has never seen packet 1, which the forged ACK claimed: the message is incomplete there.
    assert_eq!(
        pair.ends[1].host.placed.iter().filter(|n| **n == 0).count(),
        4096
    );
    assert_eq!(pair.ends[0].completions.len(), 1);
    // All is acknowledged: one more of the same is old.
    let old = pair.count(0, Counter::OldBlocks);
    inject(&mut pair, hole);
    assert_eq!(pair.count(0, Counter::OldBlocks), old + 1);
}

#[test]
fn field_case_25_a_late_path_is_not_a_lossy_one() {
    let with = |end| Config {
        paths_per_plane: 4,
        ..config(end, 1)
    };
    for lose in [false, true] {
        let mut pair = Pair::with(4, [with(0), with(1)]);
        let keys = pair.with_memory(64 * 4096);
        let entropies: Rc<RefCell<BTreeSet<u16>>> = Rc::default();
        let (seen, lost) = (entropies.clone(), Cell::new(!lose));
        pair.fate = Box::new(move |_, from, out, _| {
            let (path, psn) = match &out.packet {
                Packet::Data(data) => (data.common.path, Some(data.common.psn.value())),
                Packet::Probe(probe) => (probe.common.path, None),
                _ => return Fate::Deliver,
            };
            seen.borrow_mut().insert(out.entropy);
            match path {
                PathId(2) if psn == Some(3) && !lost.replace(true) => Fate::Drop,
                // 16 packet times late, all of the path.
                PathId(3) if from == 0 => Fate::Late(16 * 336),
                _ => Fate::Deliver,
            }
        });
        pair.write(0, 1, 0, 0, 64 * 4096, keys[1]);
        pair.run_until_completed(0, 1, 1_000_000);
        assert_eq!(pair.count(0, Counter::Resends), u64::from(lose));
        assert_eq!(pair.count(1, Counter::Duplicate), 0);
        assert!(
            entropies.borrow().len() >= 4,
            "each path has an entropy of its own"
        );
    }
}

#[test]
fn field_case_31_no_byte_is_written_after_deregistration_returns() {
    let mut pair = Pair::new(5, 1);
    let keys = pair.with_memory(8 * 4096);
    pair.write(0, 1, 0, 0, 8 * 4096, keys[1]);
    while pair.ends[1].host.placements < 3 {
        assert!(pair.step(1_000_000));
    }
    pair.ends[1].endpoint.deregister(keys[1]).unwrap();
    let again = pair.register(1, 8 * 4096);
    assert_eq!(again.index(), keys[1].index(), "the same slot");
    let placements = pair.ends[1].host.placements;
    pair.run_until_completed(0, 1, 1_000_000);
    assert_eq!(pair.ends[0].completions[0].status, Status::RemoteAccess);
    assert_eq!(pair.ends[1].host.placements, placements);
    assert!(pair.count(1, Counter::DropKey) > 0);
}

#[test]
fn packets_for_nobody_are_counted_and_change_nothing() {
    let mut pair = Pair::new(6, 1);
    let keys = pair.with_memory(4096);
    let sent: Rc<RefCell<Vec<Packet>>> = Rc::default();
    let log = sent.clone();
    pair.fate = Box::new(move |_, from, out, _| {
        if from == 0 {
            log.borrow_mut().push(out.packet.clone());
        }
        Fate::Drop
    });
    pair.write(0, 1, 0, 0, 4096, keys[1]);
    pair.run_for(1_000);
    let Packet::Data(good) = sent.borrow()[0].clone() else {
        panic!("data");
    };
    let mut bad = [good; 7];
    bad[0].common.connection = ConnectionId::new(2);
    bad[1].common.incarnation = Incarnation(0x55);
    bad[2].common.path = PathId(9);
    bad[3].stream = 200;
    bad[4].offset = u32::MAX;
    bad[5].common.epoch = Epoch(1);
    bad[6].message = 64;
    let reasons = [
        Counter::DropConnection,
        Counter::DropIncarnation,
        Counter::DropPath,
        Counter::DropOperation,
        Counter::DropMessageBounds,
        Counter::DropEpoch,
        Counter::DropMessageSlot,
    ];
    for (data, reason) in bad.iter().zip(reasons) {
        pair.inject(1, &Packet::Data(*data), &[0; 4096]);
        assert_eq!(pair.count(1, reason), 1, "{reason:?}");
    }
    assert_eq!(pair.ends[1].host.placements, 0);
    let operation = WorkOperation::Write {
        local: BASE,
        length: 1,
        remote: BASE,
        key: keys[1],
    };
    let request = WorkRequest { id: 1, operation };
    let refused = PostError::Stream {
        stream: 4,
        streams: 4,
    };
    assert_eq!(pair.post(0, 4, request), Err(refused));
}

#[test]
fn field_case_17_a_hole_stops_the_sender_a_window_further() {
    let probe = config::ProbeConfig {
        timer_ns: 1_000_000,
        ..Default::default()
    };
    let with = |end| Config {
        probe,
        ..one_path(end)
    };
    let mut pair = Pair::with(7, [with(0), with(1)]);
    let keys = pair.with_memory(200 * 4096);
    let open = Rc::new(Cell::new(false));
    let (gate, highest) = (open.clone(), Rc::new(Cell::new(0)));
    let seen = highest.clone();
    pair.fate = Box::new(move |_, _, out, _| match &out.packet {
        Packet::Data(data) => {
            seen.set(seen.get().max(data.common.psn.value()));
            // The first one is lost again and again; all others arrive and are acknowledged.
            if data.common.psn.value() == 0 && !gate.get() {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        }
        _ => Fate::Deliver,
    });
    pair.write(0, 1, 0, 0, 200 * 4096, keys[1]);
    pair.run_for(500_000);
    assert_eq!(
        highest.get(),
        63,
        "not a PSN at or beyond the cumulative one + W"
    );
    assert_eq!(pair.count(1, Counter::DropWindow), 0);
    open.set(true);
    pair.run_until_completed(0, 1, 10_000_000);
    assert!(pair.ends[0].host.bytes == pair.ends[1].host.bytes);
}

#[test]
fn a_gap_is_acknowledged_at_once() {
    let ack = config::AckConfig {
        delay_ns: 500_000,
        every_packets: 64,
        ..Default::default()
    };
    let with = |end| Config {
        ack,
        ..one_path(end)
    };
    let mut pair = Pair::with(8, [with(0), with(1)]);
    let keys = pair.with_memory(1 << 20);
    pair.fate = Box::new(|_, _, out, _| match &out.packet {
        Packet::Data(data) if data.common.ordinal == Ordinal(3) => Fate::Drop,
        Packet::Probe(_) => Fate::Drop,
        _ => Fate::Deliver,
    });
    pair.write(0, 1, 0, 0, 1 << 20, keys[1]);
    // The first packet asks for an ACK; packet 4 shows the gap after 5 packet times and the way.
    pair.run_for(7_000);
    assert_eq!(pair.count(1, Counter::SentAcks), 2);
    pair.run_for(5_000);
    assert_eq!(pair.count(0, Counter::Losses), 1);
}

#[test]
fn a_receive_request_is_filled_once() {
    let mut pair = Pair::new(9, 1);
    pair.with_memory(65536);
    for id in 0..2 {
        let (now, address) = (pair.now, BASE + 8192 * id);
        let request = ReceiveRequest {
            id,
            address,
            length: 8192,
        };
        pair.ends[1]
            .endpoint
            .post_receive(now, CONNECTION, 0, request)
            .unwrap();
    }
    // Two SENDs claim the same request; the second one is a lie.
    pair.change = Box::new(|packet| {
        if let Packet::Data(data) = packet {
            data.address = 0;
        }
    });
    // The end of the first is late, so that the second is there before anything is delivered.
    pair.fate = Box::new(|_, _, out, _| match &out.packet {
        Packet::Data(data) if data.message == 0 && data.offset > 0 => Fate::Late(5_000),
        _ => Fate::Deliver,
    });
    for (id, length) in [(0, 8192), (1, 100)] {
        pair.ask(
            0,
            0,
            id,
            WorkOperation::Send {
                local: BASE,
                length,
            },
        );
    }
    pair.run_for(1_000_000);
    let found: Vec<_> = pair.ends[1]
        .completions
        .iter()
        .map(|c| (c.id, c.status))
        .collect();
    assert_eq!(found[0], (0, Status::Ok));
    assert_eq!(
        found[1..],
        [(1, Status::Flushed)],
        "no second one is filled by it"
    );
    assert!(
        pair.statuses(0)
            .iter()
            .any(|(_, status)| *status == Status::RemoteInvalid)
    );
}

#[test]
fn a_packet_that_was_only_late_is_not_sent_again() {
    let mut pair = Pair::with(10, [one_path(0), one_path(1)]);
    let keys = pair.with_memory(3 * 4096);
    pair.fate = Box::new(|_, _, _, _| Fate::Drop);
    pair.write(0, 1, 0, 0, 3 * 4096, keys[1]);
    pair.run_for(1_100);
    assert_eq!(pair.count(0, Counter::SentData), 3);
    let mut overtaken = ack(1, 2, 2);
    for psn in [0, 2] {
        overtaken.blocks[0].bitvector.toggle(Psn::new(psn));
    }
    let mut whole = ack(3, 2, 3);
    for psn in 0..3 {
        whole.blocks[0].bitvector.toggle(Psn::new(psn));
    }
    // The same echo, one packet more; both come before the resend has left.
    pair.inject(0, &Packet::Ack(overtaken), &[]);
    pair.inject(0, &Packet::Ack(whole), &[]);
    pair.run_for(100_000);
    assert_eq!(
        (
            pair.count(0, Counter::Losses),
            pair.count(0, Counter::Resends)
        ),
        (1, 0)
    );
    assert_eq!(pair.ends[0].completions.len(), 1);
}
