//! Much and varied traffic between two verilated engines: sizes, wraps, disorder, stalls, many connections,
//! lives of a connection. Needs the emitted Verilog of `edge`; without it each test says so and passes.

mod rig;

use osprey_hls::regs::counters::Counter;
use osprey_host::device::DevicePair;
use osprey_host::verbs::{
    Config, ConnectionHandle, FirstNumbers, Status, WorkOperation, WorkRequest,
};
use osprey_sim::bench::Bench;
use osprey_sim::fabric::{Fate, Faults, Kind, Rule};
use osprey_sim::hosts::{BACKGROUND, Hosts, Memory};
use osprey_sim::memory::Timing;
use osprey_sim::pair::{Pair, PairConfig};
use osprey_sim::referee::MemoryReferee;
use rig::*;

#[test]
fn field_case_32_messages_of_every_awkward_size() {
    let Some(source) = engine() else { return };
    for (seed, size) in (1..).zip([1, 63, 64, 65, 255, 256, 257, 4095, 4096, 4097, 8192, 12_289]) {
        let mut pair =
            Pair::new(&source, &config(|c| (c.seed, c.faults.loss) = (seed, 0.03))).unwrap();
        assert_eq!(send(&mut pair, size * 9, size).completions, 9);
    }
    let mut pair = Pair::new(&source, &config(|_| {})).unwrap();
    assert_eq!(send(&mut pair, 0, 1).completions, 1);
}

/// Small packets, so that every path goes round its numbers.
fn wrapping(first_numbers: FirstNumbers) -> Config {
    Config {
        mtu: 256,
        first_numbers,
        ..Config::new(Vec::new())
    }
}

#[test]
fn field_case_27_psn_ordinal_and_epoch_wrap_under_loss() {
    let Some(source) = engine() else { return };
    let starts = [
        (0xff_ff80, 255, 0xffc0),
        (0xff_ff80, 0, 0x7fd0),
        (0x7f_ff80, 127, 0xfff0),
    ];
    for (seed, (psn, epoch, ordinal)) in (1..).zip(starts) {
        let mut pair =
            Pair::new(&source, &config(|c| (c.seed, c.faults.loss) = (seed, 0.05))).unwrap();
        let host = wrapping(FirstNumbers {
            psn,
            epoch,
            ordinal,
        });
        let outcome = send_as(&mut pair, 700_000, 50_000, host);
        let fewest = outcome.paths.iter().map(|path| path.packets).min();
        assert!(fewest > Some(70), "a path sent only {fewest:?} packets");
        // B sends no data: none of its paths has anything to time, whatever number it started with.
        assert_eq!(of(&outcome, 1, Counter::ProbeTimers), 0);
    }
}

fn rule(kind: Kind, skip: u64, count: u64, fate: Fate) -> Rule {
    Rule {
        kind: Some(kind as u8),
        source_port: None,
        skip,
        count,
        fate,
    }
}

#[test]
fn field_case_13_frames_that_come_late_or_again_much_later() {
    let Some(source) = engine() else { return };
    for kind in [Kind::Data, Kind::Ack, Kind::Probe] {
        let mut pair = Pair::new(&source, &config(|c| c.faults.loss = 0.01)).unwrap();
        for plane in 0..2 {
            for turn in 0..20 {
                for side in 0..2 {
                    let link = pair.link(side, plane);
                    link.add_rule(rule(kind, turn, 1, Fate::Late(700 + 400 * turn)));
                    link.add_rule(rule(kind, turn, 1, Fate::Again(500 * turn)));
                }
            }
        }
        let outcome = send_as(
            &mut pair,
            400_000,
            30_000,
            wrapping(FirstNumbers::default()),
        );
        let seen = of(&outcome, 1, Counter::Duplicate) + of(&outcome, 1, Counter::Window);
        assert!(kind != Kind::Data || seen > 0, "no copy was seen");
    }
}

#[test]
fn everything_stalls_on_both_sides_with_loss_and_copies() {
    let Some(source) = engine() else { return };
    for seed in 1..4 {
        let stalled = |c: &mut PairConfig| {
            c.seed = seed;
            c.faults = Faults {
                loss: 0.05,
                duplication: 0.05,
                corruption: 0.01,
                bad_check: 0.01,
            };
            c.stall_of_256 = 60 * seed as u8;
            c.timing = [1, 2].map(|side| Timing {
                latency_min: 0,
                latency_max: 150 * side,
                stall_of_256: 50 * seed as u8,
                outstanding_max: 1 + side as usize,
            });
        };
        let mut pair = Pair::new(&source, &config(stalled)).unwrap();
        send(&mut pair, 60_000, 7001);
    }
}

/// One direction of one connection.
struct Flow {
    side: usize,
    handle: ConnectionHandle,
    source: Memory,
    target: Memory,
    data: Vec<u8>,
    posted: usize,
    done: usize,
}

const FLOW_MESSAGE: usize = 5003;

impl Flow {
    fn new(hosts: &mut Hosts<'_, Pair>, side: usize, handle: ConnectionHandle, seed: u64) -> Self {
        let data = random(seed, FLOW_MESSAGE * 12);
        let source = hosts
            .memory(side, seed as usize * 7, &data, SOURCE)
            .unwrap();
        let blank = vec![BACKGROUND; data.len()];
        let target = hosts
            .memory(1 - side, seed as usize * 11, &blank, TARGET)
            .unwrap();
        let (posted, done) = (0, 0);
        Self {
            side,
            handle,
            source,
            target,
            data,
            posted,
            done,
        }
    }

    fn total(&self) -> usize {
        self.data.len() / FLOW_MESSAGE
    }

