//! Receivers that are not ready: one stream waits, the others go on, nothing is lost or done twice.

use super::pair::{BASE, Fate, Pair, config};
use crate::endpoint::*;

const KIB: u32 = 1024;

#[test]
fn a_receiver_that_is_not_ready_delays_its_stream_alone() {
    let mut pair = Pair::new(2, 2);
    let keys = pair.with_memory(1 << 20);
    pair.ask(
        0,
        1,
        1,
        WorkOperation::Send {
            local: BASE,
            length: 100 * KIB,
        },
    );
    pair.ask(
        0,
        1,
        2,
        WorkOperation::Send {
            local: BASE,
            length: 10,
        },
    );
    for id in 10..20 {
        pair.write(0, id, 0, 1 << 19, 40 * KIB, keys[1]);
    }
    pair.run_until_completed(0, 10, 1_000_000);
    assert!(
        pair.statuses(0)
            .iter()
            .all(|(id, status)| *id >= 10 && *status == Status::Ok)
    );
    pair.run_for(500_000);
    assert!(pair.count(0, Counter::Holds) > 10);
    assert_eq!(pair.count(0, Counter::Condemned), 0);
    assert!(
        pair.ends[1].host.placed[..1 << 19]
            .iter()
            .all(|count| *count == 0)
    );
    pair.receive(1, 1, 7, 0, 100 * KIB);
    pair.receive(1, 1, 8, 200_000, 100);
    pair.run_until_completed(1, 2, 200_000);
    pair.run_until_completed(0, 12, 200_000);
    assert_eq!(pair.statuses(1), [(7, Status::Ok), (8, Status::Ok)]);
    assert_eq!(
        pair.ends[1].host.bytes[..1000],
        pair.ends[0].host.bytes[..1000]
    );
}

#[test]
fn not_ready_for_ever_ends_in_an_error_where_that_is_wanted() {
    let with = |end| Config {
        rnr_retries_max: 5,
        ..config(end, 1)
    };
    let mut pair = Pair::with(3, [with(0), with(1)]);
    pair.with_memory(4096);
    pair.ask(
        0,
        0,
        1,
        WorkOperation::Send {
            local: BASE,
            length: 10,
        },
    );
    pair.run_until_completed(0, 1, 10_000_000);
    assert_eq!(pair.statuses(0), [(1, Status::ReceiverNotReady)]);
}

#[test]
fn not_ready_under_loss_and_a_dead_plane() {
    for seed in 0..6 {
        let mut pair = Pair::new(seed, 2);
        let keys = pair.with_memory(1 << 20);
        pair.fate = Box::new(|now, _, out, chance| {
            let dead = out.plane == 1 && now > 60_000;
            if dead || chance.per_mille(50) {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        });
        for id in 0..8 {
            pair.ask(
                0,
                1,
                id,
                WorkOperation::Send {
                    local: BASE + (id << 16),
                    length: 60 * KIB,
                },
            );
            pair.write(0, 100 + id, 0, (id + 8) << 16, 60 * KIB, keys[1]);
        }
        for id in 0..8 {
            pair.run_for(100_000);
            pair.receive(1, 1, id, id << 16, 64 * KIB);
        }
        pair.run_until_completed(1, 8, 20_000_000);
        pair.run_until_completed(0, 16, 20_000_000);
        assert!(
            pair.statuses(0)
                .iter()
                .all(|(_, status)| *status == Status::Ok)
        );
        for id in 0..16 {
            let range = id << 16..(id << 16) + 60 * 1024;
            assert!(
                pair.ends[1].host.placed[range.clone()]
                    .iter()
                    .all(|count| *count == 1)
            );
            assert_eq!(
                pair.ends[1].host.bytes[range.clone()],
                pair.ends[0].host.bytes[range]
            );
        }
    }
}

#[test]
fn immediates_that_the_host_does_not_take_hold_the_sender() {
    let with = |end| Config {
        receive_requests_max: 4,
        slots: 4,
        ..config(end, 1)
    };
    let mut pair = Pair::with(11, [with(0), with(1)]);
    let keys = pair.with_memory(4096);
    for id in 0..20 {
        let operation = WorkOperation::WriteImm {
            local: BASE,
            length: 8,
            remote: BASE,
            key: keys[1],
            immediate: id,
        };
        pair.ask(0, 0, id.into(), operation);
    }
    // At first the oldest would be kept out for ever by later ones that had taken the room.
    pair.take_completions = [true, false];
    pair.run_for(300_000);
    assert!(pair.ends[0].completions.len() <= 8);
    assert!(pair.count(0, Counter::Holds) > 3);
    pair.take_completions = [true, true];
    pair.run_until_completed(1, 20, 5_000_000);
    let values: Vec<_> = pair.ends[1]
        .completions
        .iter()
        .map(|c| c.immediate)
        .collect();
    assert_eq!(values, (0..20).map(Some).collect::<Vec<_>>());
}
