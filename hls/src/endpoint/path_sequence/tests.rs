//! The receiver's sequence beside a plain set of numbers.

use super::*;
use crate::wire::PathId;
use proptest::prelude::*;
use std::collections::BTreeSet;

const MODULUS: u64 = 1 << 24;

/// A path that has received everything before `base`.
fn advanced(window: u16, base: u64) -> PathSequence {
    let mut sequence = PathSequence::new(window);
    let psn = |n: u64| Psn::new((n % MODULUS) as u32);
    // Two laps before the base suffice to bring the vector into its state; then claim the rest.
    let start = base - base % (2 * u64::from(window));
    sequence.cumulative = psn(start);
    for n in start..base {
        sequence.accept(psn(n), false);
    }
    sequence
}

/// What has arrived, as absolute numbers.
struct Model {
    window: u64,
    arrived: BTreeSet<u64>,
    cumulative: u64,
}

impl Model {
    fn judge(&self, n: u64) -> Verdict {
        if n < self.cumulative || self.arrived.contains(&n) {
            Verdict::Duplicate
        } else if n < self.cumulative + self.window {
            Verdict::Fresh
        } else {
            Verdict::Outside
        }
    }

    fn accept(&mut self, n: u64) {
        self.arrived.insert(n);
        while self.arrived.remove(&self.cumulative) {
            self.cumulative += 1;
        }
    }
}

fn offer(sequence: &mut PathSequence, model: &mut Model, n: u64) {
    let psn = Psn::new((n % MODULUS) as u32);
    let verdict = sequence.judge(psn);
    assert_eq!(verdict, model.judge(n), "{n:#x} at {:#x}", model.cumulative);
    if verdict == Verdict::Fresh {
        sequence.accept(psn, n % 3 == 0);
        model.accept(n);
    }
    let cumulative = (model.cumulative % MODULUS) as u32;
    assert_eq!(sequence.cumulative, Psn::new(cumulative));
    for ahead in 0..model.window {
        let shown = sequence.vector.received(
            Psn::new(cumulative).advance(ahead as u32),
            sequence.cumulative,
        );
        assert_eq!(shown, model.arrived.contains(&(model.cumulative + ahead)));
    }
}

proptest! {
    #[test]
    fn equals_a_set_whatever_arrives(
        wide in 0_usize..3,
        base in prop::sample::select(vec![0_u64, 1, 63, 64, 1000, MODULUS - 130, MODULUS - 16]),
        steps in prop::collection::vec(-80_i64..300, 1..200),
    ) {
        let window = [64, 128, 256][wide];
        let mut sequence = advanced(window, base);
        let mut model = Model { window: window.into(), arrived: BTreeSet::new(), cumulative: base };
        for step in steps {
            // Mostly near the window, often the very next.
            let n = if step % 3 == 0 { model.cumulative as i64 } else { model.cumulative as i64 + step };
            offer(&mut sequence, &mut model, n.max(0) as u64);
        }
    }
}

#[test]
fn field_case_19_windows_move_by_any_amount_and_across_zero() {
    let base = 0xff_fff0;
    let model = || Model {
        window: 64,
        arrived: BTreeSet::new(),
        cumulative: base,
    };
    let mut forward = (advanced(64, base), model());
    for ahead in (1..64).chain([0]) {
        offer(&mut forward.0, &mut forward.1, base + ahead);
    }
    assert_eq!(
        forward.1.cumulative,
        base + 64,
        "one arrival moves the base by a window"
    );
    for far in [[63, 64, 65, 127, 200], [200, 127, 65, 64, 63]] {
        let mut alone = (advanced(64, base), model());
        for ahead in far {
            offer(&mut alone.0, &mut alone.1, base + ahead);
        }
        assert_eq!(
            alone.1.arrived,
            BTreeSet::from([base + 63]),
            "what is outside leaves no trace"
        );
    }
}

#[test]
fn the_echo_follows_the_highest_ordinal_and_sees_gaps() {
    let mut sequence = PathSequence::new(64);
    assert!(
        sequence.block(PathId(0), 0).is_none(),
        "nothing came, nothing is said"
    );
    assert!(!sequence.echo(Ordinal(0), 10, 1_000));
    assert!(sequence.echo(Ordinal(2), 12, 3_000), "1 is missing");
    assert!(!sequence.echo(Ordinal(1), 11, 4_000), "it was only late");
    let block = sequence.block(PathId(0), 3_000 + 1_280).unwrap();
    assert_eq!(
        (block.ordinal, block.timestamp, block.delay),
        (Ordinal(2), 12, 10)
    );
    for ordinal in (3..=u16::MAX).chain([0]) {
        assert!(!sequence.echo(Ordinal(ordinal), 0, 5_000), "{ordinal}");
    }
    assert!(sequence.echo(Ordinal(2), 0, 5_000), "a gap after the wrap");
}

#[test]
fn a_closed_epoch_is_told_the_same_until_the_next_one_begins() {
    let mut sequence = PathSequence::new(64);
    for n in [0, 1, 3] {
        sequence.accept(Psn::new(n), false);
        sequence.echo(Ordinal(n as u16), 5, 100);
    }
    let first = *sequence.fence(Epoch(0), PathId(3), 1_000).unwrap();
    assert_eq!(
        (first.cumulative, first.received, first.ordinal),
        (Psn::new(2), 3, Ordinal(3))
    );
    assert!(first.bitvector.received(Psn::new(3), first.cumulative));
    let again = *sequence.fence(Epoch(0), PathId(3), 9_000).unwrap();
    assert_eq!(first, again, "also the delay");
    assert_eq!(sequence.epoch, Epoch(1));
    assert!(
        sequence.fence(Epoch(7), PathId(3), 9_000).is_none(),
        "an epoch that never was"
    );
    sequence.echo(Ordinal(0), 6, 10_000);
    assert!(
        sequence.fence(Epoch(0), PathId(3), 11_000).is_none(),
        "long over"
    );
    assert_eq!(sequence.epoch, Epoch(1), "an old FENCE closes nothing");
}

#[test]
fn an_epoch_on_which_nothing_came_is_closed_too() {
    let mut sequence = PathSequence::new(64);
    let block = *sequence.fence(Epoch(0), PathId(0), 1_000).unwrap();
    assert_eq!(
        (block.cumulative, block.ordinal, block.received),
        (Psn::new(0), Ordinal(0), 0)
    );
}
