//! SEND, READ, atomics, immediates: order within a stream, independence of streams, receivers that are not ready.

use super::pair::{BASE, Fate, Pair, config};
use crate::endpoint::*;
use crate::wire::{Key, Operation};

const KIB: u32 = 1024;

#[test]
fn sends_fill_receive_requests_in_order_under_loss() {
    for seed in 0..4 {
        let mut pair = Pair::new(seed, 2);
        pair.with_memory(1 << 20);
        pair.lose(50);
        for id in 0..32 {
            pair.receive(1, 1, 100 + id, 32768 * id, 32768);
        }
        for id in 0..32_u64 {
            let (local, length) = (BASE + 32768 * id, 1000 * id as u32);
            let operation = if id % 2 == 0 {
                WorkOperation::Send { local, length }
            } else {
                WorkOperation::SendImm {
                    local,
                    length,
                    immediate: id as u32,
                }
            };
            pair.ask(0, 1, id, operation);
        }
        pair.run_until_completed(1, 32, 50_000_000);
        pair.run_until_completed(0, 32, 50_000_000);
        for (n, completion) in pair.ends[1].completions.iter().enumerate() {
            assert_eq!(
                (completion.id, completion.side),
                (100 + n as u64, Side::Receive)
            );
            assert_eq!(
                (completion.status, completion.length),
                (Status::Ok, 1000 * n as u32)
            );
            assert_eq!(completion.immediate, (n % 2 == 1).then_some(n as u32));
            let range = 32768 * n..32768 * n + 1000 * n;
            assert_eq!(
                pair.ends[1].host.bytes[range.clone()],
                pair.ends[0].host.bytes[range]
            );
        }
    }
}

#[test]
fn payload_is_placed_before_earlier_messages_have_arrived() {
    let mut pair = Pair::new(1, 1);
    let keys = pair.with_memory(65536);
    // The first message's only packet is held back long; the second is there at once.
    pair.fate = Box::new(|_, _, out, _| match &out.packet {
        Packet::Data(data) if data.message == 0 => Fate::Late(100_000),
        _ => Fate::Deliver,
    });
    pair.receive(1, 0, 7, 8192, 4096);
    pair.write(0, 1, 0, 0, 100, keys[1]);
    pair.ask(
        0,
        0,
        2,
        WorkOperation::Send {
            local: BASE + 8192,
            length: 4096,
        },
    );
    pair.run_for(20_000);
    assert!(
        pair.ends[1].host.placed[8192..12288]
            .iter()
            .all(|count| *count == 1)
    );
    assert_eq!(pair.ends[1].completions.len(), 0, "delivered in order");
    assert_eq!(pair.ends[0].completions.len(), 0);
    pair.run_until_completed(1, 1, 1_000_000);
    pair.run_until_completed(0, 2, 1_000_000);
    assert_eq!(pair.statuses(0), [(1, Status::Ok), (2, Status::Ok)]);
}

#[test]
fn field_case_29_an_immediate_follows_all_earlier_bytes() {
    for seed in 0..8 {
        let mut pair = Pair::new(seed, 2);
        let keys = pair.with_memory(1 << 16);
        let first = 8 * 4096;
        pair.fate = Box::new(move |_, from, out, chance| match &out.packet {
            // The flag overtakes all data, and some data is lost too.
            Packet::Data(data) if data.operation == Operation::Write => {
                if chance.per_mille(200) {
                    Fate::Drop
                } else {
                    Fate::Late(20_000)
                }
            }
            _ if from == 0 && chance.per_mille(100) => Fate::Drop,
            _ => Fate::Deliver,
        });
        pair.write(0, 1, 0, 0, first, keys[1]);
        let operation = WorkOperation::WriteImm {
            local: BASE + 40_000,
            length: 8,
            remote: BASE + 40_000,
            key: keys[1],
            immediate: 0xfeed,
        };
        pair.ask(0, 0, 2, operation);
        pair.run_until_completed(1, 1, 10_000_000);
        let flag = pair.ends[1].completions[0];
        assert_eq!((flag.side, flag.immediate), (Side::WriteImm, Some(0xfeed)));
        let written = 0..first as usize;
        assert!(
            pair.ends[1].host.placed[written]
                .iter()
                .all(|count| *count == 1),
            "seed {seed}"
        );
    }
}

