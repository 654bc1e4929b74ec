//! Headers byte by byte as the wire format has them, with the plan and the aligner's job of each frame.

mod bench;
mod frames;

use bench::{Offer, seeds};
use frames::ones_sum;
use osprey_rtl::emit;
use osprey_rtl::stream::AlignerJob;
use osprey_rtl::tx::FrameRequest;
use osprey_rtl::tx::header_builder::HeaderBuilder;
use osprey_verilated::{Model, Record, Source, Stall, lint};
use std::collections::VecDeque;

fn source() -> Source {
    let text = emit::verilog("header_builder", HeaderBuilder::new());
    Source::new("header_builder", text)
}

/// The layout of `FramePlan`, a struct of wires.
const PLAN: &[(&str, usize)] = &[
    ("plane", 2),
    ("rows", 2),
    ("header_beats", 2),
    ("beats", 7),
    ("last_bytes", 7),
];

#[derive(Debug)]
struct Expected {
    header: Vec<u8>,
    plan: [u64; 5],
}

struct Case {
    request: Record,
    /// Of an ACK.
    blocks: Vec<Vec<u8>>,
    expected: Expected,
    /// Source lane, lane in the frame, bytes.
    job: Option<[u64; 3]>,
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |chunk: &[u8]| {
        chunk
            .iter()
            .rev()
            .fold(0, |word, &byte| word << 8 | u32::from(byte))
    };
    bytes.chunks(4).map(word).collect()
}

fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// Ethernet, IPv4, UDP; lengths in bytes of what follows UDP, the CRC included.
fn network(macs: &[u8], addresses: &[u8], ports: [u16; 2], behind_udp: u16) -> Vec<u8> {
    let mut bytes = macs.to_vec();
    bytes.extend([0x08, 0x00, 0x45, 0x02]);
    bytes.extend((behind_udp + 28).to_be_bytes());
    bytes.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
    bytes.extend(addresses);
    let sum = !ones_sum(&bytes[14..34]);
    bytes[24..26].copy_from_slice(&sum.to_be_bytes());
    bytes.extend(ports[0].to_be_bytes());
    bytes.extend(ports[1].to_be_bytes());
    bytes.extend((behind_udp + 8).to_be_bytes());
    bytes.extend([0, 0]);
    bytes
}

fn case(stall: &mut Stall) -> Case {
    let kind = stall.pick(&[0, 0, 1, 2]);
    // An ACK's blocks come after its first 16 bytes.
    let count = if kind == 1 { stall.below(5) } else { 0 };
    let blocks: Vec<_> = (0..count).map(|_| stall.bytes(24)).collect();
    let own_bytes = if count == 0 { 16 + stall.below(33) } else { 16 };
    let transport_bytes = own_bytes + 24 * count;
    let payload_bytes = if stall.chance(30) {
        1 + stall.below(80)
    } else {
        1 + stall.below(4096)
    };
    let (plane, lane) = (stall.below(4), stall.below(64));
    // Destination first in the frame; both source and destination addresses, source first.
    let (macs, addresses) = (stall.bytes(12), stall.bytes(8));
    let ports = [stall.below(1 << 16) as u16, stall.below(1 << 16) as u16];
    let mut transport = stall.bytes(own_bytes as usize);
    let payload = if kind == 1 { 0 } else { payload_bytes };
    let behind_udp = (transport_bytes + payload + 4) as u16;
    let header_bytes = if kind == 2 { 0 } else { 42 + transport_bytes };
    let header = [
        network(&macs, &addresses, ports, behind_udp),
        transport.clone(),
        blocks.concat(),
    ]
    .concat();
    let total = header_bytes + payload;
    // Beats without payload; all of them if there is none.
    let bare = if payload == 0 {
        total.div_ceil(64)
    } else {
        header_bytes / 64
    };
    transport.extend(stall.bytes(48 - own_bytes as usize));
    let mut request = Record::new(FrameRequest::FIELDS)
        .with("plane", plane)
        .with("path_port", u64::from(ports[0]))
        .with("udp_port", u64::from(ports[1]))
        .with("destination_mac", number(&macs[..6]))
        .with("source_mac", number(&macs[6..]))
        .with("source_ip", number(&addresses[..4]))
        .with("destination_ip", number(&addresses[4..]))
        .with("kind", kind)
        .with("transport_bytes", transport_bytes)
        .with("blocks", count)
        .with("payload_bytes", payload_bytes)
        .with("payload_source_lane", lane);
    request.set_words("transport", &words(&transport));
    Case {
        request,
        blocks,
        expected: Expected {
            header: if kind == 2 { Vec::new() } else { header },
            plan: [
                plane,
                header_bytes.div_ceil(64),
                bare,
                total.div_ceil(64),
                (total - 1) % 64 + 1,
            ],
        },
        job: (payload > 0).then_some([lane, header_bytes % 64, payload]),
    }
}

fn run(seed: u64) {
    let model = Model::build(&source()).unwrap();
    let mut stall = Stall::new(seed);
    let mut offer = Offer::new(&model, "request");
    let [plan_ready, job_ready, row_ready] =
        ["plan_ready", "job_ready", "row_ready"].map(|name| model.input(name));
    let chances = [
        [100, 100, 100],
        [100, 30, 100],
        [100, 100, 20],
        [30, 60, 60],
    ][seed as usize % 4];
    model.input("request_valid").set(0);
    model.reset();
    let (mut plans, mut jobs, mut through) = (VecDeque::new(), VecDeque::new(), 0);
    let mut blocks: VecDeque<Vec<u8>> = VecDeque::new();
    let (block, block_ready) = (model.input("block"), model.output("block_ready"));
    // Rows of frames whose plan was taken, in or after the cycle of the plan.
    let mut due: VecDeque<Vec<u8>> = VecDeque::new();
    while through < 1_500 {
        assert!(model.cycles() < 100_000, "hangs");
        if offer.queue.is_empty() {
            let case = case(&mut stall);
            offer.queue.push_back(case.request);
            blocks.extend(case.blocks);
            plans.push_back(case.expected);
            jobs.extend(case.job);
        }
        offer.drive(&mut stall, chances[0]);
        block.set_bytes(&blocks.front().cloned().unwrap_or_else(|| stall.bytes(24)));
        plan_ready.set(stall.chance(chances[1]));
        job_ready.set(stall.chance(chances[2]));
        row_ready.set(!due.is_empty());
        model.eval();
        offer.taken();
        if block_ready.is_set() {
            blocks.pop_front().expect("a block too many");
        }
        if let Some(row) = due.pop_front() {
            assert_eq!(model.output("row").bytes()[..row.len()], row);
        }
        if model.output("plan_valid").is_set() && plan_ready.is_set() {
            let expected: Expected = plans.pop_front().expect("a plan too many");
            let plan = model.output("plan").record(PLAN);
            assert_eq!(
                ["plane", "rows", "header_beats", "beats", "last_bytes"].map(|name| plan.get(name)),
                expected.plan
            );
            due.extend(expected.header.chunks(64).map(<[u8]>::to_vec));
            through += 1;
        }
        if model.output("job_valid").is_set() && job_ready.is_set() {
            let job = model.output("job").record(AlignerJob::FIELDS);
            let got = ["source", "destination", "length"].map(|name| job.get(name));
            assert_eq!(got, jobs.pop_front().expect("a job too many"));
        }
        model.cycle();
    }
}

#[test]
fn headers_are_those_of_the_wire_format() {
    seeds(
        "header_builder::headers_are_those_of_the_wire_format",
        4,
        run,
    );
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}
