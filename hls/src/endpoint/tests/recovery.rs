//! Loss, bursts, reordering, dead planes, dead paths: every flow ends, every byte is placed once.

use super::pair::{CONNECTION, Fate, Pair, config};
use crate::endpoint::*;
use crate::wire::PacketType;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

const LENGTH: u32 = 4 << 20;

/// Runs one write of 4 MiB under a fate; the pair, for counters.
fn write_under(seed: u64, planes: usize, fate: super::pair::Decide, limit_ns: u64) -> Pair {
    let mut pair = Pair::new(seed, planes);
    let keys = pair.with_memory(LENGTH as usize);
    pair.fate = fate;
    pair.write(0, 1, 0, 0, LENGTH, keys[1]);
    pair.run_until_completed(0, 1, limit_ns);
    assert_eq!(pair.ends[0].completions[0].status, Status::Ok);
    assert!(
        pair.ends[0].host.bytes == pair.ends[1].host.bytes,
        "seed {seed}"
    );
    assert!(
        pair.ends[1].host.placed.iter().all(|count| *count == 1),
        "seed {seed}"
    );
    pair
}

fn dead_plane(plane: u8, from_ns: u64) -> super::pair::Decide {
    Box::new(move |now, _, out, _| {
        if out.plane == plane && now >= from_ns {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    })
}

#[test]
fn loss_of_everything_up_to_a_tenth() {
    for per_mille in [1, 10, 50, 100] {
        for seed in 0..4 {
            let fate: super::pair::Decide = Box::new(move |_, _, _, chance| {
                if chance.per_mille(per_mille) {
                    Fate::Drop
                } else {
                    Fate::Deliver
                }
            });
            let pair = write_under(seed, 2, fate, 5_000_000);
            assert_eq!(pair.count(0, Counter::Condemned), 0, "loss condemns nobody");
            assert_eq!(
                pair.count(1, Counter::Duplicate),
                0,
                "a hole is a loss, nothing else is"
            );
        }
    }
}

#[test]
fn data_lost_equals_data_sent_again() {
    let lost = Rc::new(Cell::new(0));
    let count = lost.clone();
    let pair = write_under(
        9,
        1,
        Box::new(move |_, from, out, chance| match out.packet {
            Packet::Data(_) if from == 0 && chance.per_mille(20) => {
                count.set(count.get() + 1);
                Fate::Drop
            }
            _ => Fate::Deliver,
        }),
        5_000_000,
    );
    assert!(lost.get() > 10);
    assert_eq!(pair.count(0, Counter::Resends), lost.get());
    assert_eq!(pair.count(0, Counter::Losses), lost.get());
}

#[test]
fn bursts_of_sixteen() {
    for seed in 0..4 {
        let left = Cell::new(0_u32);
        write_under(
            seed,
            2,
            Box::new(move |_, _, _, chance| {
                if left.get() > 0 {
                    left.set(left.get() - 1);
                    return Fate::Drop;
                }
                if chance.per_mille(3) {
                    left.set(15);
                }
                Fate::Deliver
            }),
            5_000_000,
        );
    }
}

#[test]
fn reordering_inside_paths_degrades_and_never_breaks() {
    for seed in 0..4 {
        write_under(
            seed,
            2,
            Box::new(|_, _, _, chance| {
                if chance.per_mille(20) {
                    Fate::Late(chance.below(5_000))
                } else {
                    Fate::Deliver
                }
            }),
            5_000_000,
        );
    }
}

#[test]
fn packets_that_come_twice_are_placed_once() {
    let pair = write_under(
        5,
        2,
        Box::new(|_, _, _, chance| {
            if chance.per_mille(100) {
                Fate::Twice
            } else {
                Fate::Deliver
            }
        }),
        5_000_000,
    );
    assert!(pair.count(1, Counter::Duplicate) > 50);
}

#[test]
fn a_plane_that_dies_silently_is_fenced_and_its_packets_move() {
    for (seed, planes) in [(1, 2), (2, 4)] {
        let pair = write_under(seed, planes, dead_plane(1, 50_000), 2_000_000);
        assert!(pair.count(0, Counter::Condemned) >= 8);
        assert!(pair.count(0, Counter::Moved) > 0);
        let fenced = |event: &&Event| {
            matches!(
                event.kind,
                EventKind::Health {
                    from: Health::Down,
                    to: Health::Fenced
                }
            )
        };
        assert!(pair.ends[0].events.iter().filter(fenced).count() >= 8);
        assert!(pair.now < 800_000, "{} ns", pair.now);
    }
}

/// A burst of losses that meets FENCE_ACKs only, since nothing else is left to send, is outlived by repeating, not by waiting.
#[test]
fn a_fence_whose_answers_are_lost_for_a_while_is_repeated_at_short_intervals() {
    let mut dead = dead_plane(1, 50_000);
    let fate: super::pair::Decide = Box::new(move |now, from, out, chance| match &out.packet {
        Packet::Ack(ack) if ack.kind == PacketType::FenceAck && now < 650_000 => Fate::Drop,
        _ => dead(now, from, out, chance),
    });
    let pair = write_under(3, 2, fate, 2_000_000);
    assert!(
        pair.count(0, Counter::SentFences) > 80,
        "some ten for each of 8 paths"
    );
    assert!(pair.now < 760_000, "{} ns", pair.now);
}

#[test]
fn a_plane_that_comes_back_is_used_again() {
    let mut pair = Pair::new(3, 2);
    let keys = [0, 1].map(|end| pair.register(end, 1 << 30));
    pair.fate = Box::new(|now, _, out, _| {
        if out.plane == 1 && (50_000..500_000).contains(&now) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pair.write(0, 1, 0, 0, 100_000_000, keys[1]);
    pair.run_until_completed(0, 1, 20_000_000);
    for k in 8..16 {
        let path = pair.ends[0]
            .endpoint
            .path_telemetry(CONNECTION, crate::wire::PathId(k))
            .unwrap();
        assert_eq!(path.health, Health::Good, "path {k}");
        assert_eq!(path.epoch.0, 1, "path {k}");
    }
}

#[test]
fn a_plane_whose_link_goes_down_is_left_at_once() {
    let mut pair = Pair::new(4, 2);
    let keys = pair.with_memory(LENGTH as usize);
    pair.write(0, 1, 0, 0, LENGTH, keys[1]);
    pair.run_for(50_000);
    for end in 0..2 {
        let now = pair.now;
        pair.ends[end].endpoint.handle_link(now, 1, false);
    }
    pair.fate = dead_plane(1, 0);
    pair.run_until_completed(0, 1, 2_000_000);
    assert!(pair.ends[0].host.bytes == pair.ends[1].host.bytes);
    assert_eq!(
        pair.count(0, Counter::ProbeTimers),
        0,
        "no timer was needed"
    );
    for end in 0..2 {
        let now = pair.now;
        pair.ends[end].endpoint.handle_link(now, 1, true);
    }
    pair.fate = Box::new(|_, _, _, _| Fate::Deliver);
    pair.run_for(100_000);
    let path = crate::wire::PathId(9);
    let path = pair.ends[0]
        .endpoint
        .path_telemetry(CONNECTION, path)
        .unwrap();
    assert_eq!(path.health, Health::Good);
}

#[test]
fn a_dead_entropy_is_drawn_again() {
    // Half of all entropies lead nowhere.
    let mut pair = write_under(
        6,
        2,
        Box::new(|_, from, out, _| {
            if from == 0 && out.entropy & 1 == 1 {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        }),
        20_000_000,
    );
    assert!(pair.count(0, Counter::Condemned) > 0);
    pair.run_for(30_000_000);
    for path in (0..16).map(crate::wire::PathId) {
        let path = pair.ends[0]
            .endpoint
            .path_telemetry(CONNECTION, path)
            .unwrap();
        assert_eq!((path.health, path.entropy & 1), (Health::Good, 0));
    }
}

#[test]
fn a_dead_reverse_direction_of_some_return_paths_costs_little() {
    let pair = write_under(
        7,
        2,
        Box::new(|_, from, out, _| {
            if from == 1 && out.entropy & 3 == 1 {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        }),
        2_000_000,
    );
    assert_eq!(pair.count(0, Counter::Condemned), 0);
}

#[test]
fn when_everything_fails_an_error_is_reported() {
    let mut pair = Pair::new(8, 2);
    let keys = pair.with_memory(LENGTH as usize);
    pair.fate = Box::new(|now, _, _, _| {
        if now > 50_000 {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pair.write(0, 1, 0, 0, LENGTH, keys[1]);
    pair.write(0, 2, 1, 0, 4096, keys[1]);
    pair.run_until_completed(0, 2, 2_000_000_000);
    let statuses: Vec<_> = pair.ends[0].completions.iter().map(|c| c.status).collect();
    assert!(statuses.contains(&Status::RetriesExhausted), "{statuses:?}");
    assert!(pair.now > 100_000_000, "patience: {} ns", pair.now);
}

#[test]
fn a_silence_that_ends_before_patience_does_is_survived() {
    for seed in 0..4 {
        let fate: super::pair::Decide = Box::new(|now, _, _, _| {
            if (50_000..20_000_000).contains(&now) {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        });
        write_under(seed, 1 + seed as usize % 2, fate, 500_000_000);
    }
}

/// Part of the line that the payload of one write of 20 MB a plane takes, under loss of everything.
fn goodput(seed: u64, planes: usize, per_mille: u64) -> f64 {
    let mut pair = Pair::new(seed, planes);
    let keys = [0, 1].map(|end| pair.register(end, 1 << 30));
    pair.lose(per_mille);
    let length = 20_000_000 * planes as u32;
    pair.write(0, 1, 0, 0, length, keys[1]);
    pair.run_until_completed(0, 1, 50_000_000);
    f64::from(length) * 8.0 / (planes as f64 * 100.0) / pair.now as f64
}

#[test]
fn loss_costs_little_more_than_what_is_lost() {
    // The targets of the transport's search for flows of 20 MB.
    for (per_mille, target) in [(0, 0.95), (1, 0.945), (10, 0.93), (50, 0.88), (100, 0.83)] {
        for planes in [1, 2] {
            let mean = (0..3)
                .map(|seed| goodput(seed, planes, per_mille))
                .sum::<f64>()
                / 3.0;
            println!("{planes} planes, {per_mille} per mille: {mean:.4}");
            assert!(
                mean >= target,
                "{planes} planes, {per_mille} per mille: {mean}"
            );
        }
    }
}

#[test]
fn numbers_wrap_under_loss() {
    use crate::wire::{Epoch, Ordinal, Psn};
    for (seed, planes) in [(1, 1), (2, 2)] {
        let mut pair = Pair::new(seed, planes);
        let keys = pair.with_memory(LENGTH as usize);
        for end in &mut pair.ends {
            let psn = Psn::new((1 << 24) - 128);
            let (epoch, ordinal) = (Epoch(255), Ordinal(u16::MAX - 100));
            end.endpoint
                .preset_sequences(CONNECTION, epoch, psn, ordinal)
                .unwrap();
        }
        pair.fate = Box::new(move |now, _, out, chance| {
            let dead = planes > 1 && out.plane == 1 && now > 200_000;
            if dead || chance.per_mille(50) {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        });
        for n in 0..4 {
            pair.write(0, n, 0, u64::from(LENGTH / 4) * n, LENGTH / 4, keys[1]);
            pair.write(1, n, 1, 0, 0, keys[0]);
        }
        // Enough small ones that each path passes the end of its PSNs.
        for n in 4..1000 {
            pair.write(0, n, 2, 0, 0, keys[1]);
        }
        pair.run_until_completed(0, 1000, 20_000_000);
        assert!(
            pair.ends[0].host.bytes == pair.ends[1].host.bytes,
            "seed {seed}"
        );
        assert!(
            pair.ends[1].host.placed.iter().all(|count| *count == 1),
            "seed {seed}"
        );
        let path = pair.ends[0]
            .endpoint
            .path_telemetry(CONNECTION, crate::wire::PathId(8));
        assert_eq!(
            path.map(|path| path.epoch.0),
            (planes > 1).then_some(0),
            "255 and one more"
        );
    }
}

#[test]
fn more_messages_than_their_numbers_tell_apart() {
    let with = |end| Config {
        paths_per_plane: 1,
        ..config(end, 1)
    };
    let mut pair = Pair::with(3, [with(0), with(1)]);
    let keys = pair.with_memory(4096);
    pair.lose(10);
    let count = 70_000;
    let mut posted = 0;
    while pair.ends[0].completions.len() < count {
        while posted < count && posted < pair.ends[0].completions.len() + 500 {
            pair.write(0, posted as u64, 0, 0, 1, keys[1]);
            posted += 1;
        }
        assert!(pair.step(1_000_000_000));
    }
    for (n, completion) in pair.ends[0].completions.iter().enumerate() {
        assert_eq!((completion.id, completion.message), (n as u64, n as u16));
    }
    assert_eq!(pair.ends[1].host.placements, count as u64);
}

#[test]
fn a_single_plane_whose_link_comes_back_in_time_goes_on() {
    let mut pair = Pair::new(5, 1);
    let keys = pair.with_memory(LENGTH as usize);
    pair.write(0, 1, 0, 0, LENGTH, keys[1]);
    pair.run_for(50_000);
    for up in [false, true] {
        for end in 0..2 {
            let now = pair.now;
            pair.ends[end].endpoint.handle_link(now, 0, up);
        }
        let dead: super::pair::Decide = Box::new(|_, _, _, _| Fate::Drop);
        pair.fate = if up {
            Box::new(|_, _, _, _| Fate::Deliver)
        } else {
            dead
        };
        pair.run_for(if up { 0 } else { 20_000_000 });
    }
    pair.run_until_completed(0, 1, 50_000_000);
    assert_eq!(pair.ends[0].completions[0].status, Status::Ok);
    assert!(pair.ends[0].host.bytes == pair.ends[1].host.bytes);
}

#[test]
fn a_poor_path_drains_before_it_draws_a_new_entropy() {
    // Windows that bind (the way is longer than they are made for) and do not grow: every path is needed, the poor
    // one's only falls.
    let congestion = config::Congestion::Aimd {
        increase_packets: 0,
        decrease_q10: 205,
        floor_q10: 256,
    };
    let with = |end| Config {
        congestion,
        ..config(end, 1)
    };
    let mut pair = Pair::with(6, [with(0), with(1)]);
    pair.delay_ns = 20_000;
    let keys = [0, 1].map(|end| pair.register(end, 1 << 30));
    let path = pair.ends[0]
        .endpoint
        .path_telemetry(CONNECTION, crate::wire::PathId(3))
        .unwrap();
    let poor = path.entropy;
    // A congested way. Of each path: its entropy, and when it last sent; and the least pause before a change.
    let last = RefCell::new(BTreeMap::new());
    let pause = Rc::new(Cell::new(u64::MAX));
    let least = pause.clone();
    pair.fate = Box::new(move |now, from, out, chance| {
        let (0, Packet::Data(data)) = (from, &out.packet) else {
            return Fate::Deliver;
        };
        let sent = (out.entropy, now);
        if let Some((entropy, at)) = last.borrow_mut().insert(data.common.path.0, sent)
            && entropy != out.entropy
        {
            least.set(least.get().min(now - at));
        }
        if out.entropy == poor && chance.per_mille(700) {
            Fate::Mark
        } else {
            Fate::Deliver
        }
    });
    pair.write(0, 1, 0, 0, 50_000_000, keys[1]);
    pair.run_until_completed(0, 1, 20_000_000);
    assert!(pair.count(0, Counter::Redraws) >= 10);
    assert!(
        pause.get() > 40_000,
        "{}: a round trip, so nothing was in flight",
        pause.get()
    );
    let path = pair.ends[0]
        .endpoint
        .path_telemetry(CONNECTION, crate::wire::PathId(3))
        .unwrap();
    assert_eq!(path.epoch.0, 0, "the same epoch");
}

#[test]
fn packets_on_a_silent_path_leave_the_connections_window() {
    let health = config::HealthConfig {
        fences: false,
        ..Default::default()
    };
    let mut pair = Pair::with(
        7,
        [0, 1].map(|end| Config {
            health,
            ..config(end, 2)
        }),
    );
    let keys = [0, 1].map(|end| pair.register(end, 1 << 30));
    // A share of which eight packets are the window.
    pair.change = Box::new(|packet| {
        if let Packet::Ack(ack) = packet {
            ack.share = u16::MAX / 16;
        }
    });
    pair.fate = dead_plane(1, 100_000);
    pair.write(0, 1, 0, 0, 100_000_000, keys[1]);
    pair.run_for(200_000);
    let before = pair.count(1, Counter::ReceivedData);
    pair.run_for(1_000_000);
    let received = pair.count(1, Counter::ReceivedData) - before;
    assert!(
        received > 500,
        "{received}: the other plane has all of the window"
    );
}

// Found by fuzzing: each silent path has an idle one probed for comparison, always the same, and nobody counted those.
#[test]
fn a_path_that_silent_ones_are_compared_with_keeps_its_log_within_bounds() {
    let mut pair = Pair::new(3, 3);
    let keys = pair.with_memory(23 * 4096);
    pair.fate = Box::new(|_, _, _, _| Fate::Drop);
    for n in 0..23 {
        pair.write(0, n, 0, n * 4096, 4096, keys[1]);
        pair.run_for(1_100);
    }
    let end = pair.now + 20_000_000;
    while pair.step(end) {
        for found in pair.ends[0].endpoint.occupancy() {
            assert!(found.used <= found.bound, "{found:?} at {} ns", pair.now);
        }
    }
}

/// Lets small packets pass and deletes DATA: what a path with too small an MTU does.
fn black_hole(plane: Option<u8>) -> super::pair::Decide {
    Box::new(move |_, from, out, _| {
        let here = plane.is_none_or(|plane| plane == out.plane);
        match out.packet {
            Packet::Data(_) if from == 0 && here => Fate::Drop,
            _ => Fate::Deliver,
        }
    })
}

#[test]
fn a_plane_that_swallows_data_and_answers_probes_is_left() {
    let mut pair = Pair::new(5, 2);
    let keys = pair.with_memory(1 << 20);
    pair.fate = black_hole(Some(1));
    pair.write(0, 1, 0, 0, 1 << 20, keys[1]);
    pair.run_until_completed(0, 1, 20_000_000);
    assert_eq!(pair.ends[0].completions[0].status, Status::Ok);
    assert!(pair.ends[0].host.bytes == pair.ends[1].host.bytes);
}

#[test]
fn a_network_that_swallows_all_data_and_answers_probes_is_reported() {
    let mut pair = Pair::new(6, 2);
    let keys = pair.with_memory(1 << 20);
    pair.fate = black_hole(None);
    pair.write(0, 1, 0, 0, 1 << 20, keys[1]);
    pair.run_until_completed(0, 1, 100_000_000);
    assert_eq!(pair.ends[0].completions[0].status, Status::RetriesExhausted);
}
