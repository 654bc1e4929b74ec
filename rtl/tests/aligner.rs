//! The aligner against a plain copy of bytes, with stalls on every side.

use osprey_rtl::emit;
use osprey_rtl::stream::{Aligner, AlignerJob};
use osprey_verilated::{Model, Record, Source, Stall, lint};
use rust_hdl::prelude::*;
use std::collections::VecDeque;

fn text() -> String {
    let mut aligner = Aligner::default();
    aligner.clock.connect();
    aligner.reset.connect();
    aligner.job.connect();
    aligner.job_valid.connect();
    aligner.in_data.connect();
    aligner.in_valid.connect();
    aligner.out_ready.connect();
    emit::verilog("aligner", aligner)
}

struct Expected {
    beats: VecDeque<(Vec<u8>, u64, bool)>,
}

/// Source beats and the beats that must come out: data, strobe, last.
fn job(
    stall: &mut Stall,
    source: usize,
    destination: usize,
    length: usize,
) -> (Vec<Vec<u8>>, Expected) {
    let input = stall.bytes((source + length).div_ceil(64) * 64);
    let mut output = vec![0; (destination + length).div_ceil(64) * 64];
    output[destination..destination + length].copy_from_slice(&input[source..source + length]);
    let count = output.len() / 64;
    let beat = |(index, data): (usize, &[u8])| {
        let set = (0..64)
            .filter(|lane| (destination..destination + length).contains(&(64 * index + lane)));
        (
            data.to_vec(),
            set.fold(0, |strobe, lane| strobe | 1 << lane),
            index + 1 == count,
        )
    };
    let beats = output.chunks(64).enumerate().map(beat).collect();
    (
        input.chunks(64).map(<[u8]>::to_vec).collect(),
        Expected { beats },
    )
}

/// Runs jobs through; gives the cycles it took.
fn run(
    model: &Model,
    stall: &mut Stall,
    jobs: Vec<(usize, usize, usize)>,
    chances: [u64; 3],
) -> u64 {
    let mut records = VecDeque::new();
    let mut input = VecDeque::new();
    let mut output = VecDeque::new();
    for (source, destination, length) in jobs {
        records.push_back(
            Record::new(AlignerJob::FIELDS)
                .with("source", source)
                .with("destination", destination)
                .with("length", length),
        );
        let (beats, expected) = job(stall, source, destination, length);
        input.extend(beats);
        output.extend(expected.beats);
    }
    let start = model.cycles();
    let [job_port, job_valid, in_data, in_valid, out_ready] =
        ["job", "job_valid", "in_data", "in_valid", "out_ready"].map(|name| model.input(name));
    let [
        job_ready,
        in_ready,
        out_data,
        out_strobe,
        out_last,
        out_valid,
    ] = [
        "job_ready",
        "in_ready",
        "out_data",
        "out_strobe",
        "out_last",
        "out_valid",
    ]
    .map(|name| model.output(name));
    while !output.is_empty() {
        assert!(model.cycles() < start + 400_000, "hangs");
        job_valid.set(!records.is_empty() && stall.chance(chances[0]));
        in_valid.set(!input.is_empty() && stall.chance(chances[1]));
        out_ready.set(stall.chance(chances[2]));
        if let Some(record) = records.front() {
            job_port.set_record(record);
        }
        if let Some(beat) = input.front() {
            in_data.set_bytes(beat);
        }
        model.eval();
        if out_valid.is_set() && out_ready.is_set() {
            let (data, strobe, last) = output.pop_front().unwrap();
            assert_eq!(
                (out_strobe.get(), out_last.is_set()),
                (strobe, last),
                "cycle {}",
                model.cycles()
            );
            let mut bytes = out_data.bytes();
            let outside = |lane: &usize| strobe >> lane & 1 == 0;
            (0..64).filter(outside).for_each(|lane| bytes[lane] = 0);
            assert_eq!(bytes, data, "cycle {}", model.cycles());
        }
        if job_valid.is_set() && job_ready.is_set() {
            records.pop_front();
        }
        if in_valid.is_set() && in_ready.is_set() {
            input.pop_front();
        }
        model.cycle();
    }
    assert!(input.is_empty());
    model.cycles() - start
}

#[test]
fn random_jobs_with_stalls() {
    let model = Model::build(&Source::new("aligner", text())).unwrap();
    model.reset();
    let mut stall = Stall::new(11);
    for round in 0..12 {
        let jobs = (0..400)
            .map(|_| {
                let length = if stall.chance(50) {
                    1 + stall.below(140)
                } else {
                    1 + stall.below(700)
                };
                (
                    stall.below(64) as usize,
                    stall.below(64) as usize,
                    length as usize,
                )
            })
            .collect();
        let chances = [
            [100, 100, 100],
            [50, 50, 50],
            [100, 100, 20],
            [10, 100, 100],
        ][round % 4];
        run(&model, &mut stall, jobs, chances);
    }
}

#[test]
fn every_pair_of_lanes() {
    let model = Model::build(&Source::new("aligner", text())).unwrap();
    model.reset();
    let mut stall = Stall::new(12);
    let jobs = (0..4096)
        .map(|pair| (pair % 64, pair / 64, 1 + (pair * 7) % 200))
        .collect();
    run(&model, &mut stall, jobs, [100, 100, 100]);
}

#[test]
fn a_packet_of_256_bytes_keeps_one_beat_a_cycle() {
    let model = Model::build(&Source::new("aligner", text())).unwrap();
    model.reset();
    let mut stall = Stall::new(13);
    // As on receipt: from lane 48 of a frame of five beats to a lane below.
    for destination in [0, 16, 47] {
        let cycles = run(
            &model,
            &mut stall,
            vec![(48, destination, 256); 200],
            [100, 100, 100],
        );
        assert!(
            cycles <= 5 * 200 + 20,
            "to lane {destination}: {cycles} cycles"
        );
    }
}

#[test]
fn the_verilog_is_clean() {
    lint(&Source::new("aligner", text())).unwrap();
}
