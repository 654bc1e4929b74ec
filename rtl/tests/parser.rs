//! The parser alone: its three outputs for random and spoiled frames, back to back and with gaps.

mod frames;

use frames::{Fate, PORT, Recipe, judge, little, own_ip, own_mac, spoil};
use osprey_rtl::emit;
use osprey_rtl::rx::{ParsedFrame, Parser};
use osprey_verilated::{Model, Record, Source, Stall, lint};
use rust_hdl::prelude::*;
use std::collections::VecDeque;

fn text() -> String {
    let mut parser = Parser::default();
    parser.clock.connect();
    parser.reset.connect();
    parser.data.connect();
    parser.info.connect();
    parser.valid.connect();
    parser.udp_port.connect();
    for plane in 0..4 {
        parser.own_mac[plane].connect();
        parser.own_ip[plane].connect();
    }
    emit::verilog("parser", parser)
}

struct Sent {
    fate: Fate,
    plane: usize,
}

#[derive(Default)]
struct Outputs {
    packets: VecDeque<Vec<Vec<u8>>>,
    packet: Vec<Vec<u8>>,
    covered: usize,
    frames: VecDeque<Record>,
    /// Cycles in which a packet's beat left.
    busy: u64,
}

impl Outputs {
    fn sample(&mut self, model: &Model) {
        let output = |name: &str| model.output(name);
        if output("packet_valid").is_set() {
            assert_eq!(output("packet_first").is_set(), self.packet.is_empty());
            self.packet.push(output("packet_data").bytes());
            self.busy += 1;
            if output("packet_last").is_set() {
                self.packets.push_back(std::mem::take(&mut self.packet));
            }
        }
        self.covered +=
            usize::from(output("covered_valid").is_set() && output("covered_last").is_set());
        if output("frame_valid").is_set() {
            self.frames
                .push_back(output("frame").record(ParsedFrame::FIELDS));
        }
    }
}

fn run(frames: Vec<(Vec<u8>, usize)>, gap: u64) -> (u64, Outputs) {
    let model = Model::build(&Source::new("parser", text())).unwrap();
    for plane in 0..4 {
        model
            .input(&format!("own_mac${plane}"))
            .set(little(&own_mac(plane)));
        model
            .input(&format!("own_ip${plane}"))
            .set(little(&own_ip(plane)));
    }
    model.input("udp_port").set(PORT);
    model.reset();
    let mut stall = Stall::new(95);
    let mut outputs = Outputs::default();
    let mut sent = Vec::new();
    for (frame, plane) in frames {
        // The CRC is judged elsewhere.
        let fate = judge(&frame, plane, false);
        let count = frame.len().div_ceil(64);
        for (index, beat) in frame.chunks(64).enumerate() {
            while stall.chance(gap) {
                model.input("valid").set(0);
                model.cycle();
                outputs.sample(&model);
            }
            let (first, last) = (u64::from(index == 0), u64::from(index + 1 == count));
            let info = beat.len() as u64
                | first << 7
                | last << 8
                | (plane as u64) << 10
                | (index as u64) << 12;
            model.input("data").set_bytes(beat);
            model.input("info").set(info);
            model.input("valid").set(1);
            model.cycle();
            outputs.sample(&model);
        }
        sent.push(Sent { fate, plane });
    }
    let end = model.cycles();
    model.input("valid").set(0);
    (0..20).for_each(|_| {
        model.cycle();
        outputs.sample(&model);
    });
    compare(&sent, &mut outputs);
    (end, outputs)
}

fn compare(sent: &[Sent], outputs: &mut Outputs) {
    assert_eq!(
        (outputs.frames.len(), outputs.covered),
        (sent.len(), sent.len())
    );
    for (number, Sent { fate, plane }) in sent.iter().enumerate() {
        let frame = outputs.frames.pop_front().unwrap();
        let beats = frame.get("beats") as usize;
        let packet = if beats == 0 {
            Vec::new()
        } else {
            outputs.packets.pop_front().unwrap()
        };
        assert_eq!(
            (packet.len(), frame.get("plane") as usize),
            (beats, *plane),
            "frame {number}"
        );
        match fate {
            Fate::Dropped(12) => assert_eq!(frame.get("reason"), 0, "frame {number}"),
            Fate::Dropped(reason) => {
                assert_eq!(frame.get("reason"), u64::from(*reason), "frame {number}")
            }
            Fate::Good { transport, ce } => {
                assert_eq!(frame.get("reason"), 0, "frame {number}");
                assert_eq!(
                    frame.get("transport_bytes") as usize,
                    transport.len(),
                    "frame {number}"
                );
                assert_eq!(frame.get("ce") == 1, *ce, "frame {number}");
                assert_eq!(
                    packet.concat()[..transport.len()],
                    transport[..],
                    "frame {number}"
                );
            }
        }
    }
    assert!(outputs.packets.is_empty());
}

fn random(seed: u64, count: usize) -> Vec<(Vec<u8>, usize)> {
    let mut stall = Stall::new(seed);
    let mut one = || {
        let recipe = Recipe::random(&mut stall);
        let mut frame = recipe.build();
        if stall.chance(40) {
            spoil(&mut frame, &recipe, &mut stall);
        }
        (frame, recipe.plane)
    };
    (0..count).map(|_| one()).collect()
}

#[test]
fn random_frames_back_to_back_and_with_gaps() {
    run(random(96, 4000), 0);
    run(random(97, 2000), 50);
}

#[test]
fn every_place_of_the_transport_header() {
    let mut frames = Vec::new();
    let mut stall = Stall::new(98);
    for tags in 0..3 {
        for v6 in [false, true] {
            for options in 0..=(if v6 { 0 } else { 10 }) {
                for length in [16, 20, 63, 64, 65, 127, 128, 300] {
                    let mut recipe = Recipe::plain(0, stall.bytes(length));
                    recipe.tags = vec![0x8100; tags];
                    recipe.v6 = v6;
                    recipe.options = stall.bytes(4 * options);
                    frames.push((recipe.build(), 0));
                }
            }
        }
    }
    let (_, outputs) = run(frames, 0);
    assert!(outputs.busy > 0);
}

#[test]
fn the_verilog_is_clean() {
    lint(&Source::new("parser", text())).unwrap();
}
