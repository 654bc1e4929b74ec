//! Any four bytes behind any frame: they come when they come, and may need one beat more.

mod bench;

use bench::seeds;
use osprey_rtl::emit;
use osprey_rtl::tx::crc_insert::CrcInsert;
use osprey_verilated::{Model, Source, Stall, lint};
use rust_hdl::prelude::*;
use std::collections::VecDeque;

fn source() -> Source {
    let mut insert = CrcInsert::new();
    insert.clock.connect();
    insert.reset.connect();
    insert.data.connect();
    insert.info.connect();
    insert.valid.connect();
    insert.crc.connect();
    insert.crc_valid.connect();
    Source::new("crc_insert", emit::verilog("crc_insert", insert))
}

/// Beats that wait for their CRC and are not lost.
const WAITING_MAX: usize = 16;

struct Beat {
    bytes: Vec<u8>,
    info: u64,
    last: bool,
}

/// Bytes, first, last, plane, as `BeatInfo` has them.
fn beats(plane: u64, frame: &[u8]) -> VecDeque<Beat> {
    let count = frame.len().div_ceil(64);
    let beat = |(at, bytes): (usize, &[u8])| {
        let (first, last) = (at == 0, at + 1 == count);
        let marks = u64::from(first) << 7 | u64::from(last) << 8;
        Beat {
            bytes: bytes.to_vec(),
            info: bytes.len() as u64 | marks | plane << 10,
            last,
        }
    };
    frame.chunks(64).enumerate().map(beat).collect()
}

struct Bench {
    model: Model,
    stall: Stall,
    beats: VecDeque<Beat>,
    /// CRCs of frames that have gone in whole, with the cycle from which they may come.
    crcs: VecDeque<(u64, [u8; 4])>,
    of_frames: VecDeque<[u8; 4]>,
    waiting: usize,
    rest: bool,
    expected: VecDeque<(u64, Vec<u8>)>,
    partial: Vec<u8>,
}

impl Bench {
    fn new(seed: u64) -> Self {
        let model = Model::build(&source()).unwrap();
        model.reset();
        let mut stall = Stall::new(seed);
        let mut bench = Self {
            model,
            beats: VecDeque::new(),
            crcs: VecDeque::new(),
            of_frames: VecDeque::new(),
            waiting: 0,
            rest: false,
            expected: VecDeque::new(),
            partial: Vec::new(),
            stall: Stall::new(seed + 1000),
        };
        for length in 1..700 {
            let length = if length < 200 {
                length
            } else {
                1 + stall.below(700) as usize
            };
            let (plane, frame, crc) = (stall.below(4), stall.bytes(length), stall.bytes(4));
            let crc: [u8; 4] = crc.try_into().unwrap();
            bench.beats.extend(beats(plane, &frame));
            bench.of_frames.push_back(crc);
            bench
                .expected
                .push_back((plane, [&frame[..], &crc].concat()));
        }
        bench
    }

    fn drive(&mut self, gap: u64, delay: u64) {
        let input = |name: &str| self.model.input(name);
        let now = self.model.cycles();
        // One cycle is left behind a frame whose CRC needs another beat.
        let held = std::mem::take(&mut self.rest) || self.waiting >= WAITING_MAX;
        let valid = !self.beats.is_empty() && !held && !self.stall.chance(gap);
        input("valid").set(valid);
        if valid {
            let beat = self.beats.pop_front().expect("there is one");
            input("data").set_bytes(&beat.bytes);
            input("info").set(beat.info);
            self.waiting += 1;
            if beat.last {
                let crc = self.of_frames.pop_front().expect("one a frame");
                self.crcs.push_back((now + self.stall.below(delay), crc));
                self.rest = beat.bytes.len() > 60;
            }
        }
        let come = self.crcs.front().is_some_and(|&(from, _)| from <= now);
        input("crc_valid").set(come);
        if come {
            let (_, crc) = self.crcs.pop_front().expect("it is there");
            input("crc").set(u32::from_le_bytes(crc));
        }
    }

    fn check(&mut self) {
        let output = |name: &str| self.model.output(name);
        if !output("out_valid").is_set() {
            return;
        }
        let info = output("out_info").get();
        let (bytes, first, last) = ((info & 127) as usize, info >> 7 & 1, info >> 8 & 1);
        assert_eq!(first == 1, self.partial.is_empty());
        assert!(last == 1 || bytes == 64, "{bytes} bytes before the end");
        let data = output("out_data").bytes();
        assert!(
            data[bytes..].iter().all(|&byte| byte == 0),
            "behind the end"
        );
        self.partial.extend(&data[..bytes]);
        if last == 1 {
            let (plane, frame) = self.expected.pop_front().expect("a frame too many");
            assert_eq!(info >> 10 & 3, plane);
            assert!(self.partial == frame, "{} bytes", frame.len());
            self.waiting -= (frame.len() - 4).div_ceil(64);
            self.partial.clear();
        }
    }
}

fn run(seed: u64) {
    let (gap, delay) = [(0, 1), (0, 12), (40, 12), (10, 30)][seed as usize % 4];
    let mut bench = Bench::new(seed);
    while !bench.expected.is_empty() {
        assert!(bench.model.cycles() < 100_000, "hangs");
        bench.drive(gap, delay);
        bench.model.eval();
        bench.check();
        bench.model.cycle();
    }
}

#[test]
fn every_length_gets_its_own_crc() {
    seeds("crc_insert::every_length_gets_its_own_crc", 4, run);
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}
