//! The host's side: AXI4-Lite accesses, counters, telemetry of paths, starting a connection anew.

mod bench;

use bench::{Offer, seeds};
use osprey_rtl::csr::clear_sequencer::{ClearOpen, ClearSequencer};
use osprey_rtl::csr::counters::Counters;
use osprey_rtl::csr::csr_port::CsrPort;
use osprey_rtl::csr::path_telemetry::{
    LossEvent, LossTelemetry, PathTelemetry, SendEvent, SendTelemetry,
};
use osprey_rtl::emit;
use osprey_verilated::{Model, Record, Source, Stall, lint};
use std::collections::BTreeMap;

fn port() -> Source {
    Source::new("csr_port", emit::verilog("csr_port", CsrPort::default()))
}

fn counters() -> Source {
    Source::new("counters", emit::verilog("counters", Counters::default()))
}

fn telemetry() -> Source {
    Source::new(
        "path_telemetry",
        emit::verilog("path_telemetry", PathTelemetry::new(6)),
    )
}

fn clears() -> Source {
    Source::new(
        "clear_sequencer",
        emit::verilog("clear_sequencer", ClearSequencer::default()),
    )
}

#[test]
fn the_verilog_is_clean() {
    for source in [port(), counters(), telemetry(), clears()] {
        lint(&source).unwrap();
    }
}

/// A memory of registers behind the port: what is written is read back, each access once.
#[test]
fn registers_are_written_and_read_in_order() {
    seeds("csr::registers_are_written_and_read_in_order", 4, |seed| {
        let model = Model::build(&port()).unwrap();
        let mut stall = Stall::new(seed);
        let input = |name: &str| model.input(name);
        let output = |name: &str| model.output(name);
        let [
            awaddr,
            awvalid,
            wdata,
            wvalid,
            bready,
            araddr,
            arvalid,
            rready,
            read_data,
        ] = [
            "awaddr",
            "awvalid",
            "wdata",
            "wvalid",
            "bready",
            "araddr",
            "arvalid",
            "rready",
            "read_data",
        ]
        .map(input);
        let [
            awready,
            wready,
            bvalid,
            arready,
            rdata,
            rvalid,
            write_valid,
            write_data,
            address,
        ] = [
            "awready",
            "wready",
            "bvalid",
            "arready",
            "rdata",
            "rvalid",
            "write_valid",
            "write_data",
            "address",
        ]
        .map(output);
        model.reset();
        let mut registers: BTreeMap<u64, u64> = BTreeMap::new();
        // An access goes through four stages: offered, taken, passed on, answered.
        let (mut write, mut written, mut answers) = (None, None, 0);
        let (mut read, mut reading) = (None, None);
        let (mut shows, mut parts, mut done) = (0, [false; 3], [0; 2]);
        for cycle in 0..20_000 {
            if write.is_none() && stall.chance(30) {
                write = Some((4 * stall.below(8), stall.below(1 << 32)));
            }
            if read.is_none() && stall.chance(30) {
                read = Some(4 * stall.below(8));
            }
            // Address and data of a write come apart and stay until taken.
            parts[0] = write.is_some() && (parts[0] || stall.chance(50));
            parts[1] = write.is_some() && (parts[1] || stall.chance(50));
            parts[2] = read.is_some() && (parts[2] || stall.chance(50));
            awvalid.set(parts[0]);
            wvalid.set(parts[1]);
            arvalid.set(parts[2]);
            let (to, value) = write.unwrap_or((0, 0));
            awaddr.set(to);
            wdata.set(value);
            araddr.set(read.unwrap_or(0));
            bready.set(stall.chance(50));
            rready.set(stall.chance(50));
            read_data.set(shows);
            model.eval();
            // The register file answers one cycle after the address.
            shows = registers.get(&address.get()).copied().unwrap_or(0);
            if write_valid.is_set() {
                let expected = written.take().expect("a write from nowhere");
                assert_eq!((address.get(), write_data.get()), expected, "cycle {cycle}");
                registers.insert(expected.0, expected.1);
            }
            if bvalid.is_set() && bready.is_set() {
                answers -= 1;
                done[0] += 1;
                assert_eq!(answers, 0, "cycle {cycle}: one answer a write");
            }
            if rvalid.is_set() && rready.is_set() {
                let from: u64 = reading.take().expect("an answer from nowhere");
                let expected = registers.get(&from).copied().unwrap_or(0);
                assert_eq!(rdata.get(), expected, "cycle {cycle}: read of {from:#x}");
                done[1] += 1;
            }
            assert_eq!(
                awready.is_set() && parts[0],
                wready.is_set() && parts[1],
                "cycle {cycle}"
            );
            if awready.is_set() && parts[0] {
                written = write.take();
                answers += 1;
                (parts[0], parts[1]) = (false, false);
            }
            if arready.is_set() && parts[2] {
                assert!(reading.is_none(), "cycle {cycle}: two reads");
                reading = read.take();
                parts[2] = false;
            }
            model.cycle();
        }
        assert!(
            done.iter().all(|&count| count > 1_000),
            "{done:?} writes and reads"
        );
    });
}

