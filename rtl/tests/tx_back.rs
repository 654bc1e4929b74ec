//! The transmit back against frames built in plain Rust: every byte, in order, on each plane, without a gap in a frame.

mod frames;

use frames::{crc32c, fix_checksum, little};
use osprey_rtl::emit;
use osprey_rtl::tx::header_builder::FrameRequest;
use osprey_rtl::tx::tx_back::TxBack;
use osprey_verilated::{Model, Port, Record, Source, Stall, lint};
use rust_hdl::prelude::*;
use std::collections::VecDeque;

fn text() -> String {
    let mut back = TxBack::new(4);
    back.clock.connect();
    back.reset.connect();
    back.request.connect();
    back.request_valid.connect();
    back.block.connect();
    back.payload.connect();
    back.poison.connect();
    back.payload_valid.connect();
    for ready in &mut back.tready {
        ready.connect();
    }
    emit::verilog("tx_back", back)
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks(4)
        .map(|chunk| {
            chunk
                .iter()
                .rev()
                .fold(0, |word, &byte| word << 8 | u32::from(byte))
        })
        .collect()
}

/// A request, the payload beats it takes, and the frame it must give.
struct Case {
    plane: usize,
    request: Record,
    /// Of an ACK.
    blocks: Vec<Vec<u8>>,
    payload: Vec<Vec<u8>>,
    frame: Vec<u8>,
}

impl Case {
    fn new(
        stall: &mut Stall,
        kind: u64,
        transport_bytes: usize,
        payload_bytes: usize,
        lane: usize,
    ) -> Self {
        let plane = stall.below(4) as usize;
        let macs = stall.bytes(12);
        let addresses = stall.bytes(8);
        let ports = [stall.bytes(2), stall.bytes(2)];
        let transport = stall.bytes(transport_bytes);
        // An ACK's blocks come after its first 16 bytes.
        let is_ack = kind == 1 && (transport_bytes - 16) % 24 == 0;
        let own_bytes = if is_ack { 16 } else { transport_bytes };
        let blocks = transport[own_bytes..].chunks(24).map(<[u8]>::to_vec);
        let blocks: Vec<_> = blocks.collect();
        let run = stall.bytes(payload_bytes);
        let bodied = kind != 1;
        let mut frame = Vec::new();
        if kind == 2 {
            frame.extend(&run);
        } else {
            let udp_length = 8 + transport_bytes + if bodied { payload_bytes } else { 0 } + 4;
            frame.extend(&macs);
            frame.extend([8, 0, 0x45, 2]);
            frame.extend((20 + udp_length as u16).to_be_bytes());
            frame.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
            frame.extend(&addresses);
            fix_checksum(&mut frame, 14);
            frame.extend(ports[0].iter().rev());
            frame.extend(ports[1].iter().rev());
            frame.extend((udp_length as u16).to_be_bytes());
            frame.extend([0, 0]);
            frame.extend(&transport);
            frame.extend(if bodied { &run[..] } else { &[] });
        }
        let covered = |at: usize| (26..34).contains(&at) || at == 36 || at == 37 || at >= 42;
        let message: Vec<u8> = frame
            .iter()
            .enumerate()
            .map(|(at, &byte)| if covered(at) { byte } else { 0 })
            .collect();
        frame.extend(crc32c(&message));

        let mut payload = Vec::new();
        if bodied {
            let mut beats = stall.bytes((lane + payload_bytes).div_ceil(64) * 64);
            beats[lane..lane + payload_bytes].copy_from_slice(&run);
            payload = beats.chunks(64).map(<[u8]>::to_vec).collect();
        }
        let mut request = Record::new(FrameRequest::FIELDS)
            .with("plane", plane)
            .with("path_port", little(&ports[0]))
            .with("destination_mac", little(&macs[..6]))
            .with("source_mac", little(&macs[6..]))
            .with("source_ip", little(&addresses[..4]))
            .with("destination_ip", little(&addresses[4..]))
            .with("kind", kind)
            .with("transport_bytes", transport_bytes)
            .with("blocks", blocks.len())
            .with("payload_bytes", payload_bytes)
            .with("payload_source_lane", lane)
            .with("udp_port", little(&ports[1]));
        // What lies behind the transport header must not matter.
        let mut noisy = transport[..own_bytes].to_vec();
        noisy.extend(stall.bytes(48 - own_bytes));
        request.set_words("transport", &words(&noisy));
        Self {
            plane,
            request,
            blocks,
            payload,
            frame,
        }
    }

    fn random(stall: &mut Stall) -> Self {
        let kind = if stall.chance(50) {
            0
        } else {
            1 + stall.below(2)
        };
        let transport = if kind == 1 && stall.chance(60) {
            16 + 24 * stall.below(5)
        } else {
            16 + stall.below(33)
        };
        let most = [70, 300, 4096][stall.below(3) as usize];
        let payload = if kind == 2 {
            58 + stall.below(300)
        } else {
            1 + stall.below(most)
        };
        Self::new(
            stall,
            kind,
            transport as usize,
            payload as usize,
            stall.clone().below(64) as usize,
        )
    }

    fn beats(&self) -> usize {
        self.frame.len().div_ceil(64)
    }
}

/// Takes a beat if one moves; a frame must be the next one expected, and have no gap.
fn check_plane(
    plane: usize,
    ([data, keep, last, valid], ready): &([Port; 4], Port),
    partial: &mut Vec<u8>,
    expected: &mut VecDeque<Vec<u8>>,
) {
    assert!(
        valid.is_set() || partial.is_empty(),
        "plane {plane}: a gap in a frame"
    );
    if !valid.is_set() || !ready.is_set() {
        return;
    }
    let count = keep.get().count_ones() as usize;
    assert_eq!(keep.get(), u64::MAX >> (64 - count));
    partial.extend(&data.bytes()[..count]);
    if last.is_set() {
        assert_eq!(
            Some(std::mem::take(partial)),
            expected.pop_front(),
            "plane {plane}"
        );
    } else {
        assert_eq!(count, 64);
    }
}