#[test]
fn reads_bring_memory_after_earlier_writes_of_the_stream() {
    for seed in 0..4 {
        let mut pair = Pair::new(seed, 2);
        let keys = pair.with_memory(1 << 20);
        pair.lose(50);
        for (n, length) in [0, 1, 16, 4096, 4097, 100 * KIB].into_iter().enumerate() {
            let (at, to) = (n as u64 * 0x20000, 0x10000 * (n as u64 * 2 + 1));
            let (local, local_key) = (BASE + to, keys[0]);
            // What is read was written just before by the same stream.
            pair.write(0, 10 + n as u64, 0, at, length.min(60 * KIB), keys[1]);
            let remote = BASE + at;
            let length = length.min(60 * KIB);
            pair.ask(
                0,
                0,
                n as u64,
                WorkOperation::Read {
                    local,
                    local_key,
                    length,
                    remote,
                    key: keys[1],
                },
            );
        }
        pair.run_until_completed(0, 12, 20_000_000);
        for (n, length) in [0, 1, 16, 4096, 4097, 60 * KIB as usize]
            .into_iter()
            .enumerate()
        {
            let (at, to) = (n * 0x20000, 0x10000 * (n * 2 + 1));
            let host = &pair.ends[0].host;
            assert_eq!(
                host.bytes[at..at + length],
                host.bytes[to..to + length],
                "seed {seed}"
            );
            assert!(host.placed[to..to + length].iter().all(|count| *count == 1));
            assert_eq!(pair.ends[0].completions[2 * n + 1].length, length as u32);
        }
    }
}

#[test]
fn atomics_happen_once_and_tell_what_was_there() {
    for seed in 0..4 {
        let mut pair = Pair::new(seed, 2);
        let keys = pair.with_memory(4096);
        pair.fate = Box::new(|_, _, _, chance| match chance.below(20) {
            0 | 1 => Fate::Drop,
            2 => Fate::Twice,
            3 => Fate::Late(20_000),
            _ => Fate::Deliver,
        });
        pair.ends[1].host.store(BASE, 1000);
        for n in 0..64_u64 {
            let operation = WorkOperation::FetchAdd {
                local: BASE + 8 + 8 * n,
                local_key: keys[0],
                remote: BASE,
                key: keys[1],
                add: 3,
            };
            pair.ask(0, (n % 4) as u8, n, operation);
        }
        pair.run_until_completed(0, 64, 50_000_000);
        assert_eq!(pair.word(1, 0), 1000 + 3 * 64, "seed {seed}");
        let mut seen: Vec<u64> = (0..64).map(|n| pair.word(0, 8 + 8 * n)).collect();
        seen.sort();
        assert_eq!(
            seen,
            (0..64).map(|n| 1000 + 3 * n).collect::<Vec<_>>(),
            "seed {seed}"
        );
    }
}

#[test]
fn compare_and_swap_swaps_only_what_is_expected() {
    let mut pair = Pair::new(1, 1);
    let keys = pair.with_memory(4096);
    pair.ends[1].host.store(BASE + 16, 5);
    for (id, compare, swap) in [(0, 4, 9), (1, 5, 6), (2, 6, 7)] {
        let operation = WorkOperation::CompareSwap {
            local: BASE + 64 + 8 * id,
            local_key: keys[0],
            remote: BASE + 16,
            key: keys[1],
            compare,
            swap,
        };
        pair.ask(0, 0, id, operation);
    }
    pair.run_until_completed(0, 3, 1_000_000);
    assert_eq!(pair.word(1, 16), 7);
    assert_eq!([64, 72, 80].map(|at| pair.word(0, at)), [5, 5, 6]);
}

#[test]
fn a_send_that_is_too_long_is_invalid() {
    let mut pair = Pair::new(4, 1);
    pair.with_memory(65536);
    pair.receive(1, 0, 1, 0, 99);
    pair.ask(
        0,
        0,
        5,
        WorkOperation::Send {
            local: BASE,
            length: 100,
        },
    );
    pair.run_until_completed(0, 1, 1_000_000);
    assert_eq!(pair.statuses(0), [(5, Status::RemoteInvalid)]);
    assert!(pair.ends[1].host.placed.iter().all(|count| *count == 0));
}

#[test]
fn rights_of_reads_and_atomics_are_checked_at_the_responder() {
    for (rights, operation) in [
        (
            Rights {
                read: false,
                ..Rights::ALL
            },
            Operation::Read,
        ),
        (
            Rights {
                atomic: false,
                ..Rights::ALL
            },
            Operation::FetchAdd,
        ),
    ] {
        let mut pair = Pair::new(5, 1);
        let keys = pair.with_memory(4096);
        let region = Region {
            address: BASE,
            length: 4096,
            rights,
        };
        let key = pair.ends[1].endpoint.register(region).unwrap();
        let (local, local_key, remote) = (BASE, keys[0], BASE + 64);
        pair.ask(
            0,
            0,
            1,
            match operation {
                Operation::Read => WorkOperation::Read {
                    local,
                    local_key,
                    length: 8,
                    remote,
                    key,
                },
                _ => WorkOperation::FetchAdd {
                    local,
                    local_key,
                    remote,
                    key,
                    add: 1,
                },
            },
        );
        pair.run_until_completed(0, 1, 1_000_000);
        assert_eq!(pair.statuses(0), [(1, Status::RemoteAccess)]);
    }
}

