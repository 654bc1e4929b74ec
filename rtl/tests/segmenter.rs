//! Packets of messages: offsets, lengths, reads and refunds, against plain slices of the message.

mod bench;

use bench::seeds;
use osprey_rtl::dma::ReadCommand;
use osprey_rtl::dma::memory_translation::{TranslateRequest, Translated};
use osprey_rtl::emit;
use osprey_rtl::tx::segmenter::{Outgoing, Segmenter};
use osprey_rtl::tx::spray_scheduler::TransmitJob;
use osprey_rtl::tx::work_queue::Message;
use osprey_verilated::{Model, Port, Record, Source, Stall, lint};
use std::collections::VecDeque;

/// Beats that the scheduler reserves for a data frame; bytes of headers and CRC.
const RESERVED: u64 = 67;
const OVERHEAD: u64 = 94;

fn source() -> Source {
    Source::new("segmenter", emit::verilog("segmenter", Segmenter::new(2)))
}

#[derive(Clone, Copy, Default, Debug)]
struct Sent {
    number: u64,
    length: u64,
    local: u64,
    remote: u64,
    local_key: u64,
    remote_key: u64,
}

/// What a piece of memory is, for the test: odd keys are refused, pages lie anywhere.
fn translate(request: &Record) -> Record {
    let [key, address, length] = ["key", "address", "length"].map(|name| request.get(name));
    let first = length.min(4096 - address % 4096);
    Record::new(Translated::FIELDS)
        .with("address0", address ^ 0x5a5a_0000_0000_0000)
        .with("length0", first)
        .with(
            "address1",
            (address & !0xfff).wrapping_add(0x1000) ^ 0x00a5_a500_0000_0000,
        )
        .with("length", length)
        .with("bad_key", key & 1)
        .with("out_of_bounds", key >> 1 & 1)
}

struct Bench<'a> {
    model: &'a Model,
    stall: Stall,
    mtu_shift: [u64; 4],
    messages: Vec<Sent>,
    job: [Port; 3],
    request: [Port; 2],
    answers: VecDeque<Record>,
    read: [Port; 3],
    outgoing: [Port; 3],
    returned: [Port; 2],
    refused: [Port; 2],
    expected: VecDeque<Record>,
    reads: VecDeque<[u64; 3]>,
    refunds: VecDeque<(u64, u64)>,
    refusals: VecDeque<u64>,
}

impl<'a> Bench<'a> {
    fn new(model: &'a Model, seed: u64) -> Self {
        let mut bench = Self {
            model,
            stall: Stall::new(seed),
            mtu_shift: [12; 4],
            messages: vec![Sent::default(); 256],
            job: [
                model.input("job"),
                model.input("job_valid"),
                model.output("job_room"),
            ],
            request: [model.output("request"), model.input("translated")],
            answers: VecDeque::new(),
            read: [
                model.output("read"),
                model.output("read_valid"),
                model.input("read_ready"),
            ],
            outgoing: [
                model.output("outgoing"),
                model.output("outgoing_valid"),
                model.input("outgoing_ready"),
            ],
            returned: ["returned_plane", "returned_beats"].map(|name| model.output(name)),
            refused: ["refused_connection", "refused_valid"].map(|name| model.output(name)),
            expected: VecDeque::new(),
            reads: VecDeque::new(),
            refunds: VecDeque::new(),
            refusals: VecDeque::new(),
        };
        model.reset();
        for connection in 0..4 {
            bench.mtu_shift[connection] = 8 + bench.stall.below(5);
            model.input("mtu_connection").set(connection);
            model.input("mtu_shift").set(bench.mtu_shift[connection]);
            model.input("mtu_write").set(1);
            model.cycle();
        }
        model.input("mtu_write").set(0);
        for slot in 0..256 {
            bench.write_message(slot);
            model.cycle();
        }
        model.input("message_write").set(0);
        bench
    }

