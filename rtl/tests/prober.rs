//! Silent paths against plain clocks: timer, train of eight, back-off, failure (design rule 4).

mod bench;

use bench::seeds;
use osprey_rtl::emit;
use osprey_rtl::tx::ack_processor::{AckedUpdate, Forced, PathSent};
use osprey_rtl::tx::prober::Prober;
use osprey_verilated::{Model, Record, Source, Stall, lint};

const PATHS: u64 = 32;
const TIMER: u64 = 400;
const INTERVAL: u64 = 150;
const ACK_DELAY: u64 = 30;
/// Clock cycles a unit of time; a round of the sweep and waiting for `probe_ready` make a timer so much late.
const CYCLES: u64 = 4;
const LATE: u64 = 100;

fn source() -> Source {
    Source::new("prober", emit::verilog("prober", Prober::new(5)))
}

#[derive(Default, Clone, Debug)]
struct Path {
    ordinal: u64,
    walked: u64,
    srtt: u64,
    /// When the clock started: not before, not after.
    since: (u64, u64),
    probes: u64,
    backoff: u64,
    failed: bool,
    /// When the path was last changed: the sweep may have read it just before.
    changed: u64,
}

impl Path {
    fn is_idle(&self) -> bool {
        self.ordinal == self.walked
    }

    fn timer(&self) -> u64 {
        let srtt = self.srtt >> 3;
        (srtt + srtt / 4 + ACK_DELAY).max(TIMER)
    }

    fn restart(&mut self, time: u64) {
        self.since = (time, time + LATE);
        (self.probes, self.backoff, self.failed) = (0, 0, false);
    }

    /// From the start of the clock to the next probe, or to the report of failure.
    fn limit(&self, most: u64) -> u64 {
        match (self.probes, self.backoff) {
            (0, 0) => self.timer(),
            (0, backoff) => 8 << backoff.min(12),
            (8, backoff) if backoff >= most => self.timer(),
            (8, backoff) => self.timer() + (8 << (backoff + 1).min(12)),
            _ => INTERVAL,
        }
    }
}

#[derive(Clone, Copy)]
struct Rates {
    cycles: u64,
    backoff_max: u64,
    send: u64,
    acknowledge: u64,
}

fn check_probe(path: &mut Path, order: &Record, time: u64, most: u64) {
    let context = format!("time {time}: {order:?} of {path:?}");
    assert!(!path.is_idle() && !path.failed, "{context}");
    let limit = path.limit(most);
    assert!(time >= path.since.0 + limit, "too soon, {context}");
    if path.probes == 8 {
        (path.probes, path.backoff) = (0, path.backoff + 1);
    }
    let got = ["kind", "train", "timeout"].map(|name| order.get(name));
    assert_eq!(
        got,
        [1, path.probes, u64::from(path.backoff > 0)],
        "{context}"
    );
    path.probes += 1;
    // The clock starts when the probe is made; it may wait a little to be taken.
    path.since = (time - 5, time);
}

