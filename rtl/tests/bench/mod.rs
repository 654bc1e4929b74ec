//! What the tests of blocks share: seeds that can be replayed, offers that wait for their ready.

#![allow(dead_code, reason = "every test takes its own part")]

use osprey_verilated::{Model, Port, Record, Stall};
use std::collections::VecDeque;

/// Runs `body` for `count` seeds, or for the one in `OSPREY_SEED`; a failure prints how to run it alone.
pub fn seeds(test: &str, count: u64, body: impl Fn(u64)) {
    let chosen = std::env::var("OSPREY_SEED").ok();
    let seeds = match chosen.as_ref().map(|text| text.parse()) {
        Some(Ok(seed)) => seed..seed + 1,
        Some(Err(error)) => panic!("OSPREY_SEED is not a number: {error}"),
        None => 1..count + 1,
    };
    for seed in seeds {
        let replay = Replay { test, seed };
        body(seed);
        std::mem::forget(replay);
    }
}

struct Replay<'a> {
    test: &'a str,
    seed: u64,
}

impl Drop for Replay<'_> {
    fn drop(&mut self) {
        let (file, name) = self.test.split_once("::").expect("file::test");
        eprintln!(
            "seed {}; replay: OSPREY_SEED={} cargo test -p osprey-rtl --test {file} {name}",
            self.seed, self.seed
        );
    }
}

/// A stream of bundles into a block: offered at random, held until taken.
pub struct Offer {
    data: Port,
    valid: Port,
    ready: Option<Port>,
    pub queue: VecDeque<Record>,
    held: bool,
}

impl Offer {
    /// The ports `name`, `name_valid` and, if there is one, `name_ready`.
    pub fn new(model: &Model, name: &str) -> Self {
        Self {
            data: model.input(name),
            valid: model.input(&format!("{name}_valid")),
            ready: model.port(&format!("{name}_ready")),
            queue: VecDeque::new(),
            held: false,
        }
    }

    /// Before the cycle's `eval`: shows the first one in `chance` of 100 cycles, and on until it is taken.
    pub fn drive(&mut self, stall: &mut Stall, chance: u64) {
        self.held = !self.queue.is_empty() && (self.held || stall.chance(chance));
        self.valid.set(self.held);
        if let Some(record) = self.queue.front().filter(|_| self.held) {
            self.data.set_record(record);
        }
    }

    /// After `eval`: what the block takes in this cycle.
    pub fn taken(&mut self) -> Option<Record> {
        let ready = self.ready.as_ref().is_none_or(Port::is_set);
        if !(self.held && ready) {
            return None;
        }
        self.held = false;
        self.queue.pop_front()
    }
}

/// `value` on a circle of `1 << bits`, counted from `base`: how far ahead it lies.
pub fn ahead(value: u64, base: u64, bits: u32) -> u64 {
    value.wrapping_sub(base) & ((1 << bits) - 1)
}
