//! Bytes placed of each message against a plain sum; CONTROL frames told when they are in memory.

mod bench;

use bench::{Offer, seeds};
use osprey_rtl::emit;
use osprey_rtl::rx::message_table::{MessageTable, PlacedPacket};
use osprey_verilated::{Model, Record, Source, Stall, lint};
use std::collections::{BTreeMap, VecDeque};

fn source() -> Source {
    Source::new(
        "message_table",
        emit::verilog("message_table", MessageTable::new(3)),
    )
}

/// The packets of a message, in random order.
fn packets(stall: &mut Stall, connection: u64, message: u64) -> Vec<Record> {
    let mtu = 1 << (8 + stall.below(5));
    let total = match stall.below(5) {
        0 => 0,
        1 => 1,
        _ => 1 + stall.below(6 * mtu),
    };
    let lengths: Vec<u64> = (0..total.div_ceil(mtu).max(1))
        .map(|index| mtu.min(total - index * mtu))
        .collect();
    let mut packets: Vec<_> = lengths
        .iter()
        .map(|&length| {
            Record::new(PlacedPacket::FIELDS)
                .with("pair", connection << 5 | stall.below(32))
                .with("message", message)
                .with("length", length)
                .with("total", total)
        })
        .collect();
    for at in (1..packets.len()).rev() {
        packets.swap(at, stall.below(at as u64 + 1) as usize);
    }
    packets
}

struct Open {
    number: u64,
    packets: Vec<Record>,
}

struct Connection {
    next: u64,
    open: Vec<Open>,
}

fn run(seed: u64) {
    let model = Model::build(&source()).unwrap();
    let mut stall = Stall::new(seed);
    let mut ordered = Offer::new(&model, "ordered");
    let [placed, clear_address, clear_valid] =
        ["placed_valid", "clear_address", "clear_valid"].map(|name| model.input(name));
    let [
        complete_pair,
        complete_valid,
        control,
        control_valid,
        clear_ready,
        room,
        issued,
        done,
    ] = [
        "complete_pair",
        "complete_valid",
        "control",
        "control_valid",
        "clear_ready",
        "room",
        "issued",
        "done",
    ]
    .map(|name| model.output(name));
    model.reset();
    // Messages wrap soon in odd seeds; all slots are cleared first, as a connection's start does.
    for slot in 0..512u64 {
        clear_address.set(slot);
        clear_valid.set(1);
        model.eval();
        for _ in 0..2 {
            if !clear_ready.is_set() {
                model.cycle();
                model.eval();
            }
        }
        assert!(clear_ready.is_set(), "nothing is in the way");
        model.cycle();
    }
    clear_valid.set(0);
    let base = if seed % 2 == 1 { 0xffc0 } else { 0 };
    let mut connections: Vec<_> = (0..8)
        .map(|_| Connection {
            next: base,
            open: Vec::new(),
        })
        .collect();
    let mut sums: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    // Ordered and not yet placed; placed and not yet told.
    let (mut flying, mut telling) = (VecDeque::new(), VecDeque::new());
    let (mut completions, mut controls, mut counts) = (0, 0, [0u64; 2]);
    for cycle in 0..20_000 {
        let connection = stall.below(8);
        let known = &mut connections[connection as usize];
        // A slot is free again when its message is complete.
        let oldest = known.open.first().map_or(known.next, |open| open.number);
        if known.open.len() < 5 && known.next - oldest < 60 {
            let packets = packets(&mut stall, connection, known.next & 0xffff);
            known.open.push(Open {
                number: known.next,
                packets,
            });
            known.next += 1;
        }
        model.eval();
        if room.is_set() && ordered.queue.is_empty() && stall.chance(40) {
            let at = stall.below(known.open.len() as u64) as usize;
            let packet = known.open[at]
                .packets
                .pop()
                .expect("an open message has packets");
            if known.open[at].packets.is_empty() {
                known.open.remove(at);
            }
            ordered.queue.push_back(packet);
        } else if room.is_set() && ordered.queue.is_empty() && stall.chance(4) {
            let mut packet = Record::new(PlacedPacket::FIELDS).with("control", 1);
            for (name, bits) in [
                ("index", 16),
                ("plane", 2),
                ("length", 8),
                ("message", 16),
                ("total", 32),
            ] {
                packet.set(name, stall.below(1 << bits));
            }
            ordered.queue.push_back(packet);
        }
        ordered.drive(&mut stall, 70);
        // The memory answers in order.
        let answer = !flying.is_empty() && stall.chance(if cycle % 1_000 < 200 { 5 } else { 35 });
        placed.set(answer);
        model.eval();
        if answer {
            telling.push_back(flying.pop_front().expect("one is flying"));
            counts[1] += 1;
        }
        if let Some(packet) = ordered.taken() {
            flying.push_back(packet);
            counts[0] += 1;
        }
        if control_valid.is_set() {
            let packet = loop {
                let packet: Record = telling.pop_front().expect("a CONTROL frame from nowhere");
                if packet.get("control") == 1 {
                    break packet;
                }
                assert!(
                    !add(&mut sums, &packet),
                    "cycle {cycle}: the end of {packet:?} was not told"
                );
            };
            assert_eq!(
                control.record(PlacedPacket::FIELDS),
                packet,
                "cycle {cycle}"
            );
            controls += 1;
        }
        if complete_valid.is_set() {
            // All that was placed up to the last packet of a message.
            loop {
                let packet: Record = telling
                    .pop_front()
                    .unwrap_or_else(|| panic!("cycle {cycle}: complete too soon"));
                assert_eq!(
                    packet.get("control"),
                    0,
                    "cycle {cycle}: a CONTROL frame was not told"
                );
                if add(&mut sums, &packet) {
                    assert_eq!(complete_pair.get(), packet.get("pair"), "cycle {cycle}");
                    break;
                }
            }
            completions += 1;
        }
        model.cycle();
        // What follows is told three cycles a packet: anything long placed must be through.
        while telling.len() > 40 {
            let packet = telling.pop_front().expect("there is one");
            assert!(
                !add(&mut sums, &packet),
                "cycle {cycle}: the end of {packet:?} was not told"
            );
        }
        model.eval();
        assert_eq!(
            [issued.get(), done.get()],
            counts.map(|count| count & 0xffff_ffff),
            "cycle {cycle}"
        );
    }
    assert!(
        completions > 500 && controls > 50,
        "{completions} messages, {controls} CONTROL frames"
    );
}