#[test]
fn every_pulse_is_counted() {
    seeds("csr::every_pulse_is_counted", 3, |seed| {
        let model = Model::build(&counters()).unwrap();
        let mut stall = Stall::new(seed);
        let [pulses, index] = ["pulses", "read_index"].map(|name| model.input(name));
        let count = model.output("read_count");
        let mut sums = [0u64; 64];
        for round in 0..20 {
            for _ in 0..stall.below(600) {
                let now = match round % 4 {
                    0 => u64::MAX,
                    1 => stall.bits(),
                    2 => stall.bits() & stall.bits() & stall.bits(),
                    _ => 1 << stall.below(64),
                };
                pulses.set(now);
                model.cycle();
                sums.iter_mut()
                    .enumerate()
                    .for_each(|(bit, sum)| *sum += now >> bit & 1);
            }
            pulses.set(0);
            (0..18).for_each(|_| model.cycle());
            for (bit, sum) in sums.iter().enumerate() {
                index.set(bit);
                model.cycle();
                model.eval();
                assert_eq!(count.get(), *sum, "counter {bit}, round {round}");
            }
        }
    });
}

#[derive(Default, Clone)]
struct Telemetry {
    send: BTreeMap<&'static str, u64>,
    loss: BTreeMap<&'static str, u64>,
}

impl Telemetry {
    fn sent(&mut self, event: &Record) {
        let mut add = |name, count| *self.send.entry(name).or_default() += count;
        if event.get("probe") == 1 {
            return add("probes", 1);
        }
        add("packets", 1);
        add("bytes", event.get("bytes"));
        add("resends", event.get("resend"));
    }

    fn lost(&mut self, event: &Record) {
        let name = match (event.get("probe"), event.get("timeout")) {
            (0, 0) => "by_ordinal",
            (_, 0) => "by_probe",
            _ => "by_timeout",
        };
        *self.loss.entry(name).or_default() += 1;
    }

    fn sampled(&mut self, rtt: u64) {
        let first = !self.loss.contains_key("samples");
        let mut change = |name, value: &dyn Fn(u64) -> u64| {
            let entry = self.loss.entry(name).or_default();
            *entry = value(*entry);
        };
        change("rtt_min", &|least| if first { rtt } else { least.min(rtt) });
        change("rtt_max", &|most| most.max(rtt));
        change("rtt_sum", &|sum| sum + rtt);
        change("samples", &|count| count + 1);
    }
}

