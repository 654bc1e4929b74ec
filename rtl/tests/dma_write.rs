//! The write engine against a slave of bytes: what is written where, what is told when, what the bus sees.

use osprey_rtl::dma::{DmaWrite, WriteJob, WriteRecord};
use osprey_rtl::emit;
use osprey_verilated::{Model, Record, Source, Stall, lint};
use rust_hdl::prelude::*;
use std::collections::{HashMap, VecDeque};

fn text() -> String {
    let mut write = DmaWrite::new();
    write.clock.connect();
    write.reset.connect();
    write.job.connect();
    write.job_valid.connect();
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

/// A frame, what is to be done with it, and what must follow.
struct Plan {
    job: Record,
    frame: VecDeque<Vec<u8>>,
    /// Bytes that must be in memory when its tag is told; none if it is not a write.
    places: Option<(u64, Vec<(u64, u8)>)>,
}

fn plan(stall: &mut Stall, tag: u64) -> Plan {
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
    let places = (0..length)
        .filter(|_| kind == 1)
        .map(|index| (address(index), run[index as usize]))
        .collect();
    let job = Record::new(WriteJob::FIELDS)
        .with("kind", kind)
        .with("source", source)
        .with("length", length)
        .with("address0", address0)
        .with("length0", length0)
        .with("address1", address1)
        .with("tag", tag);
    let frame = bytes.chunks(64).map(<[u8]>::to_vec).collect();
    Plan {
        job,
        frame,
        places: (kind == 1).then_some((tag, places)),
    }
}

fn record(stall: &mut Stall, tag: u64) -> (Record, Vec<(u64, u8)>) {
    let address = (stall.bits() & 0x00ff_ffff_ffff_ffff) / 64 * 64 + 32 * stall.below(2);
    let lane = (address % 64) as usize;
    let bytes = stall.bytes(32);
    let mut data = [0; 64];
    data[lane..lane + 32].copy_from_slice(&bytes);
    let mut record = Record::new(WriteRecord::FIELDS)
        .with("address", address)
        .with("strobe", 0xffff_ffff_u64 << lane)
        .with("tag", tag);
    let words: Vec<_> = data
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
    plans: VecDeque<Plan>,
    frames: VecDeque<(Vec<u8>, bool)>,
    forwarded: VecDeque<(Vec<u8>, bool)>,
    records: VecDeque<(Record, Vec<(u64, u8)>)>,
    placed: VecDeque<(u64, Vec<(u64, u8)>)>,
    done: VecDeque<Vec<(u64, u8)>>,
    held: Option<(Vec<u8>, u64)>,
}

impl Bench {
    fn new(seed: u64, frames: u64, records: u64) -> Self {
        let model = Model::build(&Source::new("dma_write", text())).unwrap();
        model.reset();
        let mut stall = Stall::new(seed);
        let plans: VecDeque<_> = (0..frames).map(|tag| plan(&mut stall, tag)).collect();
        let records: VecDeque<_> = (0..records).map(|tag| record(&mut stall, tag)).collect();
        let mut bench = Self {
            model,
            stall,
            slave: Slave::default(),
            frames: VecDeque::new(),
            forwarded: VecDeque::new(),
            placed: plans
                .iter()
                .filter_map(|plan| plan.places.clone())
                .collect(),
            done: records.iter().map(|(_, bytes)| bytes.clone()).collect(),
            plans,
            records,
            held: None,
        };
        for plan in &bench.plans {
            let count = plan.frame.len();
            let beats: Vec<_> = plan
                .frame
                .iter()
                .cloned()
                .enumerate()
                .map(|(at, beat)| (beat, at + 1 == count))
                .collect();
            if plan.job.get("kind") == 2 {
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
        input("job_valid").set(!self.plans.is_empty() && self.stall.chance(chances[0]));
        if let Some(plan) = self.plans.front() {
            input("job").set_record(&plan.job);
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
        }
        if input("bvalid") && output("bready").is_set() {
            self.slave.answers.pop_front();
        }
        if output("placed_valid").is_set() {
            let (tag, bytes) = self.placed.pop_front().expect("a write");
            assert_eq!(output("placed_tag").get(), tag);
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
        if input("job_valid") && output("job_ready").is_set() {
            self.plans.pop_front();
        }
        if input("payload_valid") && output("payload_ready").is_set() {
            self.frames.pop_front();
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
        .map(|(_, bytes)| bytes.len())
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
