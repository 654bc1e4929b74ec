//! The CRC behind frames of every length, back to back but for the gap that a spilled CRC needs.

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

fn with_crc(frame: &[u8]) -> Vec<u8> {
    let covered = |at: usize| (26..34).contains(&at) || at == 36 || at == 37 || at >= 42;
    let message: Vec<u8> = frame
        .iter()
        .enumerate()
        .map(|(at, &byte)| if covered(at) { byte } else { 0 })
        .collect();
    [frame, &crc32c(&message)].concat()
}

fn source() -> Source {
    Source::new("integrity_tx", text())
}

/// Sends frames, gives what came out: plane and bytes.
fn run(source: &Source, frames: &[(u64, Vec<u8>)], gap: u64, poison: bool) -> Vec<(u64, Vec<u8>)> {
    let model = Model::build(source).unwrap();
    model.reset();
    model.input("poison").set(poison);
    let mut stall = Stall::new(81);
    let mut out = Vec::new();
    let mut partial = Vec::new();
    let mut step = |valid: bool| {
        model.input("valid").set(valid);
        model.eval();
        if model.output("out_valid").is_set() {
            let info = model.output("out_info").get();
            let (bytes, first, last) = (
                (info & 127) as usize,
                info >> 7 & 1 == 1,
                info >> 8 & 1 == 1,
            );
            assert_eq!(first, partial.is_empty());
            let data = model.output("out_data").bytes();
            assert!(data[bytes..].iter().all(|&byte| byte == 0));
            partial.extend(&data[..bytes]);
            if last {
                out.push((info >> 10 & 3, std::mem::take(&mut partial)));
            } else {
                assert_eq!(bytes, 64);
            }
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
            if last == 1 && beat.len() > 60 {
                step(false);
            }
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
        .map(|(plane, frame)| (*plane, with_crc(frame)))
        .collect();
    assert!(run(&source(), &frames, 0, false) == expected);
    assert!(run(&source(), &frames, 50, false) == expected);
}

/// The sums are written once for simulation, once for synthesis.
#[test]
fn what_is_synthesised_gives_the_same_crc() {
    let mut stall = Stall::new(84);
    let frames: Vec<_> = (58..300).map(|length| (0, stall.bytes(length))).collect();
    let right = |(plane, frame): &(u64, Vec<u8>)| (*plane, with_crc(frame));
    let expected: Vec<_> = frames.iter().map(right).collect();
    let source = Source::new("integrity_tx", format!("`define SYNTHESIS\n{}", text()));
    assert!(run(&source, &frames, 20, false) == expected);
}

/// Only the CRC is wrong, in every bit.
#[test]
fn a_poisoned_frame_has_no_right_crc() {
    let mut stall = Stall::new(83);
    let frames: Vec<_> = (58..200).map(|length| (0, stall.bytes(length))).collect();
    let poisoned = |(plane, frame): &(u64, Vec<u8>)| {
        let mut whole = with_crc(frame);
        let end = whole.len() - 4;
        whole[end..].iter_mut().for_each(|byte| *byte = !*byte);
        (*plane, whole)
    };
    let expected: Vec<_> = frames.iter().map(poisoned).collect();
    assert!(run(&source(), &frames, 20, true) == expected);
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}