    fn write_message(&mut self, slot: usize) {
        let stall = &mut self.stall;
        let mtu = 1 << self.mtu_shift[slot / 64];
        let length = match (slot / 64, stall.below(6)) {
            (0, _) => 58 + stall.below(241),
            (_, 0) => stall.pick(&[0, 1, mtu, mtu + 1, mtu << 18]),
            (_, 1) => 1 + stall.below(128),
            (..) => 1 + stall.below(20 * mtu),
        };
        let key = if stall.chance(10) {
            stall.bits()
        } else {
            stall.bits() & !3
        };
        let sent = Sent {
            number: slot as u64 % 64 + 64 * stall.below(1024),
            length,
            local: stall.bits(),
            remote: stall.bits(),
            local_key: key & 0xffff_ffff,
            remote_key: stall.bits() & 0xffff_ffff,
        };
        self.messages[slot] = sent;
        self.put_message(slot);
    }

    /// Writes a message as it is: whoever reads it meanwhile must find it so.
    fn put_message(&mut self, slot: usize) {
        let sent = self.messages[slot];
        let record = Record::new(Message::FIELDS)
            .with("message", sent.number)
            .with("control", slot < 64)
            .with("length", sent.length)
            .with("local_address", sent.local)
            .with("remote_address", sent.remote)
            .with("local_key", sent.local_key)
            .with("remote_key", sent.remote_key);
        self.model.input("message_address").set(slot);
        self.model.input("message").set_record(&record);
        self.model.input("message_write").set(1);
    }

    /// A random packet of a random message, a probe or a CONTROL frame; and what must come of it.
    fn push_job(&mut self) {
        let stall = &mut self.stall;
        let slot = stall.below(256);
        let connection = slot / 64;
        let sent = self.messages[slot as usize];
        let kind = if connection == 0 {
            2
        } else {
            u64::from(stall.chance(20))
        };
        let mtu = 1u64 << self.mtu_shift[connection as usize];
        let packets = sent.length.div_ceil(mtu).max(1);
        let index = if stall.chance(30) {
            packets - 1
        } else {
            stall.below(packets)
        };
        let index = if kind == 0 { index } else { 0 };
        let mut job = Record::new(TransmitJob::FIELDS);
        for (name, bits) in TransmitJob::FIELDS {
            job.set(name, stall.bits() & ((1 << bits) - 1));
        }
        let pair = connection << 5 | stall.below(32);
        for (name, value) in [
            ("kind", kind),
            ("pair", pair),
            ("slot", slot % 64),
            ("index", index),
        ] {
            job.set(name, value);
        }
        self.job[0].set_record(&job);
        self.job[1].set(1);
        let offset = if kind == 0 { index * mtu } else { 0 };
        let length = match kind {
            0 => mtu.min(sent.length - offset),
            1 => 0,
            _ => sent.length,
        };
        let refused = kind != 1 && sent.local_key & 3 != 0;
        if kind == 0 {
            let used = (OVERHEAD + length).div_ceil(64);
            self.refunds.push_back((
                pair >> 3 & 3,
                if refused { RESERVED } else { RESERVED - used },
            ));
        }
        if refused {
            self.refusals.push_back(connection);
            return;
        }
        let local = sent.local.wrapping_add(offset);
        if length > 0 {
            let request = Record::new(TranslateRequest::FIELDS)
                .with("address", local)
                .with("length", length);
            let place = translate(&request);
            let [first, rest] = [place.get("length0"), length - place.get("length0")];
            self.reads
                .push_back([place.get("address0"), first, u64::from(rest == 0)]);
            if rest > 0 {
                self.reads.push_back([place.get("address1"), rest, 1]);
            }
        }
        let mut out = Record::new(Outgoing::FIELDS);
        for name in [
            "kind",
            "pair",
            "psn",
            "epoch",
            "ordinal",
            "train",
            "ack_request",
            "resend",
        ] {
            out.set(name, job.get(name));
        }
        let last = kind == 2 || index == packets - 1;
        let fields = [
            ("last", u64::from(last)),
            ("message", sent.number),
            ("address", sent.remote.wrapping_add(offset)),
            ("key", sent.remote_key),
            ("length", length),
            ("total", sent.length),
            ("offset", offset),
            ("source", local % 64),
        ];
        fields
            .iter()
            .for_each(|&(name, value)| out.set(name, value));
        self.expected.push_back(out);
    }