#[test]
fn what_happens_on_a_path_is_summed() {
    seeds("csr::what_happens_on_a_path_is_summed", 4, |seed| {
        let model = Model::build(&telemetry()).unwrap();
        let mut stall = Stall::new(seed);
        let mut offers = ["sent", "lost", "sample"].map(|name| Offer::new(&model, name));
        let [read_pair, read_send, read_loss, clear_pair, clear_valid] = [
            "read_pair",
            "read_send",
            "read_loss",
            "clear_pair",
            "clear_valid",
        ]
        .map(|name| model.input(name));
        let [read_done, send_words, loss_words, clear_ready] =
            ["read_done", "send_words", "loss_words", "clear_ready"].map(|name| model.output(name));
        model.reset();
        let mut paths = vec![Telemetry::default(); 64];
        for round in 0..30 {
            for _ in 0..400 {
                let pair = stall.below(8) * 5;
                let event = stall.below(60);
                if event < 12 {
                    let record = Record::new(SendEvent::FIELDS)
                        .with("pair", pair)
                        .with("bytes", stall.below(4_097))
                        .with("probe", stall.chance(20))
                        .with("resend", stall.chance(20));
                    paths[pair as usize].sent(&record);
                    offers[0].queue.push_back(record);
                } else if event < 15 {
                    let [probe, timeout] = stall.pick(&[[0, 0], [1, 0], [0, 1]]);
                    let record = Record::new(LossEvent::FIELDS)
                        .with("pair", pair)
                        .with("probe", probe)
                        .with("timeout", timeout);
                    paths[pair as usize].lost(&record);
                    offers[1].queue.push_back(record);
                } else if event < 18 {
                    let rtt = stall.pick(&[0, 1, 0xffff, 77]);
                    paths[pair as usize].sampled(rtt);
                    offers[2].queue.push_back(
                        Record::new(LossEvent::FIELDS)
                            .with("pair", pair)
                            .with("rtt", rtt)
                            .with("sampled", 1),
                    );
                }
                for offer in &mut offers {
                    offer.drive(&mut stall, 100);
                }
                model.eval();
                for offer in &mut offers {
                    offer.taken();
                }
                model.cycle();
            }
            for offer in &mut offers {
                offer.drive(&mut stall, 0);
                assert!(offer.queue.is_empty());
            }
            // The host may ask in the very cycle of an event. Mostly its answer must be exact: wait for the queues.
            if round % 5 != 4 {
                (0..120).for_each(|_| model.cycle());
            }
            let pair = stall.below(8) * 5;
            for (ask, words, fields, sums) in [
                (
                    &read_send,
                    &send_words,
                    SendTelemetry::FIELDS,
                    &paths[pair as usize].send,
                ),
                (
                    &read_loss,
                    &loss_words,
                    LossTelemetry::FIELDS,
                    &paths[pair as usize].loss,
                ),
            ] {
                read_pair.set(pair);
                ask.set(1);
                model.cycle();
                ask.set(0);
                model.eval();
                for wait in 0.. {
                    assert!(wait < 500, "no answer");
                    if read_done.is_set() {
                        break;
                    }
                    model.cycle();
                }
                if round % 5 == 4 {
                    model.cycle();
                    continue;
                }
                let got = words.record(fields);
                for (name, _) in fields {
                    assert_eq!(
                        got.get(name),
                        sums.get(name).copied().unwrap_or(0),
                        "round {round}, {pair}: {name}"
                    );
                }
            }
            if round % 7 == 6 {
                clear_pair.set(pair);
                clear_valid.set(1);
                model.eval();
                while !clear_ready.is_set() {
                    model.cycle();
                }
                model.cycle();
                clear_valid.set(0);
                paths[pair as usize] = Telemetry::default();
            }
        }
    });
}

/// Events that never stop must not keep a connection from starting anew.
#[test]
fn a_path_is_cleared_under_load() {
    let model = Model::build(&telemetry()).unwrap();
    let [sent, lost, sample] = ["sent", "lost", "sample"].map(|name| model.input(name));
    sent.set_record(&Record::new(SendEvent::FIELDS).with("pair", 1));
    lost.set_record(&Record::new(LossEvent::FIELDS).with("pair", 2));
    sample.set_record(
        &Record::new(LossEvent::FIELDS)
            .with("pair", 3)
            .with("sampled", 1),
    );
    for name in [
        "sent_valid",
        "lost_valid",
        "sample_valid",
        "clear_valid",
        "read_send",
        "read_loss",
    ] {
        model.input(name).set(0);
    }
    model.reset();
    let ready = model.output("clear_ready");
    for busy in [
        ["sent_valid", "sent_valid"],
        ["lost_valid", "sample_valid"],
        ["sent_valid", "sample_valid"],
    ] {
        for name in busy {
            model.input(name).set(1);
        }
        (0..100).for_each(|_| model.cycle());
        for pair in 0..32u64 {
            model.input("clear_pair").set(pair);
            model.input("clear_valid").set(1);
            model.eval();
            for wait in 0.. {
                assert!(wait < 300, "{busy:?}: the clear of path {pair} starves");
                if ready.is_set() {
                    break;
                }
                model.cycle();
                model.eval();
            }
            model.cycle();
            model.input("clear_valid").set(0);
        }
        for name in busy {
            model.input(name).set(0);
        }
    }
}

