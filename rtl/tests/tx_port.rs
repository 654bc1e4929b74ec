//! One plane's way out: frames leave whole and without a gap, with their CRC behind them, however both came.

mod bench;

use bench::seeds;
use osprey_rtl::emit;
use osprey_rtl::tx::tx_port::TxPort;
use osprey_verilated::{Model, Source, Stall, lint};
use rust_hdl::prelude::*;
use std::collections::VecDeque;

fn source() -> Source {
    let mut port = TxPort::default();
    port.clock.connect();
    port.reset.connect();
    port.data.connect();
    port.info.connect();
    port.valid.connect();
    port.crc.connect();
    port.crc_valid.connect();
    port.tready.connect();
    Source::new("tx_port", emit::verilog("tx_port", port))
}

struct Frame {
    bytes: Vec<u8>,
    crc: [u8; 4],
}

struct Bench {
    model: Model,
    stall: Stall,
    /// Beats, and the CRC with the last.
    beats: VecDeque<(Vec<u8>, Option<[u8; 4]>)>,
    /// CRCs of frames that have gone in whole, with the cycle from which they may come.
    crcs: VecDeque<(u64, [u8; 4])>,
    expected: VecDeque<Vec<u8>>,
    partial: Vec<u8>,
    /// Beats that may be sent, the ones that a CRC adds among them.
    credit: u64,
}

impl Bench {
    fn new(seed: u64, frames: impl Iterator<Item = Frame>) -> Self {
        let model = Model::build(&source()).unwrap();
        model.reset();
        let (mut beats, mut expected) = (VecDeque::new(), VecDeque::new());
        for frame in frames {
            let count = frame.bytes.len().div_ceil(64);
            for (at, beat) in frame.bytes.chunks(64).enumerate() {
                beats.push_back((beat.to_vec(), (at + 1 == count).then_some(frame.crc)));
            }
            expected.push_back([&frame.bytes[..], &frame.crc].concat());
        }
        Self {
            model,
            stall: Stall::new(seed),
            beats,
            crcs: VecDeque::new(),
            expected,
            partial: Vec::new(),
            credit: 512,
        }
    }

    fn drive(&mut self, chances: [u64; 2], delay: u64) {
        let input = |name: &str| self.model.input(name);
        let now = self.model.cycles();
        let sends = self.credit > 1 && !self.beats.is_empty() && self.stall.chance(chances[0]);
        input("valid").set(sends);
        if sends {
            let (beat, crc) = self.beats.pop_front().unwrap();
            input("data").set_bytes(&beat);
            input("info").set(beat.len() as u64 | u64::from(crc.is_some()) << 8);
            self.credit -= 1 + u64::from(beat.len() > 60 && crc.is_some());
            self.crcs
                .extend(crc.map(|crc| (now + 1 + self.stall.below(delay), crc)));
        }
        let comes = self.crcs.front().is_some_and(|&(from, _)| from <= now);
        input("crc_valid").set(comes);
        if comes {
            let (_, mut crc) = self.crcs.pop_front().unwrap();
            // Turned to the lanes behind the end of the frame that it belongs to.
            let waiting = self.expected.len() - self.crcs.len();
            let whole = self.whole_frames_from(waiting);
            crc.rotate_right(whole % 4);
            input("crc").set(u32::from_le_bytes(crc));
        }
        input("tready").set(self.stall.chance(chances[1]));
    }

    /// Bytes of the frame whose CRC comes now: those that have not gone in, or whose CRCs wait, stand behind it.
    fn whole_frames_from(&self, waiting: usize) -> usize {
        let outside = self.beats.iter().filter(|(_, crc)| crc.is_some()).count();
        self.expected[waiting - outside - 1].len() - 4
    }

    fn check(&mut self) {
        let output = |name: &str| self.model.output(name);
        let valid = output("tvalid").is_set();
        assert!(valid || self.partial.is_empty(), "a gap in a frame");
        if valid && self.model.input("tready").is_set() {
            let keep = output("tkeep").get();
            let count = keep.count_ones() as usize;
            assert_eq!(keep.trailing_ones() as usize, count, "a hole in tkeep");
            self.partial.extend(&output("tdata").bytes()[..count]);
            if output("tlast").is_set() {
                let frame = self.expected.pop_front().expect("a frame too many");
                assert!(self.partial == frame, "{} bytes", frame.len());
                self.partial.clear();
            } else {
                assert_eq!(count, 64, "before the end");
            }
        }
        self.credit += output("freed").get();
    }

    fn run(&mut self, chances: [u64; 2], delay: u64) {
        while !self.expected.is_empty() {
            assert!(self.model.cycles() < 500_000, "hangs");
            self.drive(chances, delay);
            self.model.eval();
            self.check();
            self.model.cycle();
        }
        assert_eq!(self.credit, 512);
    }
}

fn frame(stall: &mut Stall, length: usize) -> Frame {
    Frame {
        bytes: stall.bytes(length),
        crc: stall.bytes(4).try_into().unwrap(),
    }
}

fn run(seed: u64) {
    let (chances, delay) = [
        ([100, 100], 1),
        ([30, 100], 12),
        ([100, 30], 12),
        ([60, 60], 30),
    ][seed as usize % 4];
    let mut stall = Stall::new(seed + 1000);
    // Every length once, then any.
    let lengths: Vec<_> = (1..700)
        .map(|length| match length {
            ..200 => length,
            _ => 1 + stall.below(900) as usize,
        })
        .collect();
    let frames: Vec<_> = lengths
        .into_iter()
        .map(|length| frame(&mut stall, length))
        .collect();
    Bench::new(seed, frames.into_iter()).run(chances, delay);
}

#[test]
fn frames_leave_with_their_crc_and_without_a_gap() {
    seeds(
        "tx_port::frames_leave_with_their_crc_and_without_a_gap",
        4,
        run,
    );
}

/// As many frames as there are beats: each has its CRC waiting.
#[test]
fn a_port_full_of_short_frames_loses_none() {
    let mut stall = Stall::new(7);
    let frames: Vec<_> = (0..1200).map(|_| frame(&mut stall, 60)).collect();
    Bench::new(7, frames.into_iter()).run([100, 10], 2);
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}
