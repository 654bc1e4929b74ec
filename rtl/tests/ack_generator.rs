//! When ACKs leave and what they say, against a plain list of news (design rule 7).

mod bench;

use bench::seeds;
use osprey_rtl::emit;
use osprey_rtl::rx::path_sequence::{AckEvent, PathReceiveState};
use osprey_rtl::tx::ack_generator::{AckBlockWire, AckFrame, AckGenerator};
use osprey_verilated::{Model, Port, Record, Source, Stall, lint};
use std::collections::{BTreeMap, BTreeSet};

const DELAY: u64 = 400;
/// (connection, plane) pairs in use.
const SLOTS: u64 = 24;
/// From news to the frame when nothing else is to be done: queues, stages, four reads.
const PROMPT: u64 = 60;

fn source() -> Source {
    Source::new(
        "ack_generator",
        emit::verilog("ack_generator", AckGenerator::new(6)),
    )
}

#[derive(Default)]
struct Slot {
    /// Paths with news not yet told, and when the newest came.
    news: BTreeMap<u64, u64>,
    count: u64,
    first: u64,
    /// Since when an ACK is due at once.
    due: Option<u64>,
    /// When one was asked for last; it may have been meant for the ACK that just left.
    asked: u64,
    vague: bool,
    /// Paths on which something has come: only those are known to be the peer's too.
    seen: BTreeSet<u64>,
    /// Return paths so far.
    returned: BTreeSet<u64>,
    /// Paths told while they may not yet have been popped: they may be told again, with the next.
    early: Vec<u64>,
}

impl Slot {
    /// An ACK is due at once. Where one may have left already for what was asked before, only this is sure.
    fn ask(&mut self, cycle: u64) {
        if self.vague {
            self.due = None;
        }
        self.due.get_or_insert(cycle);
        (self.asked, self.vague) = (cycle, false);
    }
}

struct Bench<'a> {
    model: &'a Model,
    stall: Stall,
    cycle: u64,
    now: u64,
    slots: BTreeMap<u64, Slot>,
    states: BTreeMap<u64, Record>,
    news: [Port; 2],
    complete: [Port; 2],
    read: (Port, Port),
    frame: [Port; 2],
    block: [Port; 2],
    /// There is room for an ACK; in the cycle before, too.
    room: (Port, bool),
    /// Blocks of the ACK that is being gathered.
    blocks: Vec<Vec<u8>>,
    /// The state that the next cycle shows, of the pair asked for in this one.
    asked: u64,
    frames: u64,
}

impl<'a> Bench<'a> {
    fn new(model: &'a Model, seed: u64) -> Self {
        let bench = Self {
            model,
            stall: Stall::new(seed),
            cycle: 0,
            now: 0xfe00,
            slots: BTreeMap::new(),
            states: BTreeMap::new(),
            news: ["news", "news_valid"].map(|name| model.input(name)),
            complete: ["complete_pair", "complete_valid"].map(|name| model.input(name)),
            read: (model.output("read_pair"), model.input("read_state")),
            frame: ["frame", "frame_valid"].map(|name| model.output(name)),
            block: ["block", "block_valid"].map(|name| model.output(name)),
            room: (model.input("room"), true),
            blocks: Vec::new(),
            asked: 0,
            frames: 0,
        };
        for name in ["news_valid", "complete_valid", "clear_valid"] {
            model.input(name).set(0);
        }
        model.input("delay").set(DELAY);
        model.input("sweep_end").set(SLOTS);
        model.reset();
        let clear = ["clear_slot", "clear_valid"].map(|name| model.input(name));
        let ready = model.output("clear_ready");
        for slot in 0..SLOTS {
            clear[0].set(slot);
            clear[1].set(1);
            model.eval();
            while !ready.is_set() {
                model.cycle();
                model.eval();
            }
            model.cycle();
        }
        clear[1].set(0);
        bench.room.0.set(1);
        (0..500).for_each(|_| model.cycle());
        bench
    }