fn run(seed: u64, rates: Rates) -> [u64; 2] {
    let model = Model::build(&source()).unwrap();
    let mut stall = Stall::new(seed);
    let input = |name: &str| model.input(name);
    let output = |name: &str| model.output(name);
    for (name, value) in [
        ("timer_min", TIMER),
        ("interval", INTERVAL),
        ("ack_delay", ACK_DELAY),
        ("sweep_end", PATHS),
    ] {
        input(name).set(value);
    }
    input("backoff_max").set(rates.backoff_max);
    let [
        now,
        sent_pair,
        sent,
        sent_valid,
        updated,
        updated_valid,
        probe_ready,
    ] = [
        "now",
        "sent_pair",
        "sent",
        "sent_valid",
        "updated",
        "updated_valid",
        "probe_ready",
    ]
    .map(input);
    let [
        probe,
        probe_valid,
        failed,
        failed_valid,
        expired,
        slot,
        suspects,
        suspect_write,
    ] = [
        "probe",
        "probe_valid",
        "failed_connection",
        "failed_valid",
        "timer_expired",
        "suspect_slot",
        "suspect_paths",
        "suspect_write",
    ]
    .map(output);
    model.reset();
    let mut paths = vec![Path::default(); PATHS as usize];
    let (mut probes, mut failures) = (0, 0);
    for cycle in 0..rates.cycles {
        let time = 0xfa00 + cycle / CYCLES;
        now.set(time & 0xffff);
        sent_valid.set(0);
        updated_valid.set(0);
        probe_ready.set(stall.chance(80));
        if stall.below(10_000) < rates.send {
            let pair = stall.below(PATHS);
            let path = &mut paths[pair as usize];
            if path.is_idle() {
                path.restart(time);
                path.changed = time;
            }
            path.ordinal = (path.ordinal + 1) & 0xffff;
            sent_pair.set(pair);
            sent.set_record(&Record::new(PathSent::FIELDS).with("next_ordinal", path.ordinal));
            sent_valid.set(1);
        }
        if stall.below(10_000) < rates.acknowledge {
            let pair = stall.below(PATHS);
            let path = &mut paths[pair as usize];
            let flying = path.ordinal.wrapping_sub(path.walked) & 0xffff;
            if flying > 0 {
                path.walked = (path.walked + 1 + stall.below(flying)) & 0xffff;
                path.srtt = stall.below(2_000) << 3;
                path.restart(time);
                path.changed = time;
                let record = Record::new(AckedUpdate::FIELDS)
                    .with("pair", pair)
                    .with("walked", path.walked)
                    .with("srtt", path.srtt);
                updated.set_record(&record);
                updated_valid.set(1);
            }
        }
        model.eval();
        if probe_valid.is_set() && probe_ready.is_set() {
            let order = probe.record(Forced::FIELDS);
            let path = &mut paths[order.get("pair") as usize];
            assert_eq!(
                expired.is_set(),
                order.get("train") == 0,
                "time {time}: the timer is counted"
            );
            if path.changed + 3 < time {
                check_probe(path, &order, time, rates.backoff_max);
                probes += 1;
            }
        } else {
            assert!(!expired.is_set());
        }
        if failed_valid.is_set() {
            assert_eq!(failed.get(), 0);
            // Which path it was, only the clocks know.
            let due = |path: &&mut Path| {
                !path.failed
                    && path.probes == 8
                    && path.backoff >= rates.backoff_max
                    && time >= path.since.0 + path.timer()
            };
            let path = paths
                .iter_mut()
                .filter(due)
                .min_by_key(|path| path.since.0 + path.timer());
            path.unwrap_or_else(|| panic!("time {time}: a failure without cause"))
                .failed = true;
            failures += 1;
        }
        if suspect_write.is_set() {
            check_suspects(&paths, slot.get(), suspects.get(), time, rates.backoff_max);
        }
        for (number, path) in paths.iter().enumerate() {
            let late = path.since.1 + path.limit(rates.backoff_max) + 2 * LATE;
            let waits = !path.is_idle() && !path.failed;
            assert!(
                !waits || time <= late,
                "time {time}: path {number} is forgotten: {path:?}"
            );
        }
        model.cycle();
    }
    [probes, failures]
}

/// The paths that are left: those with an unanswered probe.
fn check_suspects(paths: &[Path], slot: u64, suspects: u64, time: u64, most: u64) {
    for k in 0..8 {
        let path = &paths[(slot * 8 + k) as usize];
        // The word is gathered over a part of the sweep.
        let settled = path.changed + LATE < time && path.since.1 + 20 < time;
        let between = path.probes == 8 && path.backoff >= most && !path.failed;
        // A probe may be made and not be taken yet.
        let due = !path.is_idle() && !path.failed && time >= path.since.0 + path.limit(most);
        if settled && !between && !due {
            let expected = !path.is_idle() && (path.probes > 0 || path.backoff > 0);
            assert_eq!(
                suspects >> k & 1 == 1,
                expected,
                "time {time}: path {k} of {slot}: {path:?}"
            );
        }
    }
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}

#[test]
fn probes_follow_silence_and_nothing_else() {
    seeds(
        "prober::probes_follow_silence_and_nothing_else",
        6,
        |seed| {
            let rates = Rates {
                cycles: 150_000,
                backoff_max: [1, 3, 7][seed as usize % 3],
                send: [20, 100, 300][seed as usize / 2 % 3],
                acknowledge: [5, 20, 60][seed as usize % 3],
            };
            let [probes, _] = run(seed, rates);
            assert!(probes > 200, "only {probes} probes");
        },
    );
}

#[test]
fn a_path_that_never_answers_fails_once() {
    for backoff_max in [0, 2, 9] {
        let rates = Rates {
            cycles: 150_000,
            backoff_max,
            send: 100,
            acknowledge: 0,
        };
        let [probes, failures] = run(3, rates);
        assert_eq!(failures, PATHS);
        assert_eq!(probes, PATHS * 8 * (backoff_max + 1));
    }
}

/// Beyond 12 the back-off would leave the range of the time and become none at all.
#[test]
fn the_longest_back_off_stays_long() {
    let rates = Rates {
        cycles: 600_000,
        backoff_max: 15,
        send: 50,
        acknowledge: 0,
    };
    let [probes, _] = run(4, rates);
    assert!(
        probes > PATHS * 8 * 13,
        "{probes} probes: the longest was not reached"
    );
}