#[test]
fn our_own_key_is_checked_at_the_post_and_when_the_answer_comes() {
    let mut pair = Pair::new(6, 1);
    let keys = pair.with_memory(4096);
    let read = |local, length| WorkOperation::Read {
        local,
        local_key: keys[0],
        length,
        remote: BASE,
        key: keys[1],
    };
    let past_the_end = WorkRequest {
        id: 1,
        operation: read(BASE + 4000, 97),
    };
    let error = PostError::LocalKey {
        key: keys[0],
        address: BASE + 4000,
        length: 97,
    };
    assert_eq!(pair.post(0, 0, past_the_end), Err(error));
    pair.ask(0, 0, 2, read(BASE, 64));
    pair.ends[0].endpoint.deregister(keys[0]).unwrap();
    pair.run_until_completed(0, 1, 1_000_000);
    assert_eq!(pair.statuses(0), [(2, Status::LocalAccess)]);
    assert!(pair.ends[0].host.placed.iter().all(|count| *count == 0));
}

#[test]
fn field_case_22_a_refused_post_takes_no_number_slot_or_credit() {
    let with = |end| Config {
        send_requests_max: 4,
        ..config(end, 1)
    };
    let mut pair = Pair::with(7, [with(0), with(1)]);
    let keys = pair.with_memory(4096);
    for round in 0..1000_u64 {
        for id in 0..4 {
            pair.write(0, 4 * round + id, 0, 0, 1, keys[1]);
        }
        let operation = WorkOperation::Write {
            local: BASE,
            length: 1,
            remote: BASE,
            key: keys[1],
        };
        let refused = pair.post(
            0,
            0,
            WorkRequest {
                id: u64::MAX,
                operation,
            },
        );
        assert_eq!(refused, Err(PostError::Full { max: 4 }));
        pair.run_until_completed(0, 4 * (round as usize + 1), 1_000_000);
    }
    for (n, completion) in pair.ends[0].completions.iter().enumerate() {
        assert_eq!((completion.id, completion.message), (n as u64, n as u16));
    }
}

#[test]
fn field_case_28_lengths_past_the_most_are_refused_at_the_post() {
    let mut pair = Pair::new(8, 1);
    let key = Key(0);
    for length in [
        0x4000_0001,
        0x7fff_ffff,
        0x8000_0000,
        0x8000_0001,
        0xffff_ffff,
    ] {
        let operation = WorkOperation::Write {
            local: BASE,
            length,
            remote: BASE,
            key,
        };
        let refused = pair.post(0, 0, WorkRequest { id: 1, operation });
        assert_eq!(refused, Err(PostError::Length { length }));
    }
    let operation = WorkOperation::Write {
        local: u64::MAX - 6,
        length: 8,
        remote: BASE,
        key,
    };
    let refused = pair.post(0, 0, WorkRequest { id: 1, operation });
    assert_eq!(
        refused,
        Err(PostError::Address {
            address: u64::MAX - 6,
            length: 8
        })
    );
}

#[test]
fn field_case_28_a_message_of_a_gibibyte_in_a_region_of_four() {
    let mut pair = Pair::new(9, 4);
    let key = pair.register(1, 4 << 30);
    let operation = WorkOperation::Write {
        local: BASE,
        length: MESSAGE_LENGTH_MAX,
        remote: BASE + 0x6600_0000,
        key,
    };
    pair.ask(0, 0, 1, operation);
    pair.run_until_completed(0, 1, 100_000_000);
    assert_eq!(pair.ends[0].completions[0].length, 1 << 30);
    assert_eq!(pair.ends[1].host.placements, 1 << 18);
}

#[test]
fn no_more_messages_are_open_than_the_peer_has_slots() {
    let with = |end| Config {
        slots: 4,
        streams: 2,
        ..config(end, 2)
    };
    let mut pair = Pair::with(10, [with(0), with(1)]);
    let keys = pair.with_memory(65536);
    pair.lose(50);
    for id in 0..200 {
        pair.write(0, id, (id % 2) as u8, id * 100, 50, keys[1]);
    }
    pair.run_until_completed(0, 200, 50_000_000);
    assert_eq!(pair.count(1, Counter::DropMessageSlot), 0);
}