    /// A packet has come on a path: its state changes, and this is told.
    fn tell(&mut self, pair: u64, urgent: bool) {
        let mut state = Record::new(PathReceiveState::FIELDS);
        for (name, bits) in PathReceiveState::FIELDS {
            state.set_words(name, &self.random_words(*bits));
        }
        state.set("arrival", self.now);
        self.states.insert(pair, state);
        self.news[0].set_record(
            &Record::new(AckEvent::FIELDS)
                .with("pair", pair)
                .with("urgent", urgent),
        );
        self.news[1].set(1);
        let slot = self.slots.entry(pair >> 3).or_default();
        if slot.count == 0 {
            slot.first = self.now;
        }
        slot.count += 1;
        slot.news.insert(pair & 7, self.cycle);
        slot.seen.insert(pair & 7);
        if urgent || slot.count == 4 {
            slot.ask(self.cycle);
        }
    }

    fn random_words(&mut self, bits: usize) -> Vec<u32> {
        let mut words = self.stall.words(bits.div_ceil(32));
        if bits % 32 != 0 {
            *words.last_mut().expect("there is one") &= (1 << (bits % 32)) - 1;
        }
        words
    }

    fn complete(&mut self, pair: u64) {
        self.complete[0].set(pair);
        self.complete[1].set(1);
        if let Some(slot) = self
            .slots
            .get_mut(&(pair >> 3))
            .filter(|slot| slot.count > 0)
        {
            slot.ask(self.cycle);
        }
    }

    fn step(&mut self, room: bool) {
        self.model.input("now").set(self.now);
        self.room.0.set(room);
        let blank = Record::new(PathReceiveState::FIELDS);
        self.read
            .1
            .set_record(self.states.get(&self.asked).unwrap_or(&blank));
        self.model.eval();
        self.asked = self.read.0.get();
        self.take_block(room);
        if self.frame[1].is_set() {
            self.check_frame();
        }
        self.model.cycle();
        self.news[1].set(0);
        self.complete[1].set(0);
        self.cycle += 1;
        self.now = (self.now + u64::from(self.cycle % 2 == 0)) & 0xffff;
    }

    /// A frame's first block leaves in the cycle after room was seen.
    fn take_block(&mut self, room: bool) {
        if self.block[1].is_set() {
            assert!(
                self.room.1 || !self.blocks.is_empty(),
                "no room for a frame"
            );
            let words = self.block[0].record(AckBlockWire::FIELDS);
            let bytes = AckBlockWire::FIELDS
                .iter()
                .map(|(name, _)| words.get(name) as u8);
            self.blocks.push(bytes.collect());
        }
        self.room.1 = room;
    }

    fn check_frame(&mut self) {
        let cycle = self.cycle;
        self.frames += 1;
        let frame = self.frame[0].record(AckFrame::FIELDS);
        let (pair, count) = (frame.get("pair"), frame.get("count"));
        assert!((1..=4).contains(&count), "cycle {cycle}: {count} blocks");
        let slot = self.slots.entry(pair >> 3).or_default();
        let age = self.now.wrapping_sub(slot.first) & 0xffff;
        let early = !slot.early.is_empty();
        assert!(
            slot.due.is_some() || age >= DELAY || early,
            "cycle {cycle}: an ACK of {pair:#x} without cause"
        );
        let path = pair & 7;
        assert!(
            slot.seen.contains(&path),
            "cycle {cycle}: an ACK returns on path {path}, nothing came but on {:?}",
            slot.seen
        );
        slot.returned.insert(path);
        let mut last = None;
        let mut early = Vec::new();
        let blocks = std::mem::take(&mut self.blocks);
        assert_eq!(blocks.len() as u64, count, "cycle {cycle}: its blocks");
        for bytes in blocks {
            let path = u64::from(bytes[0]);
            assert!(last < Some(path), "cycle {cycle}: paths {last:?}, {path}");
            last = Some(path);
            assert_eq!(
                path >> 3,
                pair >> 3 & 3,
                "cycle {cycle}: another plane's path"
            );
            let own = (pair >> 5) << 5 | path;
            check_block(&bytes, &self.states[&own], self.now, cycle);
            match slot.news.remove(&(path & 7)) {
                Some(at) if at + PROMPT > cycle => early.push(path & 7),
                Some(_) => {}
                None => assert!(
                    slot.early.contains(&(path & 7)),
                    "cycle {cycle}: {own:#x} has no news"
                ),
            }
        }
        slot.early = early;
        slot.count = slot.news.len() as u64;
        // What came since the ACK was due waits on its own account.
        if slot.news.values().all(|at| at + PROMPT > cycle) {
            slot.due = (slot.asked + PROMPT > cycle && slot.count > 0).then_some(slot.asked);
            slot.vague = true;
            slot.first = self.now.wrapping_sub(PROMPT / 2);
        }
    }