    fn step(&mut self, chances: [u64; 2]) {
        self.read[2].set(self.stall.chance(chances[0]));
        self.outgoing[2].set(self.stall.chance(chances[1]));
        let blank = Record::new(Translated::FIELDS);
        let answer = if self.answers.len() == 8 {
            self.answers.pop_front()
        } else {
            None
        };
        self.request[1].set_record(&answer.unwrap_or(blank));
        self.model.eval();
        let request = self.request[0].record(TranslateRequest::FIELDS);
        assert_eq!(request.get("remote"), 0);
        self.answers.push_back(translate(&request));
        let cycle = self.model.cycles();
        if self.outgoing[1].is_set() && self.outgoing[2].is_set() {
            let got = self.outgoing[0].record(Outgoing::FIELDS);
            let expected = self.expected.pop_front().expect("a packet from nowhere");
            let names = Outgoing::FIELDS.iter().map(|(name, _)| *name);
            let probe = expected.get("kind") == 1;
            // What a probe says of a message means nothing.
            for name in names.take(if probe { 8 } else { usize::MAX }) {
                assert_eq!(
                    got.get(name),
                    expected.get(name),
                    "cycle {cycle}: {name} of {expected:?}"
                );
            }
            assert_eq!(got.get("length"), expected.get("length"), "cycle {cycle}");
        }
        if self.read[1].is_set() && self.read[2].is_set() {
            let command = self.read[0].record(ReadCommand::FIELDS);
            let expected = self.reads.pop_front().expect("a read from nowhere");
            assert_eq!(
                ["address", "length", "last"].map(|name| command.get(name)),
                expected,
                "cycle {cycle}"
            );
            assert_eq!(command.get("work_request"), 0);
        }
        while self.refunds.front().is_some_and(|refund| refund.1 == 0) {
            self.refunds.pop_front();
        }
        if self.returned[1].get() != 0 {
            let refund = (self.returned[0].get(), self.returned[1].get());
            assert_eq!(Some(refund), self.refunds.pop_front(), "cycle {cycle}");
        }
        if self.refused[1].is_set() {
            assert_eq!(
                Some(self.refused[0].get()),
                self.refusals.pop_front(),
                "cycle {cycle}"
            );
        }
        self.model.cycle();
        self.job[1].set(0);
        self.model.input("message_write").set(0);
    }
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}

#[test]
fn every_job_becomes_its_slice_of_the_message() {
    seeds(
        "segmenter::every_job_becomes_its_slice_of_the_message",
        8,
        |seed| {
            let model = Model::build(&source()).unwrap();
            let mut bench = Bench::new(&model, seed);
            let push = bench.stall.pick(&[20, 100]);
            let chances = bench
                .stall
                .pick(&[[100, 100], [30, 100], [100, 30], [50, 50]]);
            let mut jobs = 0;
            for _ in 0..10_000 {
                model.eval();
                // The scheduler holds up to 8 more in its stages.
                if bench.job[2].is_set() && bench.stall.chance(push) {
                    bench.push_job();
                    jobs += 1;
                }
                if bench.stall.chance(30) {
                    let slot = bench.stall.below(256) as usize;
                    bench.put_message(slot);
                }
                bench.step(chances);
            }
            (0..600).for_each(|_| bench.step([100, 100]));
            let left = (
                bench.expected.len(),
                bench.reads.len(),
                bench.refunds.len(),
                bench.refusals.len(),
            );
            assert_eq!(
                left,
                (0, 0, 0, 0),
                "packets, reads, refunds, refusals that never came"
            );
            assert!(jobs > 1_500, "only {jobs} jobs");
        },
    );
}
