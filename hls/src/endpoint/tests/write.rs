//! WRITEs over planes that lose nothing: every byte once, completions in order, the line well filled.

use super::pair::{BASE, CONNECTION, Fate, Pair, config};
use crate::endpoint::*;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

fn assert_written(pair: &Pair, range: std::ops::Range<usize>) {
    let (from, to) = (&pair.ends[0].host, &pair.ends[1].host);
    assert_eq!(from.bytes[range.clone()], to.bytes[range.clone()]);
    assert!(
        to.placed[range].iter().all(|count| *count == 1),
        "every byte once"
    );
}

#[test]
fn a_write_places_every_byte_once_and_completes() {
    let mut pair = Pair::new(1, 2);
    let keys = pair.with_memory(1 << 20);
    pair.write(0, 77, 0, 0, 1 << 20, keys[1]);
    pair.run_until_completed(0, 1, 1_000_000);
    assert_written(&pair, 0..1 << 20);
    let done = pair.ends[0].completions[0];
    assert_eq!(
        (done.id, done.status, done.length),
        (77, Status::Ok, 1 << 20)
    );
    assert_eq!(pair.count(0, Counter::SentData), 256);
    assert_eq!(pair.count(0, Counter::Resends), 0);
    assert_eq!(
        pair.ends[1].completions.len(),
        0,
        "a WRITE is silent at the receiver"
    );
}

#[test]
fn lengths_around_the_mtu_and_nothing_at_all() {
    for length in [0, 1, 4095, 4096, 4097, 8192, 8193] {
        let mut pair = Pair::new(2, 1);
        let keys = pair.with_memory(16384);
        pair.write(0, 1, 0, 3, length, keys[1]);
        pair.run_until_completed(0, 1, 1_000_000);
        assert_written(&pair, 3..3 + length as usize);
        let guard = |range: std::ops::Range<usize>| {
            assert!(
                pair.ends[1].host.placed[range]
                    .iter()
                    .all(|count| *count == 0)
            );
        };
        guard(0..3);
        guard(3 + length as usize..16384);
        assert_eq!(
            pair.count(0, Counter::SentData),
            u64::from(length.div_ceil(4096).max(1))
        );
    }
}

#[test]
fn completions_come_in_order_in_each_stream() {
    let mut pair = Pair::new(3, 2);
    let keys = pair.with_memory(1 << 20);
    pair.lose(50);
    for id in 0..200_u64 {
        pair.write(
            0,
            id,
            (id % 4) as u8,
            id * 5000,
            1 + (id as u32 * 997) % 5000,
            keys[1],
        );
    }
    pair.run_until_completed(0, 200, 50_000_000);
    for stream in 0..4 {
        let of_stream: Vec<_> = pair.ends[0]
            .completions
            .iter()
            .filter(|c| c.stream == stream)
            .collect();
        assert_eq!(of_stream.len(), 50);
        for (n, completion) in of_stream.iter().enumerate() {
            assert_eq!(completion.id, n as u64 * 4 + u64::from(stream));
            assert_eq!(usize::from(completion.message), n);
            assert_eq!(completion.status, Status::Ok);
        }
    }
}

#[test]
fn both_directions_at_once() {
    let mut pair = Pair::new(4, 2);
    let keys = pair.with_memory(1 << 20);
    pair.write(0, 1, 0, 0, 1 << 19, keys[1]);
    pair.write(1, 2, 0, 1 << 19, 1 << 19, keys[0]);
    pair.run_until_completed(0, 1, 1_000_000);
    pair.run_until_completed(1, 1, 1_000_000);
    assert_eq!(pair.ends[0].host.bytes, pair.ends[1].host.bytes);
}

#[test]
fn a_long_write_fills_the_line() {
    for planes in [1, 2, 4] {
        let mut pair = Pair::new(5, planes);
        let keys = [0, 1].map(|end| pair.register(end, 1 << 30));
        let length = 20_000_000 * planes as u32;
        pair.write(0, 1, 0, 0, length, keys[1]);
        pair.run_until_completed(0, 1, 10_000_000);
        let line = f64::from(length) * 8.0 / (planes as f64 * 100.0) / pair.now as f64;
        println!("{planes} planes: {line:.4} of the line at {} ns", pair.now);
        assert!(line > 0.95, "{line}");
        assert_eq!(pair.count(0, Counter::Resends), 0);
        let per_ack =
            pair.count(0, Counter::SentData) as f64 / pair.count(1, Counter::SentAcks) as f64;
        assert!(
            (3.8..4.0).contains(&per_ack),
            "an ACK for 4 packets: {per_ack}"
        );
    }
}

#[test]
fn an_ack_leaves_on_the_fourth_packet() {
    let mut pair = Pair::with(
        15,
        [0, 1].map(|end| Config {
            paths_per_plane: 1,
            ..config(end, 1)
        }),
    );
    let keys = [0, 1].map(|end| pair.register(end, 1 << 30));
    pair.write(0, 1, 0, 0, 20_000_000, keys[1]);
    pair.run_until_completed(0, 1, 10_000_000);
    let (data, acks) = (
        pair.count(0, Counter::SentData),
        pair.count(1, Counter::SentAcks),
    );
    assert!(
        (data / 4..data / 4 + 10).contains(&acks),
        "{acks} ACKs for {data} packets"
    );
}

