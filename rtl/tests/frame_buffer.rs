//! The frame buffer: only packets judged good come out, each twice and in order, whenever the two judgements come.

use osprey_rtl::emit;
use osprey_rtl::rx::{FrameBuffer, FrameInfo, ParsedFrame};
use osprey_verilated::{Model, Record, Source, Stall, lint};
use rust_hdl::prelude::*;
use std::collections::VecDeque;

fn text() -> String {
    let mut buffer = FrameBuffer::new();
    buffer.clock.connect();
    buffer.reset.connect();
    buffer.begins.connect();
    buffer.packet_data.connect();
    buffer.packet_first.connect();
    buffer.packet_last.connect();
    buffer.packet_valid.connect();
    buffer.frame.connect();
    buffer.frame_valid.connect();
    buffer.verdict_ok.connect();
    buffer.verdict_valid.connect();
    buffer.header_ready.connect();
    buffer.payload_ready.connect();
    emit::verilog("frame_buffer", buffer)
}

struct Packet {
    beats: Vec<Vec<u8>>,
    frame: Record,
    crc_ok: bool,
}

impl Packet {
    fn random(stall: &mut Stall) -> Self {
        let reason = if stall.chance(70) {
            0
        } else {
            1 + stall.below(11)
        };
        let count = if reason != 0 && stall.chance(20) {
            0
        } else {
            1 + stall.below(stall.clone().pick(&[2, 8, 146]))
        };
        let frame = Record::new(ParsedFrame::FIELDS)
            .with("reason", reason)
            .with("plane", stall.below(4))
            .with("transport_bytes", stall.below(1 << 14))
            .with("ce", stall.below(2))
            .with("beats", count);
        Self {
            beats: (0..count).map(|_| stall.bytes(64)).collect(),
            frame,
            crc_ok: stall.chance(80),
        }
    }

    fn outcome(&self) -> u64 {
        match self.frame.get("reason") {
            0 if !self.crc_ok => 12,
            reason => reason,
        }
    }
}

fn check_header(model: &Model, packet: &Packet) {
    assert_eq!(model.output("header_data").bytes(), packet.beats[0][..48]);
    let info = model.output("header_info").record(FrameInfo::FIELDS);
    for field in ["plane", "transport_bytes", "ce", "beats"] {
        assert_eq!(info.get(field), packet.frame.get(field), "{field}");
    }
}

/// Gives the buffer the halves of the judgements that are due.
fn judge(
    model: &Model,
    now: u64,
    frames: &mut VecDeque<(u64, &Record)>,
    verdicts: &mut VecDeque<(u64, bool)>,
) {
    let input = |name: &str| model.input(name);
    let due = frames.front().is_some_and(|(from, _)| *from <= now);
    input("frame_valid").set(due);
    if due {
        input("frame").set_record(frames.pop_front().unwrap().1);
    }
    let due = verdicts.front().is_some_and(|(from, _)| *from <= now);
    input("verdict_valid").set(due);
    if due {
        input("verdict_ok").set(verdicts.pop_front().unwrap().1);
    }
}

fn run(seed: u64, count: usize, ready: [u64; 2]) {
    let model = Model::build(&Source::new("frame_buffer", text())).unwrap();
    model.reset();
    let mut stall = Stall::new(seed);
    let packets: Vec<_> = (0..count).map(|_| Packet::random(&mut stall)).collect();
    let good = || packets.iter().filter(|packet| packet.outcome() == 0);
    let mut headers: VecDeque<&Packet> = good().collect();
    let mut payload: VecDeque<(&Vec<u8>, bool)> = good()
        .flat_map(|packet| {
            packet
                .beats
                .iter()
                .enumerate()
                .map(|(at, beat)| (beat, at + 1 == packet.beats.len()))
        })
        .collect();
    let mut judged: VecDeque<u64> = packets.iter().map(Packet::outcome).collect();
    let mut coming = packets.iter().peekable();
    let mut at = 0;
    let mut rooms = VecDeque::from([false; 3]);
    let mut frames: VecDeque<(u64, &Record)> = VecDeque::new();
    let mut verdicts: VecDeque<(u64, bool)> = VecDeque::new();
    let input = |name: &str| model.input(name);
    let output = |name: &str| model.output(name);
    while !headers.is_empty() || !payload.is_empty() || !judged.is_empty() {
        let now = model.cycles();
        assert!(now < 1_000_000, "hangs");
        input("packet_valid").set(0);
        input("begins").set(0);
        // What sends frames heeds `room` three cycles late.
        rooms.push_back(output("room").is_set());
        let room = rooms.pop_front() == Some(true);
        let may = at > 0 || room;
        if let Some(&packet) = coming.peek().filter(|_| may && stall.chance(80)) {
            input("begins").set(at == 0);
            if let Some(beat) = packet.beats.get(at) {
                input("packet_valid").set(1);
                input("packet_data").set_bytes(beat);
                input("packet_first").set(at == 0);
                input("packet_last").set(at + 1 == packet.beats.len());
                at += 1;
            }
            if at == packet.beats.len() {
                at = 0;
                frames.push_back((now + stall.below(3), &packet.frame));
                verdicts.push_back((now + stall.below(12), packet.crc_ok));
                coming.next();
            }
        }
        judge(&model, now, &mut frames, &mut verdicts);
        input("header_ready").set(stall.chance(ready[0]));
        input("payload_ready").set(stall.chance(ready[1]));
        model.eval();
        if output("header_valid").is_set() && input("header_ready").is_set() {
            check_header(
                &model,
                headers.pop_front().expect("a header that is not good"),
            );
        }
        if output("payload_valid").is_set() && input("payload_ready").is_set() {
            let (beat, last) = payload.pop_front().expect("a beat that is not good");
            assert_eq!(
                (
                    &output("payload_data").bytes(),
                    output("payload_last").is_set()
                ),
                (beat, last)
            );
        }
        if output("judged").is_set() {
            assert_eq!(Some(output("drop_reason").get()), judged.pop_front());
        }
        model.cycle();
    }
}

#[test]
fn only_good_packets_come_out() {
    run(101, 1500, [100, 100]);
    run(102, 1500, [50, 50]);
    run(103, 1000, [100, 20]);
    run(104, 1000, [5, 100]);
}

#[test]
fn the_verilog_is_clean() {
    lint(&Source::new("frame_buffer", text())).unwrap();
}
