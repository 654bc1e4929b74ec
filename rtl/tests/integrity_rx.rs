//! Verdicts on random messages, right ones and ones with a flipped bit, of every length in the last beat.

mod frames;

use frames::crc32c;
use osprey_rtl::emit;
use osprey_rtl::rx::IntegrityRx;
use osprey_verilated::{Model, Source, Stall, lint};
use rust_hdl::prelude::*;
use std::collections::VecDeque;

fn text() -> String {
    let mut integrity = IntegrityRx::default();
    integrity.clock.connect();
    integrity.reset.connect();
    integrity.data.connect();
    integrity.first.connect();
    integrity.last.connect();
    integrity.bytes.connect();
    integrity.valid.connect();
    emit::verilog("integrity_rx", integrity)
}

fn run(source: &Source, messages: Vec<(Vec<u8>, bool)>, gap: u64) {
    let model = Model::build(source).unwrap();
    model.reset();
    let mut stall = Stall::new(71);
    let mut verdicts: VecDeque<bool> = messages.iter().map(|(_, good)| *good).collect();
    let mut check = |model: &Model| {
        if model.output("verdict_valid").is_set() {
            let expected = verdicts.pop_front().expect("a verdict for each message");
            assert_eq!(
                model.output("verdict_ok").is_set(),
                expected,
                "{} are left",
                verdicts.len()
            );
        }
        verdicts.len()
    };
    for (message, _) in messages {
        let count = message.len().div_ceil(64);
        for (index, beat) in message.chunks(64).enumerate() {
            while stall.chance(gap) {
                model.input("valid").set(0);
                model.cycle();
                check(&model);
            }
            model.input("data").set_bytes(beat);
            model.input("first").set(index == 0);
            model.input("last").set(index + 1 == count);
            model.input("bytes").set(beat.len());
            model.input("valid").set(1);
            model.cycle();
            check(&model);
        }
    }
    model.input("valid").set(0);
    let left = (0..5).map(|_| {
        model.cycle();
        check(&model)
    });
    assert_eq!(left.last(), Some(0), "verdicts come within 5 cycles");
}

fn message(stall: &mut Stall, length: usize) -> (Vec<u8>, bool) {
    let mut message = stall.bytes(length);
    message.extend(crc32c(&message));
    let good = stall.chance(60);
    if !good {
        let at = stall.below(message.len() as u64) as usize;
        message[at] ^= 1 << stall.below(8);
    }
    (message, good)
}

#[test]
fn every_length_back_to_back_and_with_gaps() {
    let mut stall = Stall::new(72);
    let messages: Vec<_> = (1..700).map(|length| message(&mut stall, length)).collect();
    let source = Source::new("integrity_rx", text());
    run(&source, messages.clone(), 0);
    run(&source, messages, 40);
}

/// The sums are written once for simulation, once for synthesis.
#[test]
fn what_is_synthesised_judges_alike() {
    let mut stall = Stall::new(73);
    let messages = (1..300).map(|length| message(&mut stall, length));
    let source = Source::new("integrity_rx", format!("`define SYNTHESIS\n{}", text()));
    run(&source, messages.collect(), 10);
}

#[test]
fn the_verilog_is_clean() {
    lint(&Source::new("integrity_rx", text())).unwrap();
}
