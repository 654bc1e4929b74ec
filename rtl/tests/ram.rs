//! The block RAM against a plain array, at random: gaps in its addresses, and what a word reads while it is written.

use osprey_rtl::emit;
use osprey_rtl::stream::Ram;
use osprey_verilated::{Model, Source, Stall};
use rust_hdl::prelude::*;

/// Bits 3 and 9 of an address are passed over.
const USED: u64 = 0b1_0111_1111_0111;

fn model(ram: Ram<Bits<16>, 13>) -> Model {
    let mut ram = TopWrap::new(ram);
    for address in [&mut ram.uut.read_address, &mut ram.uut.write_address] {
        address.connect();
    }
    ram.uut.clock.connect();
    ram.uut.read_enable.connect();
    ram.uut.write_data.connect();
    ram.uut.write_enable.connect();
    // A leaf block has no module of its own at the top.
    Model::build(&Source::new("wrap__uut", emit::verilog("wrap", ram))).unwrap()
}

/// `collision` says what is read of a word that is being written.
fn against_an_array(model: &Model, collision: fn(u64) -> u64) {
    let [
        read_address,
        read_enable,
        write_address,
        write_data,
        write_enable,
    ] = [
        "read_address",
        "read_enable",
        "write_address",
        "write_data",
        "write_enable",
    ]
    .map(|name| model.input(name));
    let [read_data, met] = ["read_data", "met"].map(|name| model.output(name));
    let mut stall = Stall::new(11);
    let mut words = vec![0; 1 << 13];
    let (mut expected, mut collisions) = ((0, false), 0);
    for round in 0..40_000u64 {
        let at = stall.below(1 << 13);
        // Nearby, so that addresses meet; the bits that are passed over differ now and then.
        let to = if stall.chance(50) {
            at ^ (stall.bits() & !USED & 0x1fff)
        } else {
            stall.below(1 << 13)
        };
        let (reads, writes, value) = (stall.chance(80), stall.chance(80), stall.below(1 << 16));
        read_address.set(at);
        read_enable.set(reads);
        write_address.set(to);
        write_data.set(value);
        write_enable.set(writes);
        model.eval();
        assert_eq!((read_data.get(), met.is_set()), expected, "round {round}");
        if reads {
            let old = words[(at & USED) as usize];
            let meets = writes && at & USED == to & USED;
            collisions += u32::from(meets);
            expected = (if meets { collision(old) } else { old }, meets);
        }
        if writes {
            words[(to & USED) as usize] = value;
        }
        model.cycle();
    }
    assert!(collisions > 1_000, "{collisions} collisions");
}

#[test]
fn a_word_that_is_being_written_reads_as_before() {
    against_an_array(&model(Ram::with_bits(USED)), |old| old);
}

/// The chip returns anything; the simulation returns what no block can take for the word.
#[test]
fn a_memory_without_collisions_returns_the_word_inverted() {
    against_an_array(&model(Ram::with_bits(USED).without_collisions()), |old| {
        !old & 0xffff
    });
}
