//! ACKs leave in order, whole, and never before the writes that were ordered before them are answered.

use osprey_rtl::emit;
use osprey_rtl::tx::ack_hold::AckHold;
use osprey_verilated::{Model, Port, Source, Stall, lint};
use rust_hdl::prelude::*;
use std::collections::VecDeque;

const BLOCK_BYTES: usize = 24;

fn text() -> String {
    let mut hold = AckHold::new();
    hold.clock.connect();
    hold.reset.connect();
    hold.block.connect();
    hold.block_valid.connect();
    hold.frame.connect();
    hold.frame_valid.connect();
    hold.issued.connect();
    hold.done.connect();
    hold.mark.connect();
    hold.out_ready.connect();
    hold.out_block_ready.connect();
    emit::verilog("ack_hold", hold)
}

/// An ACK: its pair, its blocks, and the count of writes ordered before it.
#[derive(Clone, Default)]
struct Ack {
    pair: u64,
    blocks: VecDeque<Vec<u8>>,
    after: u32,
}

impl Ack {
    /// Pair and count as they lie in the record.
    fn frame(&self, blocks: usize) -> u64 {
        (blocks as u64) << 17 | self.pair
    }
}

/// Gives ACKs block by block once there is room, then the frame.
struct Giver {
    ports: [Port; 4],
    room: Port,
    /// What is being given: the whole, and blocks that are left.
    now: Option<(Ack, VecDeque<Vec<u8>>)>,
    was_full: bool,
}

impl Giver {
    fn new(model: &Model) -> Self {
        let ports = ["block", "block_valid", "frame", "frame_valid"];
        Self {
            ports: ports.map(|name| model.input(name)),
            room: model.output("room"),
            now: None,
            was_full: false,
        }
    }

    /// Drives one cycle; the ACK whose frame is given in it.
    fn drive(&mut self, stall: &mut Stall, chance: u64, issued: u32) -> Option<Ack> {
        let [block, block_valid, frame, frame_valid] = &self.ports;
        block_valid.set(0);
        frame_valid.set(0);
        self.was_full |= !self.room.is_set();
        if self.now.is_none() && self.room.is_set() && stall.chance(chance) {
            let blocks: VecDeque<_> = (0..=stall.below(4))
                .map(|_| stall.bytes(BLOCK_BYTES))
                .collect();
            let pair = stall.below(1 << 17);
            let ack = Ack {
                pair,
                blocks: blocks.clone(),
                after: 0,
            };
            self.now = Some((ack, blocks));
        }
        let (ack, left) = self.now.as_mut()?;
        if let Some(next) = left.pop_front() {
            block.set_bytes(&next);
            block_valid.set(1);
            return None;
        }
        ack.after = issued;
        frame.set(ack.frame(ack.blocks.len()));
        frame_valid.set(1);
        self.now.take().map(|(ack, _)| ack)
    }
}

/// Chances in percent of an ACK, of an order, of an answer, and of room behind.
fn run(chances: [u64; 4], start: u32) {
    let model = Model::build(&Source::new("ack_hold", text())).unwrap();
    model.reset();
    let mut stall = Stall::new(17);
    let mut giver = Giver::new(&model);
    let (mut issued, mut done, mut passed) = (start, start, 0);
    let mut held: VecDeque<Ack> = VecDeque::new();
    let mut taken = Ack::default();
    // Cycles that an ACK which may go is not shown.
    let mut waits = 0;
    while passed < 3000 {
        assert!(model.cycles() < 500_000, "hangs");
        let under_way = issued.wrapping_sub(done);
        issued = issued.wrapping_add(u32::from(under_way < 30 && stall.chance(chances[1])));
        if done != issued && stall.chance(chances[2]) {
            done = done.wrapping_add(1);
        }
        model.input("issued").set(issued);
        model.input("done").set(done);
        model.eval();
        let given = giver.drive(&mut stall, chances[0], issued);
        let takes = taken.blocks.is_empty() && stall.chance(chances[3]);
        model.input("out_ready").set(takes);
        model.eval();
        if model.output("out_valid").is_set() {
            let ack = held.front().expect("an ACK from nowhere");
            let after = ack.after;
            assert!(
                done.wrapping_sub(after) < 1 << 31,
                "left after {done}, not {after}"
            );
            if takes {
                let frame = ack.frame(ack.blocks.len());
                assert_eq!(model.output("out").get(), frame);
                taken = held.pop_front().expect("it is there");
                passed += 1;
            }
            waits = 0;
        } else if let Some(ack) = held.front() {
            let is_due = done.wrapping_sub(ack.after) < 1 << 31;
            waits = if is_due { waits + 1 } else { 0 };
            assert!(waits <= 2, "held for nothing");
        }
        let next = !taken.blocks.is_empty() && stall.chance(90);
        model.input("out_block_ready").set(next);
        if next {
            let block = taken.blocks.pop_front().expect("one is left");
            assert_eq!(model.output("out_block").bytes()[..BLOCK_BYTES], block);
        }
        held.extend(given);
        model.cycle();
    }
    assert!(giver.was_full || chances[0] < 50, "never full");
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
            // Every other cycle.
            model.cycle();
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
