//! Headers and aligned payload, put together against plain concatenation.

mod bench;

use bench::seeds;
use osprey_rtl::emit;
use osprey_rtl::tx::frame_assembler::FrameAssembler;
use osprey_verilated::{Model, Record, Source, Stall, lint};
use std::collections::VecDeque;

fn source() -> Source {
    let text = emit::verilog("frame_assembler", FrameAssembler::default());
    Source::new("frame_assembler", text)
}

/// The layout of `FramePlan`, a struct of wires.
const PLAN: &[(&str, usize)] = &[
    ("plane", 2),
    ("rows", 2),
    ("header_beats", 2),
    ("beats", 7),
    ("last_bytes", 7),
];

struct Case {
    plane: u64,
    header: Vec<u8>,
    plan: Record,
    /// Bytes in their lanes, and which lanes.
    payload: Vec<(Vec<u8>, u64)>,
    frame: Vec<u8>,
}

fn case(stall: &mut Stall) -> Case {
    let header_bytes = stall.pick(&[0, 58, 66, 90, 154]) + stall.below(2) as usize;
    let least = u64::from(header_bytes < 2);
    let most = stall.pick(&[3, 70, 4096]);
    let payload_bytes = (least + stall.below(most)) as usize;
    let (header, run) = (stall.bytes(header_bytes), stall.bytes(payload_bytes));
    let frame = [&header[..], &run].concat();
    let bare = if run.is_empty() {
        frame.len().div_ceil(64)
    } else {
        header.len() / 64
    };
    let payload = frame
        .chunks(64)
        .enumerate()
        .skip(bare)
        .map(|(at, beat)| {
            let strobe = (0..beat.len())
                .filter(|lane| 64 * at + lane >= header.len())
                .fold(0, |strobe, lane| strobe | 1u64 << lane);
            // Lanes that are not the payload's hold anything.
            let mut bytes = stall.bytes(64);
            for lane in (0..beat.len()).filter(|lane| strobe >> lane & 1 == 1) {
                bytes[lane] = beat[lane];
            }
            (bytes, strobe)
        })
        .collect();
    let plane = stall.below(4);
    let plan = Record::new(PLAN)
        .with("plane", plane)
        .with("rows", header_bytes.div_ceil(64))
        .with("header_beats", bare)
        .with("beats", frame.len().div_ceil(64))
        .with("last_bytes", (frame.len() - 1) % 64 + 1);
    Case {
        plane,
        header,
        plan,
        payload,
        frame,
    }
}

struct Bench {
    model: Model,
    stall: Stall,
    cases: VecDeque<Case>,
    /// Header beats of the frames whose plans were taken.
    rows: VecDeque<Vec<u8>>,
    payload: VecDeque<(Vec<u8>, u64)>,
    expected: VecDeque<(u64, Vec<u8>)>,
    partial: Vec<u8>,
    beats: u64,
}

impl Bench {
    fn drive(&mut self, chances: [u64; 2]) {
        let input = |name: &str| self.model.input(name);
        if self.cases.len() < 2 {
            let case = case(&mut self.stall);
            self.payload.extend(case.payload.iter().cloned());
            self.expected.push_back((case.plane, case.frame.clone()));
            self.cases.push_back(case);
        }
        let (valid, beat) = (self.stall.chance(chances[0]), self.stall.chance(chances[1]));
        input("plan_valid").set(valid);
        input("plan").set_record(&self.cases[0].plan);
        // Behind the last row stands what belongs to another frame.
        let row = self.rows.front().cloned().unwrap_or_default();
        let fill = self.stall.bytes(64 - row.len());
        input("row").set_bytes(&[row, fill].concat());
        // Of a frame that is not begun no payload is taken: it may be shown.
        input("payload_valid").set(beat && !self.payload.is_empty());
        if let Some((bytes, strobe)) = self.payload.front() {
            input("payload").set_bytes(bytes);
            input("payload_strobe").set(*strobe);
        }
    }

    fn check(&mut self) {
        let output = |name: &str| self.model.output(name);
        if output("row_ready").is_set() {
            self.rows.pop_front().expect("a row too many");
        }
        if self.model.input("plan_valid").is_set() && output("plan_ready").is_set() {
            let case = self.cases.pop_front().expect("it was shown");
            self.rows.extend(case.header.chunks(64).map(<[u8]>::to_vec));
        }

        if self.model.input("payload_valid").is_set() && output("payload_ready").is_set() {
            self.payload.pop_front();
        }
        let valid = output("out_valid").is_set();
        if !valid {
            return;
        }
        let info = output("out_info").get();
        let (bytes, first, last) = ((info & 127) as usize, info >> 7 & 1, info >> 8 & 1);
        let (plane, index) = (info >> 10 & 3, info >> 12);
        assert_eq!((first == 1, index), (self.partial.is_empty(), self.beats));
        let data = output("out_data").bytes();
        assert!(
            data[bytes..].iter().all(|&byte| byte == 0),
            "behind the end"
        );
        self.partial.extend(&data[..bytes]);
        self.beats += 1;
        if last == 0 {
            assert_eq!(bytes, 64);
            return;
        }
        let expected = self.expected.pop_front().expect("a frame too many");
        assert!(
            (plane, &self.partial) == (expected.0, &expected.1),
            "{} bytes",
            expected.1.len()
        );
        self.beats = 0;
        self.partial.clear();
    }
}

fn run(seed: u64) {
    let model = Model::build(&source()).unwrap();
    model.input("plan_valid").set(0);
    model.input("payload_valid").set(0);
    model.reset();
    let chances = [[100, 100], [30, 100], [100, 40], [50, 80]][seed as usize % 4];
    let mut bench = Bench {
        model,
        stall: Stall::new(seed),
        cases: VecDeque::new(),
        rows: VecDeque::new(),
        payload: VecDeque::new(),
        expected: VecDeque::new(),
        partial: Vec::new(),
        beats: 0,
    };
    let mut frames = 0;
    for _ in 0..15_000 {
        let before = bench.expected.len();
        bench.drive(chances);
        let begun = bench.expected.len();
        bench.model.eval();
        bench.check();
        frames += begun - bench.expected.len();
        assert!(begun >= before);
        bench.model.cycle();
    }
    assert!(frames > 300, "only {frames} frames");
}

#[test]
fn frames_are_headers_and_payload() {
    seeds("frame_assembler::frames_are_headers_and_payload", 4, run);
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}
