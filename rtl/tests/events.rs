//! One event after the other and all together: the counters of `docs/registers.md` that each moves.

mod bench;

use bench::seeds;
use osprey_rtl::emit;
use osprey_rtl::top::events::Events;
use osprey_verilated::{Model, Source, Stall, lint};

fn source() -> Source {
    Source::new("events", emit::verilog("events", Events::default()))
}

/// Inputs of one bit that move one counter each.
const PLAIN: [(&str, u64); 16] = [
    ("nack", 37),
    ("timer", 47),
    ("block", 48),
    ("block_stale", 49),
    ("block_invalid", 30),
    ("loaded", 51),
    ("invalid_request", 52),
    ("completion", 53),
    ("control_placed", 54),
    ("placed", 56),
    ("read_error", 60),
    ("write_error", 61),
    ("doorbell", 62),
    ("judged", 0),
    ("resent", 64),
    ("failed", 63),
];
/// DATA, PROBE, ACK, CONTROL, and for what is sent NACK.
const ACCEPTED: [u64; 4] = [33, 35, 34, 36];
const SENT: [u64; 5] = [38, 40, 39, 41, 42];

/// What is counted, said in the page's words.
fn counted(get: impl Fn(&str) -> u64) -> u64 {
    let mut moved: Vec<u64> = PLAIN
        .iter()
        .filter(|(name, number)| *number < 64 && get(name) == 1)
        .map(|(_, number)| *number)
        .collect();
    let bits = |name: &str, numbers: &[u64]| -> Vec<u64> {
        let chosen = numbers.iter().enumerate();
        chosen
            .filter(|(bit, _)| get(name) >> bit & 1 == 1)
            .map(|(_, number)| *number)
            .collect()
    };
    moved.extend(bits("accepted", &ACCEPTED));
    moved.extend(bits("sent", &SENT));
    // An error is a completion with an error status, and its connection's.
    moved.extend((get("failed") == 1).then_some(55));
    // A frame is dropped for one reason: by the front, or behind it.
    if get("judged") == 1 && get("front_reason") != 0 {
        moved.push(get("front_reason"));
    }
    if get("drop_valid") == 1 {
        moved.push(get("drop_reason"));
    }
    moved.extend((get("drop_full") != 0).then_some(13));
    moved.extend((get("drop_oversize") != 0).then_some(14));
    moved.extend((get("sent") & 1 == 1 && get("resent") == 1).then_some(43));
    if get("lost") == 1 {
        moved.push(match (get("lost_by_probe"), get("lost_by_timeout")) {
            (0, 0) => 44,
            (1, _) => 45,
            _ => 46,
        });
    }
    if get("local_refused") == 1 {
        moved.push(57 + get("local_bounds"));
    }
    moved.into_iter().fold(0, |all, number| all | 1 << number)
}

/// Inputs and their widths.
const INPUTS: [(&str, u32); 28] = [
    ("judged", 1),
    ("front_reason", 5),
    ("drop_full", 4),
    ("drop_oversize", 4),
    ("drop_valid", 1),
    ("drop_reason", 5),
    ("accepted", 4),
    ("sent", 5),
    ("nack", 1),
    ("resent", 1),
    ("lost", 1),
    ("lost_by_probe", 1),
    ("lost_by_timeout", 1),
    ("timer", 1),
    ("block", 1),
    ("block_stale", 1),
    ("block_invalid", 1),
    ("loaded", 1),
    ("invalid_request", 1),
    ("completion", 1),
    ("placed", 1),
    ("local_refused", 1),
    ("failed", 1),
    ("read_error", 1),
    ("write_error", 1),
    ("doorbell", 1),
    ("control_placed", 1),
    ("local_bounds", 1),
];

fn drive(model: &Model, stall: &mut Stall, chance: u64) {
    for (name, width) in INPUTS {
        let value = if stall.chance(chance) {
            stall.below(1 << width)
        } else {
            0
        };
        model.input(name).set(value);
    }
    // A loss was found by one means.
    if model.input("lost_by_probe").is_set() {
        model.input("lost_by_timeout").set(0);
    }
    // The front has the reasons up to 12, the blocks behind it those from 16 to 29.
    model.input("front_reason").set(stall.below(13));
    model.input("drop_reason").set(16 + stall.below(14));
}

fn run(seed: u64) {
    let model = Model::build(&source()).unwrap();
    let mut stall = Stall::new(seed);
    let mut seen = 0;
    for round in 0..20_000 {
        drive(&model, &mut stall, [3, 20, 60][round % 3]);
        model.eval();
        let expected = counted(|name| model.input(name).get());
        let got = model.output("pulses").get();
        assert_eq!(got, expected, "{:x}: only one says so", got ^ expected);
        seen |= got;
    }
    // Pools, fences, link changes and full completion rings are of later engines.
    let later = [15, 31, 32, 50, 59].map(|number| 1 << number);
    assert_eq!(
        !seen,
        later.into_iter().sum::<u64>(),
        "counters that no event moves"
    );
}

#[test]
fn every_event_moves_its_counter() {
    seeds("events::every_event_moves_its_counter", 3, run);
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}