    /// What is due must have left, given that frames were not held up.
    fn check_dues(&self) {
        for (number, slot) in &self.slots {
            if let Some(due) = slot.due.filter(|_| !slot.vague) {
                assert!(
                    self.cycle < due + 12 * PROMPT,
                    "cycle {}: slot {number} was due at {due}",
                    self.cycle
                );
            }
            let age = self.now.wrapping_sub(slot.first) & 0xffff;
            assert!(
                slot.news.is_empty() || age < DELAY + 300,
                "cycle {}: news of slot {number} wait {age}",
                self.cycle
            );
        }
    }
}

/// The fields of a block, big-endian (clause T-3.5).
fn check_block(bytes: &[u8], state: &Record, now: u64, cycle: u64) {
    let number = |from: usize, count: usize| {
        bytes[from..from + count]
            .iter()
            .fold(0, |value, byte| value << 8 | u64::from(*byte))
    };
    let expected = [
        ("epoch", number(1, 1)),
        ("cumulative", number(2, 3)),
        ("next_ordinal", (number(6, 2) + 1) & 0xffff),
        ("echo", number(8, 2)),
        ("marked", number(12, 2)),
        ("received", number(14, 2)),
        ("vector", number(16, 8)),
    ];
    for (name, value) in expected {
        assert_eq!(value, state.get(name), "cycle {cycle}: {name}");
    }
    let held = now.wrapping_sub(state.get("arrival")) & 0xffff;
    assert!(
        (held.saturating_sub(PROMPT)..=held).contains(&number(10, 2)),
        "cycle {cycle}: delay, not {held}"
    );
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}

/// Sparse news, so that a state does not change between its reading and the check.
#[test]
fn all_news_are_told_in_time_and_none_without_cause() {
    seeds(
        "ack_generator::all_news_are_told_in_time_and_none_without_cause",
        6,
        |seed| {
            let model = Model::build(&source()).unwrap();
            let mut bench = Bench::new(&model, seed);
            let gap = [30, 60, 200][seed as usize % 3];
            let slots = if seed % 2 == 0 { SLOTS } else { 2 };
            let paths = [8, 1, 4][seed as usize / 2 % 3];
            let mut busy = 0;
            for _ in 0..30_000 {
                busy = u64::saturating_sub(busy, 1);
                let pair = bench.stall.below(slots) << 3 | bench.stall.below(paths);
                // The path rests until its last news are told.
                let open = bench
                    .slots
                    .get(&(pair >> 3))
                    .is_none_or(|slot| !slot.news.contains_key(&(pair & 7)));
                if busy == 0 && open {
                    let urgent = bench.stall.chance(10);
                    bench.tell(pair, urgent);
                    busy = bench.stall.below(gap);
                } else if bench.stall.chance(1) {
                    bench.complete(pair);
                }
                bench.step(true);
                bench.check_dues();
            }
            assert!(bench.frames > 60, "only {} frames", bench.frames);
            if slots == 2 {
                for slot in bench.slots.values() {
                    assert_eq!(slot.returned, slot.seen, "return paths rotate");
                }
            }
        },
    );
}

