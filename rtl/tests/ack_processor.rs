//! ACK blocks against a plain sender: every transmission is reported once, as arrived or as lost.

mod acknowledge;
mod bench;

use acknowledge::{Bench, Profile};
use bench::seeds;
use osprey_rtl::emit;
use osprey_rtl::tx::ack_processor::AckProcessor;
use osprey_verilated::{Model, Source, lint};

/// Eight connections.
fn source(plane_bits: usize) -> Source {
    source_with_window(plane_bits, 6)
}

fn source_with_window(plane_bits: usize, window_bits: usize) -> Source {
    let processor = AckProcessor::new(3, plane_bits, window_bits);
    let text = emit::verilog("ack_processor", processor);
    Source::new("ack_processor", text)
}

#[test]
fn the_verilog_is_clean() {
    lint(&source(2)).unwrap();
}

#[test]
fn every_transmission_is_reported_once() {
    seeds(
        "ack_processor::every_transmission_is_reported_once",
        10,
        |seed| {
            let model = Model::build(&source(2)).unwrap();
            let mut bench = Bench::new(&model, seed, Profile::random(seed));
            bench.run(8_000);
            bench.drain();
        },
    );
}

/// Half the records and half the log, and a whole window before and behind every loss.
#[test]
fn a_smaller_window_needs_no_more_records() {
    seeds(
        "ack_processor::a_smaller_window_needs_no_more_records",
        4,
        |seed| {
            let model = Model::build(&source_with_window(2, 5)).unwrap();
            let profile = Profile::random(seed).with_window(5);
            let mut bench = Bench::new(&model, seed, profile);
            bench.run(8_000);
            bench.drain();
        },
    );
}

/// The scheduler writes over records as soon as it is told that their packets have arrived.
#[test]
fn a_walk_held_up_reads_the_records_of_its_own_packets() {
    seeds(
        "ack_processor::a_walk_held_up_reads_the_records_of_its_own_packets",
        2,
        |seed| {
            let model = Model::build(&source(2)).unwrap();
            let mut bench = Bench::new(&model, seed, Profile::held_up());
            bench.run(12_000);
            bench.drain();
        },
    );
}

/// Words of planes that an engine has not are left out of its memories; blocks that speak of them are passed over.
#[test]
fn two_planes_of_paths_lie_side_by_side() {
    seeds(
        "ack_processor::two_planes_of_paths_lie_side_by_side",
        4,
        |seed| {
            let model = Model::build(&source(1)).unwrap();
            let mut bench = Bench::new(&model, seed, Profile::two_planes(seed));
            bench.run(8_000);
            bench.drain();
        },
    );
}

/// The bit of a PSN has toggled again when the packet one lap on has arrived: below the cumulative PSN it says nothing.
#[test]
fn a_needless_copy_is_not_lost() {
    let model = Model::build(&source(2)).unwrap();
    let mut bench = Bench::new(&model, 1, Profile::held_up().one_by_one());
    bench.walk_a_copy_one_lap_later();
}

/// A plane that stands still must not hold up the ACKs of the others.
#[test]
fn no_block_is_walked_that_could_find_more_than_there_is_room_for() {
    let model = Model::build(&source(2)).unwrap();
    let mut bench = Bench::new(&model, 2, Profile::held_up().one_by_one());
    bench.pass_over_while_there_is_no_room();
}
