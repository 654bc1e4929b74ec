//! ACKs leave in order, whole, and never before the writes that were ordered before them are answered.

use osprey_rtl::emit;
use osprey_rtl::tx::ack_hold::AckHold;
use osprey_verilated::{Model, Source, Stall, lint};
use rust_hdl::prelude::*;
use std::collections::VecDeque;

const FRAME_BYTES: usize = 98;

fn text() -> String {
    let mut hold = AckHold::new();
    hold.clock.connect();
    hold.reset.connect();
    hold.frame.connect();
    hold.frame_valid.connect();
    hold.issued.connect();
    hold.done.connect();
    hold.mark.connect();
    hold.out_ready.connect();
    emit::verilog("ack_hold", hold)
}

/// Chances in percent of an ACK, of an order, of an answer, and of room behind.
fn run(chances: [u64; 4], start: u32) {
    let model = Model::build(&Source::new("ack_hold", text())).unwrap();
    model.reset();
    let mut stall = Stall::new(17);
    let (mut issued, mut done, mut passed, mut full) = (start, start, 0, false);
    let mut held: VecDeque<(Vec<u8>, u32)> = VecDeque::new();
    while passed < 3000 {
        assert!(model.cycles() < 500_000, "hangs");
        let under_way = issued.wrapping_sub(done);
        issued = issued.wrapping_add(u32::from(under_way < 30 && stall.chance(chances[1])));
        if done != issued && stall.chance(chances[2]) {
            done = done.wrapping_add(1);
        }
        model.input("issued").set(issued);
        model.input("done").set(done);
        let (offers, takes) = (stall.chance(chances[0]), stall.chance(chances[3]));
        let mut frame = stall.bytes(FRAME_BYTES);
        frame[FRAME_BYTES - 1] &= 15;
        model.input("frame").set_bytes(&frame);
        model.input("frame_valid").set(offers);
        model.input("out_ready").set(takes);
        model.eval();
        if model.output("out_valid").is_set() {
            let (expected, after) = held.front().expect("an ACK from nowhere");
            assert!(
                done.wrapping_sub(*after) < 1 << 31,
                "left after {done}, not {after}"
            );
            if takes {
                assert_eq!(model.output("out").bytes()[..FRAME_BYTES], *expected);
                held.pop_front();
                passed += 1;
            }
        } else if let Some((_, after)) = held.front() {
            assert_ne!(done, *after, "held for nothing");
        }
        if offers && model.output("frame_ready").is_set() {
            held.push_back((frame, issued));
        }
        full |= !model.output("frame_ready").is_set();
        model.cycle();
    }
    assert!(full || chances[0] < 50, "never full");
}

#[test]
fn no_ack_leaves_before_its_bytes() {
    run([90, 90, 60, 90], 0);
    run([30, 90, 90, 90], u32::MAX - 1000);
    run([90, 50, 50, 20], 65_000);
    run([40, 0, 0, 100], 7);
}

/// ACKs of a connection's life before must have left when it starts anew; later ones need not.
#[test]
fn what_was_held_at_a_mark_has_left_when_it_says_so() {
    let model = Model::build(&Source::new("ack_hold", text())).unwrap();
    let [issued, done, frame_valid, out_ready, mark] =
        ["issued", "done", "frame_valid", "out_ready", "mark"].map(|name| model.input(name));
    let [out_valid, gone] = ["out_valid", "mark_gone"].map(|name| model.output(name));
    for held in 0..=16u64 {
        model.reset();
        for (port, value) in [(&issued, 1), (&done, 0), (&out_ready, 1), (&mark, 0)] {
            port.set(value);
        }
        frame_valid.set(1);
        (0..held).for_each(|_| model.cycle());
        frame_valid.set(0);
        mark.set(1);
        model.cycle();
        mark.set(0);
        // Memory has not answered: nothing leaves. Two more come.
        frame_valid.set(1);
        for _ in 0..20 {
            model.eval();
            assert_eq!(gone.is_set(), held == 0, "{held} were held");
            frame_valid.set(model.cycles() % 8 < 2);
            model.cycle();
        }
        frame_valid.set(0);
        done.set(1);
        for left in (0..held).rev() {
            model.eval();
            assert!(out_valid.is_set() && !gone.is_set(), "{left} of {held}");
            model.cycle();
        }
        model.eval();
        assert!(gone.is_set(), "{held} have left");
    }
}

#[test]
fn the_verilog_is_clean() {
    lint(&Source::new("ack_hold", text())).unwrap();
}