/// As fast as packets can come, on one (connection, plane): nothing is forgotten.
#[test]
fn a_burst_of_the_smallest_packets_is_told_whole() {
    seeds(
        "ack_generator::a_burst_of_the_smallest_packets_is_told_whole",
        4,
        |seed| {
            let model = Model::build(&source()).unwrap();
            let mut bench = Bench::new(&model, seed);
            let mut told: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
            for burst in 0..40 {
                let (slot, count) = (bench.stall.below(SLOTS), 20 + bench.stall.below(60));
                for packet in 0..count {
                    let pair = slot << 3 | packet % 8;
                    bench.tell(pair, seed % 2 == 0);
                    let latest = bench.states[&pair].get_words("vector");
                    told.insert(pair, latest.iter().map(|&word| u64::from(word)).collect());
                    for _ in 0..3 {
                        let room = bench.stall.chance(40);
                        raw_step(&mut bench, room, &mut told);
                    }
                }
                for _ in 0..1_500 {
                    raw_step(&mut bench, true, &mut told);
                }
                assert!(
                    told.is_empty(),
                    "burst {burst}: the last news of {:x?} are not told",
                    told.keys()
                );
            }
        },
    );
}

/// A cycle in which only the newest state of each path counts.
fn raw_step(bench: &mut Bench, room: bool, told: &mut BTreeMap<u64, Vec<u64>>) {
    bench.model.input("now").set(bench.now);
    bench.room.0.set(room);
    let blank = Record::new(PathReceiveState::FIELDS);
    bench
        .read
        .1
        .set_record(bench.states.get(&bench.asked).unwrap_or(&blank));
    bench.model.eval();
    bench.asked = bench.read.0.get();
    bench.take_block(room);
    if bench.frame[1].is_set() {
        let frame = bench.frame[0].record(AckFrame::FIELDS);
        let blocks = std::mem::take(&mut bench.blocks);
        assert_eq!(blocks.len() as u64, frame.get("count"));
        for block in blocks {
            let own = (frame.get("pair") >> 5) << 5 | u64::from(block[0]);
            // The vector stands big-endian in the last 8 bytes.
            let word = |from: usize| {
                let bytes = block[from..from + 4].iter();
                bytes.fold(0, |value, byte| value << 8 | u64::from(*byte))
            };
            let vector = vec![word(20), word(16)];
            if told.get(&own) == Some(&vector) {
                told.remove(&own);
            }
        }
    }
    bench.model.cycle();
    bench.news[1].set(0);
    bench.cycle += 1;
    bench.now = (bench.now + 1) & 0xffff;
}

/// A frame of before must have been handed on: behind a clear none follows.
#[test]
fn a_clear_waits_for_the_frame_that_is_being_gathered() {
    let model = Model::build(&source()).unwrap();
    let [news, news_valid, room, clear_slot, clear_valid] =
        ["news", "news_valid", "room", "clear_slot", "clear_valid"].map(|name| model.input(name));
    let [valid, clear_ready] = ["frame_valid", "clear_ready"].map(|name| model.output(name));
    for port in ["news_valid", "complete_valid", "clear_valid", "room"] {
        model.input(port).set(0);
    }
    model.input("sweep_end").set(SLOTS);
    model.input("delay").set(DELAY);
    model.reset();
    let event = Record::new(AckEvent::FIELDS)
        .with("pair", 5 << 3)
        .with("urgent", 1);
    news.set_record(&event);
    clear_slot.set(5);
    let mut held_up = 0;
    // Asked for at every distance from the news: while they are queued, popped, gathered, shown.
    for asked in 0..40 {
        let (mut cleared, mut frames) = (None, 0);
        for cycle in 0..200 {
            news_valid.set(cycle == 0);
            clear_valid.set(cycle > asked && cleared.is_none());
            room.set(cycle > 80);
            model.eval();
            if valid.is_set() {
                assert!(
                    cleared.is_none(),
                    "asked at {asked}: an ACK of before follows"
                );
                frames += 1;
            }
            if clear_valid.is_set() && clear_ready.is_set() {
                cleared = Some(cycle);
            }
            model.cycle();
        }
        let cleared = cleared.expect("the clear is taken in the end");
        held_up += u64::from(cleared > 80);
        assert_eq!(
            frames > 0,
            cleared > 80,
            "asked at {asked}, cleared at {cleared}"
        );
    }
    assert!((10..40).contains(&held_up), "{held_up} of 40 met a frame");
}
