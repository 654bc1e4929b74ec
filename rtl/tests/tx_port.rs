//! One plane's way out: frames leave whole and without a gap, however they came.

use osprey_rtl::emit;
use osprey_rtl::tx::tx_port::TxPort;
use osprey_verilated::{Model, Source, Stall, lint};
use rust_hdl::prelude::*;
use std::collections::VecDeque;

fn text() -> String {
    let mut port = TxPort::default();
    port.clock.connect();
    port.reset.connect();
    port.data.connect();
    port.info.connect();
    port.valid.connect();
    port.tready.connect();
    emit::verilog("tx_port", port)
}

fn run(chances: [u64; 2]) {
    let model = Model::build(&Source::new("tx_port", text())).unwrap();
    model.reset();
    let mut stall = Stall::new(91);
    let frames: Vec<Vec<u8>> = (0..600)
        .map(|_| 1 + stall.below(900))
        .map(|length| vec![0; length as usize])
        .collect();
    let frames: Vec<Vec<u8>> = frames
        .iter()
        .map(|frame| stall.bytes(frame.len()))
        .collect();
    let mut beats: VecDeque<(Vec<u8>, bool)> = VecDeque::new();
    for frame in &frames {
        let count = frame.len().div_ceil(64);
        beats.extend(
            frame
                .chunks(64)
                .enumerate()
                .map(|(at, beat)| (beat.to_vec(), at + 1 == count)),
        );
    }
    let mut expected: VecDeque<_> = frames.into();
    let mut credit = 512;
    let mut partial = Vec::new();
    while !expected.is_empty() {
        assert!(model.cycles() < 500_000, "hangs");
        let sends = credit > 0 && !beats.is_empty() && stall.chance(chances[0]);
        model.input("valid").set(sends);
        if sends {
            let (beat, last) = beats.pop_front().unwrap();
            model.input("data").set_bytes(&beat);
            model
                .input("info")
                .set(beat.len() as u64 | u64::from(last) << 8);
            credit -= 1;
        }
        model.input("tready").set(stall.chance(chances[1]));
        model.eval();
        let valid = model.output("tvalid").is_set();
        assert!(valid || partial.is_empty(), "a gap in a frame");
        if valid && model.input("tready").is_set() {
            let keep = model.output("tkeep").get();
            partial.extend(&model.output("tdata").bytes()[..keep.count_ones() as usize]);
            if model.output("tlast").is_set() {
                assert_eq!(expected.pop_front(), Some(std::mem::take(&mut partial)));
            }
        }
        credit += model.output("freed").get();
        model.cycle();
    }
    assert_eq!(credit, 512);
}

#[test]
fn frames_leave_without_a_gap() {
    run([100, 100]);
    run([30, 100]);
    run([100, 30]);
    run([60, 60]);
}

#[test]
fn the_verilog_is_clean() {
    lint(&Source::new("tx_port", text())).unwrap();
}
