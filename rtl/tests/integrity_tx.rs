//! The CRCs of frames of every length, back to back and with gaps.

mod frames;

use frames::crc32c;
use osprey_rtl::emit;
use osprey_rtl::tx::integrity_tx::IntegrityTx;
use osprey_verilated::{Model, Source, Stall, lint};
use rust_hdl::prelude::*;

fn text() -> String {
    let mut integrity = IntegrityTx::new();
    integrity.clock.connect();
    integrity.reset.connect();
    integrity.data.connect();
    integrity.info.connect();
    integrity.valid.connect();
    integrity.poison.connect();
    emit::verilog("integrity_tx", integrity)
}

/// Turned to the lanes behind the frame's end.
fn crc_of(frame: &[u8]) -> [u8; 4] {
    let covered = |at: usize| (26..34).contains(&at) || at == 36 || at == 37 || at >= 42;
    let message: Vec<u8> = frame
        .iter()
        .enumerate()
        .map(|(at, &byte)| if covered(at) { byte } else { 0 })
        .collect();
    let mut crc = crc32c(&message);
    crc.rotate_right(frame.len() % 4);
    crc
}

fn source() -> Source {
    Source::new("integrity_tx", text())
}

/// Sends frames, gives what came out: plane and CRC.
fn run(source: &Source, frames: &[(u64, Vec<u8>)], gap: u64, poison: bool) -> Vec<(u64, [u8; 4])> {
    let model = Model::build(source).unwrap();
    model.reset();
    model.input("poison").set(poison);
    let mut stall = Stall::new(81);
    let mut out = Vec::new();
    let mut step = |valid: bool| {
        model.input("valid").set(valid);
        model.eval();
        if model.output("crc_valid").is_set() {
            let crc = model.output("crc").get() as u32;
            out.push((model.output("crc_plane").get(), crc.to_le_bytes()));
        }
        model.cycle();
    };
    for (plane, frame) in frames {
        let count = frame.len().div_ceil(64);
        for (index, beat) in frame.chunks(64).enumerate() {
            while stall.chance(gap) {
                step(false);
            }
            let (first, last) = (u64::from(index == 0), u64::from(index + 1 == count));
            model.input("data").set_bytes(beat);
            model
                .input("info")
                .set(beat.len() as u64 | first << 7 | last << 8 | plane << 10);
            step(true);
        }
    }
    (0..20).for_each(|_| step(false));
    out
}

#[test]
fn every_length_back_to_back_and_with_gaps() {
    let mut stall = Stall::new(82);
    let frames: Vec<_> = (58..800)
        .map(|length| (stall.below(4), stall.bytes(length)))
        .collect();
    let expected: Vec<_> = frames
        .iter()
        .map(|(plane, frame)| (*plane, crc_of(frame)))
        .collect();
    assert!(run(&source(), &frames, 0, false) == expected);
    assert!(run(&source(), &frames, 50, false) == expected);
}

/// The sums are written once for simulation, once for synthesis.
#[test]
fn what_is_synthesised_gives_the_same_crc() {
    let mut stall = Stall::new(84);
    let frames: Vec<_> = (58..300).map(|length| (0, stall.bytes(length))).collect();
    let right = |(plane, frame): &(u64, Vec<u8>)| (*plane, crc_of(frame));
    let expected: Vec<_> = frames.iter().map(right).collect();
    let source = Source::new("integrity_tx", format!("`define SYNTHESIS\n{}", text()));
    assert!(run(&source, &frames, 20, false) == expected);
}

/// It is wrong in every bit.
#[test]
fn a_poisoned_frame_has_no_right_crc() {
    let mut stall = Stall::new(83);
    let frames: Vec<_> = (58..200).map(|length| (0, stall.bytes(length))).collect();
    let poisoned = |(plane, frame): &(u64, Vec<u8>)| (*plane, crc_of(frame).map(|byte| !byte));
    let expected: Vec<_> = frames.iter().map(poisoned).collect();
    assert!(run(&source(), &frames, 20, true) == expected);
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}