#[test]
fn the_other_kernel_fills_the_line_too() {
    let with = |end| Config {
        congestion: config::Congestion::Nscc,
        ..config(end, 1)
    };
    let mut pair = Pair::with(12, [with(0), with(1)]);
    let keys = [0, 1].map(|end| pair.register(end, 1 << 30));
    pair.write(0, 1, 0, 0, 20_000_000, keys[1]);
    pair.run_until_completed(0, 1, 10_000_000);
    let line = 20_000_000.0 * 8.0 / 100.0 / pair.now as f64;
    assert!(line > 0.95, "{line}");
}

/// Packets that a sender gets away in a millisecond when the receiver grants a 65535th of the line.
fn sent_with_the_least_share() -> u64 {
    let mut pair = Pair::new(13, 1);
    let keys = [0, 1].map(|end| pair.register(end, 1 << 30));
    pair.change = Box::new(|packet| {
        if let Packet::Ack(ack) = packet {
            ack.share = 1;
        }
    });
    pair.write(0, 1, 0, 0, 100_000_000, keys[1]);
    pair.run_for(1_000_000);
    let before = pair.count(0, Counter::SentData);
    pair.run_for(1_000_000);
    pair.count(0, Counter::SentData) - before
}

#[test]
fn a_window_below_one_packet_is_paced() {
    assert!(sent_with_the_least_share() <= 1);
}

#[test]
fn a_paced_sender_goes_on_when_the_share_comes_back() {
    let mut pair = Pair::new(14, 1);
    let keys = [0, 1].map(|end| pair.register(end, 1 << 30));
    let mut acks = 0;
    pair.change = Box::new(move |packet| {
        if let Packet::Ack(ack) = packet {
            acks += 1;
            // A tenth of a packet for a while: ten round trips from one to the next.
            ack.share = if acks < 40 { 100 } else { u16::MAX };
        }
    });
    pair.write(0, 1, 0, 0, 2_000_000, keys[1]);
    pair.run_for(400_000);
    assert!(
        pair.count(0, Counter::SentData) < 100,
        "{}",
        pair.count(0, Counter::SentData)
    );
    pair.run_until_completed(0, 1, 5_000_000);
}

#[test]
fn every_path_is_used_with_an_entropy_of_its_own() {
    let seen = Rc::new(RefCell::new(BTreeSet::new()));
    let mut pair = Pair::with(
        6,
        [0, 1].map(|end| Config {
            paths_per_plane: 16,
            ..config(end, 2)
        }),
    );
    let keys = [0, 1].map(|end| pair.register(end, 1 << 30));
    let log = seen.clone();
    pair.fate = Box::new(move |_, from, out, _| {
        if let (0, Packet::Data(data)) = (from, &out.packet) {
            log.borrow_mut().insert((data.common.path.0, out.entropy));
        }
        Fate::Deliver
    });
    pair.write(0, 1, 0, 0, 1 << 20, keys[1]);
    pair.run_until_completed(0, 1, 1_000_000);
    let paths: BTreeSet<u8> = seen.borrow().iter().map(|(path, _)| *path).collect();
    assert_eq!(
        paths,
        (0..32).collect(),
        "path = plane x 16 + k when a plane has more than 8"
    );
    let entropies: BTreeSet<u16> = seen.borrow().iter().map(|(_, entropy)| *entropy).collect();
    assert!(entropies.len() >= 31, "{entropies:?}");
}

/// Sum of the windows of a plane's 8 paths, in packets, after 300 us with `fate` for some data packets.
fn windows_under(fate: Fate, per_mille: u64) -> u32 {
    let mut pair = Pair::new(7, 1);
    let keys = [0, 1].map(|end| pair.register(end, 1 << 30));
    pair.fate = Box::new(move |_, from, out, chance| match out.packet {
        Packet::Data(_) if from == 0 && chance.per_mille(per_mille) => fate,
        _ => Fate::Deliver,
    });
    pair.write(0, 1, 0, 0, 20_000_000, keys[1]);
    pair.run_for(300_000);
    let window = |k| {
        let path = crate::wire::PathId(k);
        pair.ends[0]
            .endpoint
            .path_telemetry(CONNECTION, path)
            .unwrap()
            .window_q10
    };
    (0..8).map(window).sum::<u32>() >> 10
}

#[test]
fn marks_shrink_windows_and_losses_do_not() {
    let start = windows_under(Fate::Deliver, 0);
    assert!(windows_under(Fate::Mark, 950) < start / 2);
    assert!(windows_under(Fate::Drop, 100) >= start);
}

#[test]
fn a_refused_key_ends_the_connection_and_names_the_request() {
    let mut pair = Pair::new(8, 1);
    let keys = pair.with_memory(65536);
    pair.write(0, 1, 0, 0, 4096, keys[1]);
    pair.run_until_completed(0, 1, 1_000_000);
    pair.ends[1].endpoint.deregister(keys[1]).unwrap();
    for id in 2..6 {
        pair.write(0, id, 0, 8192, 8192, keys[1]);
    }
    pair.run_until_completed(0, 5, 1_000_000);
    let found: Vec<_> = pair.ends[0]
        .completions
        .iter()
        .map(|c| (c.id, c.status))
        .collect();
    let flushed = Status::Flushed;
    assert_eq!(found[..2], [(1, Status::Ok), (2, Status::RemoteAccess)]);
    assert_eq!(found[2..], [(3, flushed), (4, flushed), (5, flushed)]);
    assert!(
        pair.ends[1].host.placed[8192..16384]
            .iter()
            .all(|count| *count == 0)
    );
    let refused = WorkRequest {
        id: 9,
        operation: WorkOperation::Write {
            local: BASE,
            length: 1,
            remote: BASE,
            key: keys[1],
        },
    };
    assert_eq!(
        pair.post(0, 0, refused),
        Err(PostError::NotEstablished(CONNECTION))
    );
}
