//! Both FIFOs against a plain queue, with random stalls on both sides.

use osprey_rtl::emit;
use osprey_rtl::stream::{Fifo, SmallFifo};
use osprey_verilated::{Model, Source, Stall};
use rust_hdl::prelude::*;
use std::collections::VecDeque;

type Word = Bits<72>;

macro_rules! emitted {
    ($name:literal, $kind:ident, $depth_bits:expr) => {{
        let mut fifo = TopWrap::new($kind::<Word>::new($depth_bits));
        fifo.uut.clock.connect();
        fifo.uut.reset.connect();
        fifo.uut.write_data.connect();
        fifo.uut.write_enable.connect();
        fifo.uut.read_ready.connect();
        emit::verilog("wrap", fifo)
    }};
}

/// A leaf block has no module of its own at the top: take the inner one.
fn model(text: &str) -> Model {
    Model::build(&Source::new("wrap__uut", text)).unwrap()
}

fn against_a_queue(model: &Model, depth: usize, latency: u64) {
    let [write_data, write_enable, read_ready] =
        ["write_data", "write_enable", "read_ready"].map(|name| model.input(name));
    let [read_data, read_valid, full, level] =
        ["read_data", "read_valid", "full", "level"].map(|name| model.output(name));
    let mut stall = Stall::new(7);
    let mut queue: VecDeque<(u64, u64)> = VecDeque::new();
    model.reset();
    let mut filled = false;
    for round in 0..60_000u64 {
        let (write_chance, read_chance) =
            [(50, 50), (90, 30), (30, 90), (100, 100), (100, 0)][(round / 400 % 5) as usize];
        let value = stall.bits();
        write_data.set_words(&[value as u32, (value >> 32) as u32, 0xa5]);
        write_enable.set(stall.chance(write_chance));
        read_ready.set(stall.chance(read_chance));
        model.eval();
        assert_eq!(level.get() as usize, queue.len(), "round {round}");
        assert_eq!(full.is_set(), queue.len() == depth, "round {round}");
        filled |= full.is_set();
        if let Some(&(written, expected)) = queue.front() {
            assert!(
                read_valid.is_set() || round < written + latency,
                "round {round}: the word waits too long"
            );
            if read_valid.is_set() {
                assert_eq!(
                    read_data.words(),
                    [expected as u32, (expected >> 32) as u32, 0xa5],
                    "round {round}"
                );
            }
        } else {
            assert!(!read_valid.is_set(), "round {round}: a word from nowhere");
        }
        let pushes = write_enable.is_set() && !full.is_set();
        if read_valid.is_set() && read_ready.is_set() {
            queue.pop_front();
        }
        if pushes {
            queue.push_back((round, value));
        }
        model.cycle();
    }
    assert!(filled);
}

#[test]
fn a_fifo_that_is_not_there_is_empty() {
    let mut fifo = TopWrap::new(Fifo::<Word>::absent());
    fifo.uut.clock.connect();
    fifo.uut.reset.connect();
    fifo.uut.write_data.connect();
    fifo.uut.write_enable.connect();
    fifo.uut.read_ready.connect();
    let model = model(&emit::verilog("wrap", fifo));
    model.input("write_enable").set(1);
    model.input("read_ready").set(1);
    for _ in 0..5 {
        model.eval();
        let [valid, full, level] =
            ["read_valid", "full", "level"].map(|name| model.output(name).get());
        assert_eq!([valid, full, level], [0, 0, 0]);
        model.cycle();
    }
}

#[test]
fn block_ram_fifo_is_a_queue() {
    against_a_queue(&model(&emitted!("fifo", Fifo, 4)), 16, 3);
}

#[test]
fn lut_ram_fifo_is_a_queue() {
    against_a_queue(&model(&emitted!("small_fifo", SmallFifo, 3)), 8, 1);
}

#[test]
#[should_panic(expected = "Fifo: depth_bits is 0")]
fn a_fifo_without_words_is_refused() {
    Fifo::<Word>::new(0);
}