/// Sends the cases; gives the cycles from the first request to the last beat.
fn run(model: &Model, stall: &mut Stall, cases: Vec<Case>, chances: [u64; 3]) -> u64 {
    let mut expected = vec![VecDeque::new(); 4];
    let mut payload: VecDeque<Vec<u8>> = VecDeque::new();
    let mut requests = VecDeque::new();
    let mut blocks: VecDeque<Vec<u8>> = VecDeque::new();
    let (block, block_ready) = (model.input("block"), model.output("block_ready"));
    for case in cases {
        expected[case.plane].push_back(case.frame.clone());
        payload.extend(case.payload.clone());
        blocks.extend(case.blocks.clone());
        requests.push_back(case);
    }
    let [request, request_valid, payload_data, payload_valid] =
        ["request", "request_valid", "payload", "payload_valid"].map(|name| model.input(name));
    let [request_ready, payload_ready, freed] =
        ["request_ready", "payload_ready", "freed"].map(|name| model.output(name));
    let planes: Vec<_> = (0..4)
        .map(|plane| {
            let output = ["tdata", "tkeep", "tlast", "tvalid"]
                .map(|name| model.output(&format!("{name}${plane}")));
            (output, model.input(&format!("tready${plane}")))
        })
        .collect();
    let mut credit = [512; 4];
    let mut partial = vec![Vec::new(); 4];
    let start = model.cycles();
    while expected.iter().any(|queue| !queue.is_empty()) {
        assert!(model.cycles() < start + 500_000, "hangs");
        let next = requests
            .front()
            .filter(|case| credit[case.plane] >= case.beats());
        request_valid.set(next.is_some() && stall.chance(chances[0]));
        if let Some(case) = next {
            request.set_record(&case.request);
        }
        block.set_bytes(&blocks.front().cloned().unwrap_or_else(|| stall.bytes(24)));
        payload_valid.set(!payload.is_empty() && stall.chance(chances[1]));
        if let Some(beat) = payload.front() {
            payload_data.set_bytes(beat);
        }
        for (_, ready) in &planes {
            ready.set(stall.chance(chances[2]));
        }
        model.eval();
        for (plane, port) in planes.iter().enumerate() {
            check_plane(plane, port, &mut partial[plane], &mut expected[plane]);
        }
        for (plane, credit) in credit.iter_mut().enumerate() {
            *credit += (freed.get() >> plane & 1) as usize;
        }
        if request_valid.is_set() && request_ready.is_set() {
            let case = requests.pop_front().unwrap();
            credit[case.plane] -= case.beats();
        }
        if block_ready.is_set() {
            blocks.pop_front().expect("a block too many");
        }
        if payload_valid.is_set() && payload_ready.is_set() {
            payload.pop_front();
        }
        model.cycle();
    }
    assert!(payload.is_empty() && requests.is_empty() && blocks.is_empty());
    model.cycles() - start
}

fn model() -> Model {
    let model = Model::build(&Source::new("tx_back", text())).unwrap();
    model.reset();
    model
}

#[test]
fn random_frames_are_sent_byte_by_byte() {
    let model = model();
    let mut stall = Stall::new(21);
    for round in 0..12 {
        let cases = (0..400).map(|_| Case::random(&mut stall)).collect();
        let chances = [
            [100, 100, 100],
            [50, 50, 50],
            [100, 30, 100],
            [100, 100, 30],
        ][round % 4];
        run(&model, &mut stall, cases, chances);
    }
}

#[test]
fn every_length_and_lane_of_a_small_payload() {
    let model = model();
    let mut stall = Stall::new(22);
    for lane in [0, 1, 37, 63] {
        let cases = (1..200)
            .map(|length| Case::new(&mut stall, 0, 48, length, lane))
            .collect();
        run(&model, &mut stall, cases, [100, 100, 100]);
    }
}

#[test]
fn the_rate_that_the_design_asks_for() {
    let model = model();
    let mut stall = Stall::new(23);
    for lane in [0, 26, 32, 63] {
        let cases: Vec<_> = (0..200)
            .map(|_| Case::new(&mut stall, 0, 48, 256, lane))
            .collect();
        let beats: usize = cases.iter().map(Case::beats).sum();
        let cycles = run(&model, &mut stall, cases, [100, 100, 100]);
        println!("256 bytes from lane {lane}: {cycles} cycles for {beats} beats");
        assert!(
            cycles as usize <= beats + 60,
            "from lane {lane}: {cycles} cycles, {beats} beats"
        );
    }
    let cases: Vec<_> = (0..200)
        .map(|_| Case::new(&mut stall, 1, 40, 0, 0))
        .collect();
    let cycles = run(&model, &mut stall, cases, [100, 100, 100]);
    println!("200 ACKs: {cycles} cycles");
    // One in 3 cycles, as `frame_request` gives them, and the way through.
    assert!(cycles <= 3 * 200 + 20);
    let single = run(
        &model,
        &mut stall,
        vec![Case::new(&mut Stall::new(1), 1, 40, 0, 0)],
        [100, 100, 100],
    );
    println!("one ACK: {single} cycles from request to the last beat on the wire");
    let single = run(
        &model,
        &mut stall,
        vec![Case::new(&mut Stall::new(1), 0, 48, 1024, 0)],
        [100, 100, 100],
    );
    println!("1,024 bytes: {single} cycles from request to the last beat on the wire");
}

#[test]
fn the_verilog_is_clean() {
    lint(&Source::new("tx_back", text())).unwrap();
}