/// Every block that keeps state is told of each of its places once, with the numbers asked for.
#[test]
fn a_connection_starts_anew_in_every_place() {
    for planes in [1u64, 2, 4] {
        let model = Model::build(&clears()).unwrap();
        let mut stall = Stall::new(planes);
        let outputs = [
            "pair",
            "plane_slot",
            "message_slot",
            "connection",
            "psn",
            "epoch",
            "ordinal",
        ];
        let outputs = outputs.map(|name| model.output(name));
        let [busy, open] = ["busy", "open"].map(|name| model.output(name));
        let done = model.input("done");
        model.input("plane_last").set(planes - 1);
        let [mark, gone] = [model.output("mark"), model.input("mark_gone")];
        gone.set(1);
        model.reset();
        for _ in 0..3 {
            let connection = stall.below(4096);
            let numbers = [
                stall.below(1 << 17) << 7,
                stall.below(256),
                stall.below(1 << 16),
            ];
            for (name, value) in ["connection", "psn", "epoch", "ordinal"]
                .iter()
                .zip([&[connection], &numbers[..]].concat())
            {
                model.input(&format!("start_{name}")).set(value);
            }
            model.input("start").set(1);
            model.cycle();
            model.input("start").set(0);
            let mut told: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
            // ACKs that were held leave late; when the mark was set.
            let mut marked = None;
            for wait in 0.. {
                assert!(wait < 20_000, "never ends");
                model.eval();
                let left = marked.is_none_or(|at| wait > at + 3_000);
                assert!(busy.is_set() || left, "ACKs of before are still held");
                if !busy.is_set() {
                    break;
                }
                if mark.is_set() {
                    assert_eq!(told["generator"].len(), 4, "no ACK of before can follow");
                    marked = Some(wait);
                }
                gone.set(left && !mark.is_set());
                let orders = open.record(ClearOpen::FIELDS);
                let mut taken = Record::new(ClearOpen::FIELDS);
                for (name, _) in ClearOpen::FIELDS {
                    if orders.get(name) == 1 && stall.chance(40) {
                        taken.set(name, 1);
                        let place = match *name {
                            "generator" => 1,
                            "placed" | "completion" => 2,
                            "work" => 3,
                            _ => 0,
                        };
                        told.entry(name)
                            .or_default()
                            .push(outputs[place as usize].get());
                        // What the last walks acknowledge meets its message before that is cleared.
                        let slots = matches!(*name, "completion" | "placed");
                        assert!(!slots || told["acks"].len() as u64 == 8 * planes, "{name}");
                        let got = [4, 5, 6].map(|index: usize| outputs[index].get());
                        assert_eq!(got, numbers);
                    }
                }
                done.set_record(&taken);
                model.cycle();
            }
            let range = |bits: u32, count: u64| {
                (0..count)
                    .map(|low| connection << bits | low)
                    .collect::<Vec<_>>()
            };
            for name in ["window", "telemetry"] {
                assert_eq!(told[name], range(5, 32), "{name}");
            }
            for name in ["acks", "sender"] {
                assert_eq!(told[name], range(5, 8 * planes), "{name}");
            }
            assert_eq!(told["generator"], range(2, 4));
            assert_eq!(told["placed"], range(6, 64));
            assert_eq!(told["completion"], range(6, 64));
            assert_eq!(told["work"], [connection]);
        }
    }
}
