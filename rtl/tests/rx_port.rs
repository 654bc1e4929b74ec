//! One plane's way in: frames come out whole or not at all, with the MAC's mark and the cut at the longest frame.

use osprey_rtl::emit;
use osprey_rtl::rx::{FRAME_BEATS_MAX, RxPort};
use osprey_verilated::{Model, Source, Stall, lint};
use rust_hdl::prelude::*;
use std::collections::VecDeque;

fn text() -> String {
    let mut port = RxPort::default();
    port.clock.connect();
    port.reset.connect();
    port.tdata.connect();
    port.tkeep.connect();
    port.tvalid.connect();
    port.tlast.connect();
    port.tuser.connect();
    port.ready.connect();
    emit::verilog("rx_port", port)
}

/// What came in since the last frame that was taken, as the port may give it: beats and the error mark.
struct Frame {
    beats: Vec<Vec<u8>>,
    error: bool,
}

fn frame(stall: &mut Stall, most: u64) -> Frame {
    let length = 1 + stall.below(most) as usize;
    Frame {
        beats: stall.bytes(length).chunks(64).map(<[u8]>::to_vec).collect(),
        error: stall.chance(10),
    }
}

/// Compares what was taken with what was sent; gives how many frames are not there.
fn dropped(sent: VecDeque<Frame>, taken: &[(Vec<u8>, bool, bool)]) -> u64 {
    let mut frames = sent.into_iter();
    let mut dropped = 0;
    for group in taken.split_inclusive(|(_, last, _)| *last) {
        let cut = group.len() as u64 == FRAME_BEATS_MAX && group.last().unwrap().2;
        let matches = |frame: &Frame| {
            (cut || frame.beats.len() == group.len())
                && frame
                    .beats
                    .iter()
                    .zip(group)
                    .all(|(beat, taken)| *beat == taken.0)
        };
        let frame = loop {
            let frame = frames.next().expect("a frame that was not sent");
            if matches(&frame) {
                break frame;
            }
            dropped += 1;
        };
        let expected = frame.error || frame.beats.len() as u64 > FRAME_BEATS_MAX;
        assert_eq!(group.last().unwrap().2, expected);
    }
    dropped + frames.count() as u64
}

/// Sends frames; gives how many were dropped, marked and cut.
fn run(frames: usize, most: u64, chances: [u64; 2]) -> [u64; 3] {
    let model = Model::build(&Source::new("rx_port", text())).unwrap();
    model.reset();
    let mut stall = Stall::new(51);
    let input = |name: &str| model.input(name);
    let output = |name: &str| model.output(name);
    let mut coming: VecDeque<Frame> = (0..frames).map(|_| frame(&mut stall, most)).collect();
    let mut sent: VecDeque<Frame> = VecDeque::new();
    let mut at = 0;
    let mut taken: Vec<(Vec<u8>, bool, bool)> = Vec::new();
    let mut counts = [0; 3];
    let mut quiet = 0;
    while quiet < 2000 {
        quiet += 1;
        input("tvalid").set(0);
        if !coming.is_empty() && stall.chance(chances[0]) {
            let beats = &coming[0].beats;
            let last = at + 1 == beats.len();
            // Lanes behind the frame's end hold anything.
            let junk = stall.bytes(64 - beats[at].len());
            input("tdata").set_bytes(&[&beats[at][..], &junk].concat());
            input("tkeep").set(u64::MAX >> (64 - beats[at].len()));
            input("tlast").set(last);
            input("tuser").set(last && coming[0].error);
            input("tvalid").set(1);
            at += 1;
            if last {
                at = 0;
                sent.extend(coming.pop_front());
            }
            quiet = 0;
        }
        input("ready").set(stall.chance(chances[1]));
        model.eval();
        for (count, name) in counts
            .iter_mut()
            .zip(["drop_full", "drop_mac_error", "drop_oversize"])
        {
            *count += output(name).get();
        }
        if output("valid").is_set() && input("ready").is_set() {
            quiet = 0;
            let bytes = output("bytes").get() as usize;
            taken.push((
                output("data").bytes()[..bytes].to_vec(),
                output("last").is_set(),
                output("error").is_set(),
            ));
        }
        model.cycle();
    }
    assert_eq!(counts[0], dropped(sent, &taken));
    counts
}

#[test]
fn frames_come_out_as_they_went_in() {
    let [full, marked, cut] = run(800, 700, [80, 95]);
    assert!(full == 0 && marked > 30 && cut == 0);
}

#[test]
fn a_slow_reader_costs_whole_frames() {
    let [full, ..] = run(800, 4000, [100, 40]);
    assert!(full > 100, "{full} frames were dropped");
}

#[test]
fn frames_too_long_are_cut() {
    let [_, _, cut] = run(60, 20_000, [100, 100]);
    assert!(cut > 10, "{cut} frames were cut");
}

#[test]
fn the_verilog_is_clean() {
    lint(&Source::new("rx_port", text())).unwrap();
}
