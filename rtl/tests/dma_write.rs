//! The write engine against a slave of bytes: what is written where, what is told when, what the bus sees.

use osprey_rtl::dma::{DmaWrite, FrameRoute, WriteRecord};
use osprey_rtl::emit;
use osprey_verilated::{Model, Record, Source, Stall, lint};
use rust_hdl::prelude::*;
use std::collections::{HashMap, VecDeque};

fn text() -> String {
    let mut write = DmaWrite::new();
    write.clock.connect();
    write.reset.connect();
    write.route.connect();
    write.route_valid.connect();
    write.plan.connect();
    write.plan_valid.connect();
    write.payload_data.connect();
    write.payload_last.connect();
    write.payload_valid.connect();
    write.record.connect();
    write.record_valid.connect();
    write.ack_ready.connect();
    write.awready.connect();
    write.wready.connect();
    write.bresp.connect();
    write.bvalid.connect();
    emit::verilog("dma_write", write)
}

type Memory = HashMap<u64, u8>;

/// The layout of `WritePlan`, a struct of wires.
const PLAN: &[(&str, usize)] = &[
    ("address0", 64),
    ("beats0", 7),
    ("address1", 64),
    ("beats1", 7),
    ("empty", 1),
    ("split", 1),
    ("discard", 1),
];

/// A frame, what is to be done with it, and what must follow.
struct Plan {
    route: Record,
    /// If it goes through the aligner.
    plan: Option<Record>,
    frame: VecDeque<Vec<u8>>,
    /// Bytes that must be in memory when it is placed; none if it is not a write.
    places: Option<Vec<(u64, u8)>>,
}

fn plan(stall: &mut Stall) -> Plan {
    let kind = stall.pick(&[0, 1, 1, 1, 1, 2]);
    let most = stall.pick(&[300, 4096]);
    let length = match stall.below(6) {
        0 => 0,
        1 => 1 + stall.below(64),
        2 | 3 => 256,
        _ => 1 + stall.below(most),
    };
    let source = if stall.chance(80) {
        48
    } else {
        stall.below(64)
    };
    let address0 = stall.bits() & 0x00ff_ffff_ffff_ffff;
    let length0 = length.min(4096 - address0 % 4096);
    let address1 = stall.bits() & 0x00ff_ffff_ffff_f000;
    let beats = if kind == 1 {
        (source + length).div_ceil(64).max(1)
    } else {
        1 + stall.below(6)
    };
    let bytes = stall.bytes(64 * beats as usize);
    let run = &bytes[source as usize..];
    let address = |index: u64| {
        if index < length0 {
            address0 + index
        } else {
            address1 + index - length0
        }
    };
    let discard = stall.chance(20);
    let places = (kind == 1 && !discard).then(|| {
        (0..length)
            .map(|index| (address(index), run[index as usize]))
            .collect()
    });
    let route = Record::new(FrameRoute::FIELDS)
        .with("kind", kind)
        .with("source", source)
        .with("lane", address0 % 64)
        .with("length", length);
    // What is discarded has an address that means nothing.
    let (length0, address1) = if discard {
        (stall.below(length + 1), stall.bits())
    } else {
        (length0, address1)
    };
    let plan = Record::new(PLAN)
        .with("address0", address0)
        .with("beats0", (address0 % 64 + length0).div_ceil(64) & 0x7f)
        .with("address1", address1)
        .with("beats1", (length - length0).div_ceil(64) & 0x7f)
        .with("empty", length == 0)
        .with("split", length0 != length)
        .with("discard", discard);
    let frame = bytes.chunks(64).map(<[u8]>::to_vec).collect();
    Plan {
        route,
        plan: (kind == 1).then_some(plan),
        frame,
        places,
    }
}