    /// Posts one message if there is one, and takes completions.
    fn step(&mut self, hosts: &mut Hosts<'_, Pair>) {
        let context = &mut hosts.contexts[self.side];
        let mut port = hosts.bench.port(self.side);
        if self.posted < self.total() {
            let offset = (self.posted * FLOW_MESSAGE) as u64;
            let operation = WorkOperation::Write {
                local: self.source.region.address + offset,
                length: FLOW_MESSAGE as u32,
                remote: self.target.region.address + offset,
                key: self.target.region.key,
            };
            let id = self.posted as u64;
            let request = WorkRequest { id, operation };
            context.post_send(&mut port, self.handle, &request).unwrap();
            self.posted += 1;
        }
        let mut completions = Vec::new();
        context
            .poll(&mut port, self.handle, &mut completions)
            .unwrap();
        for completion in completions {
            assert_eq!(completion.status, Status::Ok);
            assert_eq!(completion.id, self.done as u64);
            self.done += 1;
        }
    }

    fn judge(&self, hosts: &mut Hosts<'_, Pair>) {
        let mut referee = MemoryReferee::new(vec![BACKGROUND; self.target.buffer.length]);
        referee.expect(self.target.offset, &self.data);
        let found = hosts.content(1 - self.side, &self.target);
        assert_eq!(referee.judge(&found), [""; 0]);
    }
}

#[test]
fn six_connections_in_both_directions_at_once() {
    let Some(source) = engine() else { return };
    let mut pair = Pair::new(&source, &config(|c| c.faults.loss = 0.02)).unwrap();
    let mut hosts = Hosts::open(&mut pair, &Config::new(Vec::new()), 2, 4).unwrap();
    let anchor = hosts.memory(1, 0, &[0; 64], TARGET).unwrap();
    let mut flows = Vec::new();
    for number in 0..6 {
        let [a, b] = hosts.connect(&anchor.region).unwrap();
        flows.push(Flow::new(&mut hosts, 0, a, 100 + number));
        flows.push(Flow::new(&mut hosts, 1, b, 200 + number));
    }
    let begun = hosts.bench.cycle();
    while flows.iter().any(|flow| flow.done < flow.total()) {
        flows.iter_mut().for_each(|flow| flow.step(&mut hosts));
        hosts.bench.run(64);
        assert!(
            hosts.bench.cycle() - begun < PATIENCE,
            "{}",
            hosts.counters_text()
        );
    }
    flows.iter().for_each(|flow| flow.judge(&mut hosts));
    hosts.bench.quiesce();
    for side in 0..2 {
        let [issued, done] = hosts.placements(side);
        assert_eq!(issued, done);
        let counters = hosts.counters(side);
        let of = |counter: Counter| counters[counter as usize];
        assert_eq!(of(Counter::WorkRequests), of(Counter::SendCompletions));
        assert_eq!(of(Counter::MessagesPlaced), 6 * 12);
        assert_eq!(of(Counter::ErrorCompletions), 0);
    }
    assert_eq!(hosts.bench.violations(), [""; 0]);
}

#[test]
fn field_case_16_frames_of_an_earlier_life_do_not_touch_the_next() {
    let Some(source) = engine() else { return };
    let mut pair = Pair::new(&source, &config(|c| c.faults.loss = 0.01)).unwrap();
    for plane in 0..2 {
        for side in 0..2 {
            for kind in [Kind::Data, Kind::Ack] {
                for turn in 0..30 {
                    let fate = Fate::Again(4000 + 3000 * turn);
                    pair.link(side, plane).add_rule(rule(kind, turn, 1, fate));
                }
            }
        }
    }
    let mut hosts = Hosts::open(&mut pair, &Config::new(Vec::new()), 2, 4).unwrap();
    for life in 0..4 {
        let data = random(30 + life, 60_000);
        let source = hosts.memory(0, 17, &data, SOURCE).unwrap();
        let target = hosts
            .memory(1, 4095, &vec![BACKGROUND; data.len()], TARGET)
            .unwrap();
        let [a, b] = hosts.connect(&target.region).unwrap();
        assert_eq!((a.number(), b.number()), (1, 1), "the number is used again");
        hosts
            .write(a, &source.region, &target.region, (0, 60_000), life)
            .unwrap();
        let completions = hosts.wait(a, 1, PATIENCE).unwrap();
        assert_eq!(completions[0].status, Status::Ok);
        judge(&mut hosts, &target, &[(0, &data)]);
        hosts.end([a, b], [source.region, target.region]).unwrap();
    }
    hosts.bench.quiesce();
    let counters = hosts.counters(1);
    let stale =
        counters[Counter::Incarnation as usize] + counters[Counter::ConnectionUnknown as usize];
    assert!(stale > 0, "no frame of an earlier life came");
}

#[test]
fn both_hosts_start_again_and_find_the_engines_as_new() {
    let Some(source) = engine() else { return };
    let mut pair = Pair::new(&source, &config(|c| c.faults.loss = 0.02)).unwrap();
    for start in 0..3 {
        let host = Config::new(Vec::new());
        let mut hosts = Hosts::open(&mut pair, &host, 2, 40 + start).unwrap();
        let data = random(50 + start, 100_000);
        let (source, target) = memories(&mut hosts, &data);
        let [a, _] = hosts.connect(&target.region).unwrap();
        hosts
            .write(a, &source.region, &target.region, (0, 50_000), 1)
            .unwrap();
        if start == 1 {
            // Gone in the middle.
            hosts.bench.run(2000);
            continue;
        }
        let completions = hosts.wait(a, 1, PATIENCE).unwrap();
        assert_eq!(completions[0].status, Status::Ok);
        judge(&mut hosts, &target, &[(0, &data[..50_000])]);
    }
}