/// Adds a packet's bytes to its message; true when that makes it whole.
fn add(sums: &mut BTreeMap<(u64, u64), u64>, packet: &Record) -> bool {
    let key = (packet.get("pair") >> 5, packet.get("message"));
    let sum = sums.entry(key).or_default();
    *sum += packet.get("length");
    let whole = *sum == packet.get("total");
    if whole {
        sums.remove(&key);
    }
    whole
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}

#[test]
fn a_message_is_complete_when_its_last_byte_is_placed() {
    seeds(
        "message_table::a_message_is_complete_when_its_last_byte_is_placed",
        6,
        run,
    );
}

/// Packets that are placed without a pause must not keep a connection from starting anew, nor be counted in its new life.
#[test]
fn slots_are_cleared_under_load() {
    let model = Model::build(&source()).unwrap();
    let [ordered, ordered_valid, placed, clear_address, clear_valid] = [
        "ordered",
        "ordered_valid",
        "placed_valid",
        "clear_address",
        "clear_valid",
    ]
    .map(|name| model.input(name));
    let [ready, room] = ["clear_ready", "room"].map(|name| model.output(name));
    for port in [&ordered_valid, &placed, &clear_valid] {
        port.set(0);
    }
    model.reset();
    let (mut given, mut answered) = (0u64, 0u64);
    let mut cycle = |pair: u64| {
        let packet = Record::new(PlacedPacket::FIELDS)
            .with("pair", pair)
            .with("length", 1)
            .with("total", 2);
        ordered.set_record(&packet);
        model.eval();
        let gives = room.is_set();
        ordered_valid.set(gives);
        placed.set(answered < given);
        answered += u64::from(answered < given);
        given += u64::from(gives);
        model.eval();
        let cleared = clear_valid.is_set() && ready.is_set();
        model.cycle();
        cleared
    };
    // Two dozen packets of connection 3, the first of a message each two, then others' without end.
    (0..24).for_each(|_| assert!(!cycle(3 << 5)));
    for slot in 0..64u64 {
        clear_address.set(3 << 6 | slot);
        clear_valid.set(1);
        let waits = (0..1_000).take_while(|_| !cycle(5 << 5)).count();
        assert!(waits < 400, "slot {slot} starves");
        clear_valid.set(0);
    }
    // A message of two packets of a byte in the new life: complete with the second, not the first.
    (0..400).for_each(|_| assert!(!cycle(5 << 5)));
    let complete = model.output("complete_valid");
    let mut seen = 0;
    for at in 0..800 {
        cycle(if at == 0 { 3 << 5 } else { 5 << 5 });
        model.eval();
        let ours = model.output("complete_pair").get() == 3 << 5;
        seen += u64::from(complete.is_set() && ours);
    }
    assert_eq!(seen, 0, "a packet of the life before was counted");
}
