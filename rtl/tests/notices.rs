//! What the host is told, against plain queues: each failure once in a connection's life, the worst kind first.

mod bench;

use bench::seeds;
use osprey_rtl::emit;
use osprey_rtl::rx::message_table::PlacedPacket;
use osprey_rtl::top::notices::Notices;
use osprey_rtl::tx::message_completion::Notice;
use osprey_verilated::{Model, Record, Source, Stall, lint};
use std::collections::{BTreeSet, VecDeque};

fn source() -> Source {
    Source::new("notices", emit::verilog("notices", Notices::new()))
}

/// Kinds of failure with the status that the host sees, the first to be told first.
const FAILURES: [(&str, u64); 4] = [("nack", 2), ("failed", 3), ("invalid", 4), ("local", 1)];
/// No queue is given more than it holds: their sources are slower than the host.
const QUEUED_MAX: usize = 24;

#[derive(Default)]
struct Queues {
    failures: [VecDeque<u64>; 4],
    /// Ring index, length, plane.
    controls: VecDeque<[u64; 3]>,
    stopped: BTreeSet<u64>,
}

#[derive(PartialEq, Debug)]
enum Told {
    Nothing,
    Failure(u64, u64),
    Control([u64; 3]),
}

impl Queues {
    /// Takes the first, in the order of kinds.
    fn take(&mut self) -> Told {
        for (kind, (_, status)) in FAILURES.iter().enumerate() {
            if let Some(connection) = self.failures[kind].pop_front() {
                return Told::Failure(connection, *status);
            }
        }
        self.controls
            .pop_front()
            .map_or(Told::Nothing, Told::Control)
    }
}

/// What comes in with a cycle.
struct Coming {
    failures: Vec<(usize, u64)>,
    control: Option<[u64; 3]>,
    set: Option<u64>,
}

struct Bench {
    model: Model,
    stall: Stall,
    queues: Queues,
    /// What was chosen, and whether its connection was stopped when that was looked up.
    chosen: Told,
    known: Option<bool>,
    /// The connection set up anew in the cycle before: it may fail again from the next one on.
    clearing: Option<u64>,
    /// What the register at the output holds.
    leaving: Told,
    told: usize,
    passed_over: usize,
}

impl Bench {
    /// Sets what comes in, gives it to the queues behind the cycle.
    fn drive(&mut self, rate: u64) -> Coming {
        let stall = &mut self.stall;
        let mut failures = Vec::new();
        for (kind, (name, _)) in FAILURES.iter().enumerate() {
            let connection = stall.below(64);
            let valid = self.queues.failures[kind].len() < QUEUED_MAX && stall.chance(rate);
            self.model
                .input(&format!("{name}_connection"))
                .set(connection);
            self.model.input(&format!("{name}_valid")).set(valid);
            failures.extend(valid.then_some((kind, connection)));
        }
        let control = [stall.below(1 << 16), stall.below(257), stall.below(4)];
        let valid = self.queues.controls.len() < QUEUED_MAX && stall.chance(rate);
        let packet = Record::new(PlacedPacket::FIELDS)
            .with("index", control[0])
            .with("length", control[1])
            .with("plane", control[2])
            .with("control", 1);
        self.model.input("control").set_record(&packet);
        self.model.input("control_valid").set(valid);
        let set = (stall.chance(5), stall.below(64));
        self.model.input("set_valid").set(set.0);
        self.model.input("set_connection").set(set.1);
        self.model.input("notice_ready").set(stall.chance(40));
        Coming {
            failures,
            control: valid.then_some(control),
            set: set.0.then_some(set.1),
        }
    }

    fn check(&mut self, set: Option<u64>) {
        let output = |name: &str| self.model.output(name);
        assert_eq!(
            output("notice_valid").is_set(),
            self.leaving != Told::Nothing
        );
        let notice = output("notice").record(Notice::FIELDS);
        let get = |name| notice.get(name);
        match self.leaving {
            Told::Failure(connection, status) => assert_eq!(
                [get("kind"), get("status"), get("connection")],
                [2, status, connection]
            ),
            Told::Control(control) => {
                assert_eq!([get("kind"), get("status"), get("connection")], [1, 0, 0]);
                assert_eq!([get("index"), get("length"), get("plane")], control);
            }
            Told::Nothing => {}
        }
        // It goes into the register when that is free, but not while a connection is set. A stopped connection's needs no
        // host.
        let free = self.leaving == Told::Nothing || self.model.input("notice_ready").is_set();
        let told = self.known == Some(false) && set.is_none() && free;
        let stops = told && matches!(self.chosen, Told::Failure(..));
        assert_eq!(output("stop_valid").is_set(), stops);
        if free {
            self.leaving = Told::Nothing;
        }
        if self.chosen == Told::Nothing {
            self.chosen = self.queues.take();
            return;
        }
        let Some(known) = self.known else {
            let stopped = &self.queues.stopped;
            self.known = Some(matches!(&self.chosen, Told::Failure(it, _) if stopped.contains(it)));
            return;
        };
        if let (Told::Failure(connection, _), true) = (&self.chosen, stops) {
            assert_eq!(output("stop_connection").get(), *connection);
            self.queues.stopped.insert(*connection);
            self.clearing = self.clearing.filter(|set| set != connection);
            self.told += 1;
        }
        let chosen = std::mem::replace(&mut self.chosen, Told::Nothing);
        if told {
            self.leaving = chosen;
        } else if known {
            self.passed_over += 1;
        } else {
            self.chosen = chosen;
            return;
        }
        self.known = None;
    }
}

fn run(seed: u64) {
    let model = Model::build(&source()).unwrap();
    for (name, _) in FAILURES {
        model.input(&format!("{name}_valid")).set(0);
    }
    model.input("control_valid").set(0);
    model.input("set_valid").set(0);
    model.reset();
    let mut bench = Bench {
        model,
        stall: Stall::new(seed),
        queues: Queues::default(),
        chosen: Told::Nothing,
        known: None,
        clearing: None,
        leaving: Told::Nothing,
        told: 0,
        passed_over: 0,
    };
    for cycle in 0..20_000 {
        let coming = bench.drive([1, 10, 30][cycle / 1000 % 3]);
        bench.model.eval();
        bench.check(coming.set);
        bench.model.cycle();
        for (kind, connection) in coming.failures {
            bench.queues.failures[kind].push_back(connection);
        }
        bench.queues.controls.extend(coming.control);
        if let Some(connection) = std::mem::replace(&mut bench.clearing, coming.set) {
            bench.queues.stopped.remove(&connection);
        }
    }
    assert!(
        bench.told > 500 && bench.passed_over > 500,
        "{} {}",
        bench.told,
        bench.passed_over
    );
}

#[test]
fn a_failure_is_told_once_and_stops_its_connection() {
    seeds(
        "notices::a_failure_is_told_once_and_stops_its_connection",
        4,
        run,
    );
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}