fn record(stall: &mut Stall, tag: u64) -> (Record, Vec<(u64, u8)>) {
    let address = (stall.bits() & 0x00ff_ffff_ffff_ffff) / 64 * 64 + 32 * stall.below(2);
    let bytes = stall.bytes(32);
    let mut record = Record::new(WriteRecord::FIELDS)
        .with("address", address)
        .with("tag", tag);
    let words: Vec<_> = bytes
        .chunks(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect();
    record.set_words("data", &words);
    (
        record,
        (0..32)
            .map(|index| (address + index, bytes[index as usize]))
            .collect(),
    )
}

/// An AXI slave that takes everything in order and answers late.
#[derive(Default)]
struct Slave {
    bursts: VecDeque<(u64, u64)>,
    beat: u64,
    /// Data of bursts whose address has not come yet are not taken.
    answers: VecDeque<u64>,
    memory: Memory,
}

impl Slave {
    fn take(&mut self, data: &[u8], strobe: u64, last: bool, now: u64) {
        let &(address, beats) = self
            .bursts
            .front()
            .expect("the test takes data only behind an address");
        assert_ne!(strobe, 0, "a beat without a byte");
        for lane in (0..64).filter(|lane| strobe >> lane & 1 == 1) {
            self.memory
                .insert(address + 64 * self.beat + lane, data[lane as usize]);
        }
        self.beat += 1;
        assert_eq!(last, self.beat == beats);
        if last {
            self.bursts.pop_front();
            self.beat = 0;
            self.answers.push_back(now + 10);
        }
    }
}

struct Bench {
    model: Model,
    stall: Stall,
    slave: Slave,
    routes: VecDeque<Record>,
    /// Plans with the number of their frame.
    plans: VecDeque<(u64, Record)>,
    /// Frames whose route was given; frames that are through.
    routed: u64,
    through: u64,
    /// The frame of each address that a plan names.
    frame_of: HashMap<u64, u64>,
    frames: VecDeque<(Vec<u8>, bool)>,
    forwarded: VecDeque<(Vec<u8>, bool)>,
    records: VecDeque<(Record, Vec<(u64, u8)>)>,
    placed: VecDeque<Vec<(u64, u8)>>,
    done: VecDeque<Vec<(u64, u8)>>,
    held: Option<(Vec<u8>, u64)>,
}

impl Bench {
    fn new(seed: u64, frames: u64, records: u64) -> Self {
        let model = Model::build(&Source::new("dma_write", text())).unwrap();
        model.reset();
        let mut stall = Stall::new(seed);
        let all: Vec<_> = (0..frames).map(|_| plan(&mut stall)).collect();
        let plans = (0..)
            .zip(&all)
            .filter_map(|(at, plan)| Some((at, plan.plan.clone()?)))
            .collect();
        let records: VecDeque<_> = (0..records).map(|tag| record(&mut stall, tag)).collect();
        let mut bench = Self {
            model,
            stall,
            slave: Slave::default(),
            frames: VecDeque::new(),
            forwarded: VecDeque::new(),
            placed: all.iter().filter_map(|plan| plan.places.clone()).collect(),
            routes: all.iter().map(|plan| plan.route.clone()).collect(),
            routed: 0,
            through: 0,
            frame_of: HashMap::new(),
            done: records.iter().map(|(_, bytes)| bytes.clone()).collect(),
            plans,
            records,
            held: None,
        };
        for plan in &all {
            let count = plan.frame.len();
            let beats: Vec<_> = plan
                .frame
                .iter()
                .cloned()
                .enumerate()
                .map(|(at, beat)| (beat, at + 1 == count))
                .collect();
            if plan.route.get("kind") == 2 {
                bench.forwarded.extend(beats.clone());
            }
            bench.frames.extend(beats);
        }
        bench
    }

    fn finished(&self) -> bool {
        self.placed.is_empty()
            && self.done.is_empty()
            && self.forwarded.is_empty()
            && self.frames.is_empty()
    }

    fn drive(&mut self, chances: [u64; 6]) {
        let input = |name: &str| self.model.input(name);
        let room = self.model.output("route_room").is_set();
        input("route_valid").set(!self.routes.is_empty() && room && self.stall.chance(chances[0]));
        if let Some(route) = self.routes.front() {
            input("route").set_record(route);
        }
        let told = self.plans.front().is_some_and(|&(at, _)| at < self.routed);
        input("plan_valid").set(told && self.stall.chance(chances[0]));
        if let Some((_, plan)) = self.plans.front() {
            input("plan").set_record(plan);
        }
        input("payload_valid").set(!self.frames.is_empty() && self.stall.chance(chances[1]));
        if let Some((beat, last)) = self.frames.front() {
            input("payload_data").set_bytes(beat);
            input("payload_last").set(*last);
        }
        input("record_valid").set(!self.records.is_empty() && self.stall.chance(chances[2]));
        if let Some((record, _)) = self.records.front() {
            input("record").set_record(record);
        }
        input("ack_ready").set(self.stall.chance(chances[3]));
        input("awready").set(self.stall.chance(chances[4]));
        input("wready").set(!self.slave.bursts.is_empty() && self.stall.chance(chances[5]));
        let answers = self
            .slave
            .answers
            .front()
            .is_some_and(|&from| from <= self.model.cycles());
        input("bvalid").set(answers && self.stall.chance(60));
    }

    fn cycle(&mut self, chances: [u64; 6]) {
        self.drive(chances);
        self.model.eval();
        let input = |name: &str| self.model.input(name).is_set();
        let output = |name: &str| self.model.output(name);
        let now = self.model.cycles();
        if output("wvalid").is_set() {
            let shown = (output("wdata").bytes(), output("wstrb").get());
            assert!(
                self.held.take().is_none_or(|held| held == shown),
                "data changed while they waited"
            );
            if input("wready") {
                self.slave
                    .take(&shown.0, shown.1, output("wlast").is_set(), now);
            } else {
                self.held = Some(shown);
            }
        } else {
            assert!(self.held.is_none(), "data went away while they waited");
        }
        if output("awvalid").is_set() && input("awready") {
            let (address, beats) = (output("awaddr").get(), output("awlen").get() + 1);
            assert!(address % 64 == 0 && address / 4096 == (address + 64 * beats - 1) / 4096);
            self.slave.bursts.push_back((address, beats));
            // Addresses without data would block the bus behind a frame that has to wait.
            if let Some(&at) = self.frame_of.get(&address) {
                assert!(self.through >= at, "an address before its frame's turn");
            }
        }
        if input("bvalid") && output("bready").is_set() {
            self.slave.answers.pop_front();
        }
        if output("placed_valid").is_set() {
            let bytes = self.placed.pop_front().expect("a write");
            check(&self.slave.memory, &bytes);
        }
        if output("record_done_valid").is_set() {
            check(
                &self.slave.memory,
                &self.done.pop_front().expect("a record"),
            );
        }
        if output("ack_valid").is_set() && input("ack_ready") {
            let (beat, last) = self.forwarded.pop_front().expect("a forwarded beat");
            assert_eq!(
                (output("ack_data").bytes(), output("ack_last").is_set()),
                (beat, last)
            );
        }
        if input("route_valid") {
            self.routes.pop_front();
            self.routed += 1;
        }
        if input("plan_valid") && output("plan_ready").is_set() {
            let (at, plan) = self.plans.pop_front().expect("it was shown");
            self.frame_of.insert(plan.get("address0") / 64 * 64, at);
        }
        if input("payload_valid") && output("payload_ready").is_set() {
            let (_, last) = self.frames.pop_front().expect("it was shown");
            self.through += u64::from(last);
        }
        if input("record_valid") && output("record_ready").is_set() {
            self.records.pop_front();
        }
        assert!(!output("write_error").is_set());
        self.model.cycle();
    }
}

fn check(memory: &Memory, bytes: &[(u64, u8)]) {
    for (address, byte) in bytes {
        assert_eq!(memory.get(address), Some(byte), "at {address:#x}");
    }
}

fn run(seed: u64, frames: u64, records: u64, chances: [u64; 6]) -> u64 {
    let mut bench = Bench::new(seed, frames, records);
    while !bench.finished() {
        assert!(bench.model.cycles() < 1_000_000, "hangs");
        bench.cycle(chances);
    }
    let expected: usize = Bench::new(seed, frames, records)
        .placed
        .iter()
        .map(Vec::len)
        .sum();
    // Addresses are random and far apart: nothing else may have been written.
    assert_eq!(bench.slave.memory.len(), expected + 32 * records as usize);
    bench.model.cycles()
}

#[test]
fn random_jobs_with_stalls() {
    run(41, 600, 300, [100, 100, 100, 100, 100, 100]);
    run(42, 600, 300, [50, 50, 50, 50, 50, 50]);
    run(43, 600, 300, [100, 100, 10, 100, 30, 30]);
    run(44, 600, 300, [20, 100, 100, 10, 100, 100]);
}

#[test]
fn a_wrong_answer_is_told() {
    let model = Model::build(&Source::new("dma_write", text())).unwrap();
    model.reset();
    model.input("bvalid").set(1);
    model.input("bresp").set(2);
    model.eval();
    assert!(model.output("write_error").is_set());
}

#[test]
fn the_verilog_is_clean() {
    lint(&Source::new("dma_write", text())).unwrap();
}
