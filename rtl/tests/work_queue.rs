//! Work requests from doorbell to message, against rings in plain memory.

mod bench;

use bench::seeds;
use osprey_rtl::dma::ReadCommand;
use osprey_rtl::emit;
use osprey_rtl::tx::ack_processor::Forced;
use osprey_rtl::tx::work_queue::{Message, SendRing, WorkQueue};
use osprey_verilated::{Model, Port, Record, Source, Stall, lint};
use std::collections::VecDeque;

fn source() -> Source {
    Source::new("work_queue", emit::verilog("work_queue", WorkQueue::new(4)))
}

#[derive(Clone, Debug)]
struct WorkRequest {
    opcode: u8,
    plane: u8,
    length: u32,
    local_address: u64,
    remote_address: u64,
    local_key: u32,
    remote_key: u32,
}

impl WorkRequest {
    fn random(stall: &mut Stall, control: bool, mtu_shift: u64) -> Self {
        let mtu = 1u64 << mtu_shift;
        let length = match (control, stall.below(7)) {
            (true, 0) => stall.below(600),
            (true, _) => 58 + stall.below(241),
            (_, 0) => stall.pick(&[0, 1, 1 << 30, (1 << 30) + 1, u64::from(u32::MAX)]),
            (_, 1) => mtu * (1 + stall.below(5)) + stall.pick(&[0, 1, mtu - 1]),
            (_, 2) => (mtu << 18) - 1 + stall.below(3),
            (..) => stall.below(40 * mtu),
        };
        Self {
            opcode: if stall.chance(4) {
                stall.below(256) as u8
            } else {
                u8::from(control) << 7
            },
            plane: if stall.chance(4) {
                stall.below(256) as u8
            } else {
                stall.below(4) as u8
            },
            length: length.min(u64::from(u32::MAX)) as u32,
            local_address: stall.bits(),
            remote_address: stall.bits(),
            local_key: stall.bits() as u32,
            remote_key: stall.bits() as u32,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.opcode, 0, self.plane, 0];
        bytes.extend(self.length.to_le_bytes());
        bytes.extend(self.local_address.to_le_bytes());
        bytes.extend(self.remote_address.to_le_bytes());
        bytes.extend(self.local_key.to_le_bytes());
        bytes.extend(self.remote_key.to_le_bytes());
        bytes.resize(64, 0);
        bytes
    }

    /// Packets, if it is served at all.
    fn packets(&self, control: bool, mtu_shift: u64) -> Option<u64> {
        if control {
            let fits = (58..=298).contains(&self.length) && self.plane < 4;
            return (self.opcode == 0x80 && fits).then_some(1);
        }
        let packets = u64::from(self.length).div_ceil(1 << mtu_shift).max(1);
        (self.opcode == 0 && self.length <= 1 << 30 && packets <= 1 << 18).then_some(packets)
    }
}

#[derive(Default)]
struct Connection {
    ring: u64,
    log_entries: u64,
    mtu_shift: u64,
    posted: Vec<WorkRequest>,
    fetched: usize,
    become_messages: usize,
    head: usize,
}

struct Bench<'a> {
    model: &'a Model,
    stall: Stall,
    connections: Vec<Connection>,
    doorbell: [Port; 3],
    head: [Port; 3],
    read: [Port; 3],
    beat: [Port; 3],
    load: [Port; 6],
    message: [Port; 3],
    /// The message written in the cycle before, if it was.
    written: (u64, Record),
    is_written: bool,
    loaded: [Port; 2],
    control: [Port; 3],
    refused: [Port; 2],
    /// Reads under way: when their beat comes, whose they are.
    reads: VecDeque<(u64, usize, usize)>,
    offered: bool,
    controls: VecDeque<(u64, u64)>,
    cycle: u64,
    refusals: usize,
}

impl<'a> Bench<'a> {
    fn new(model: &'a Model, seed: u64, count: u64) -> Self {
        let inputs = |names: [&str; 3]| names.map(|name| model.input(name));
        let outputs = |names: [&str; 3]| names.map(|name| model.output(name));
        let mut bench = Self {
            model,
            stall: Stall::new(seed),
            connections: Vec::new(),
            doorbell: inputs(["doorbell_connection", "doorbell_producer", "doorbell_valid"]),
            head: inputs(["head_connection", "head_message", "head_valid"]),
            read: [
                model.output("read"),
                model.output("read_valid"),
                model.input("read_ready"),
            ],
            beat: [
                model.input("beat"),
                model.input("beat_valid"),
                model.output("beat_ready"),
            ],
            load: ["connection", "messages", "slot", "last", "valid", "wakes"]
                .map(|name| model.output(&format!("load_{name}"))),
            message: outputs(["message_address", "message", "message_write"]),
            written: (0, Record::new(Message::FIELDS)),
            is_written: false,
            loaded: ["load_address", "loaded"].map(|name| model.output(name)),
            control: [
                model.output("control"),
                model.output("control_valid"),
                model.input("control_ready"),
            ],
            refused: ["refused_connection", "refused_valid"].map(|name| model.output(name)),
            reads: VecDeque::new(),
            offered: false,
            controls: VecDeque::new(),
            cycle: 0,
            refusals: 0,
        };
        model.reset();
        for connection in 0..count {
            let (log_entries, mtu_shift) = (7 + bench.stall.below(3), 8 + bench.stall.below(5));
            let ring = bench.stall.bits() >> 1 & !0x3f;
            bench.connections.push(Connection {
                ring,
                log_entries,
                mtu_shift,
                ..Connection::default()
            });
            let record = Record::new(SendRing::FIELDS)
                .with("enabled", 1)
                .with("address", ring)
                .with("log_entries", log_entries)
                .with("mtu_shift", mtu_shift);
            model.input("ring_connection").set(connection);
            model.input("ring").set_record(&record);
            model.input("ring_write").set(1);
            model.cycle();
            model.input("ring_write").set(0);
        }
        bench
    }

    fn ring_doorbell(&mut self, connection: usize, count: u64) {
        let known = &mut self.connections[connection];
        for _ in 0..count {
            known.posted.push(WorkRequest::random(
                &mut self.stall,
                connection == 0,
                known.mtu_shift,
            ));
        }
        self.doorbell[0].set(connection);
        self.doorbell[1].set(known.posted.len() & 0xffff);
        self.doorbell[2].set(1);
    }

    fn move_head(&mut self, connection: usize, to: usize) {
        self.connections[connection].head = to;
        self.head[0].set(connection);
        self.head[1].set(to & 0xffff);
        self.head[2].set(1);
    }

    fn step(&mut self, chance: u64) {
        self.read[2].set(self.stall.chance(chance));
        self.control[2].set(self.stall.chance(chance));
        let front = self
            .reads
            .front()
            .copied()
            .filter(|&(at, ..)| at <= self.cycle);
        self.offered = front.is_some() && (self.offered || self.stall.chance(chance));
        self.beat[1].set(self.offered);
        if let Some((_, connection, number)) = front {
            self.beat[0].set_bytes(&self.connections[connection].posted[number].bytes()[..32]);
        }
        self.model.eval();
        if self.read[1].is_set() && self.read[2].is_set() {
            self.check_read();
        }
        if self.offered && self.beat[2].is_set() {
            self.reads.pop_front();
            self.offered = false;
        }
        self.check_message();
        if self.control[1].is_set() && self.control[2].is_set() {
            let order = self.control[0].record(Forced::FIELDS);
            let expected = self
                .controls
                .pop_front()
                .expect("a CONTROL frame from nowhere");
            assert_eq!(
                (order.get("pair"), order.get("slot")),
                expected,
                "cycle {}",
                self.cycle
            );
            assert_eq!(order.get("kind"), 2, "cycle {}", self.cycle);
        }
        self.model.cycle();
        self.cycle += 1;
        self.doorbell[2].set(0);
        self.head[2].set(0);
    }

    fn check_read(&mut self) {
        let command = self.read[0].record(ReadCommand::FIELDS);
        let address = command.get("address");
        let known = |known: &Connection| {
            let entry = known.fetched as u64 % (1 << known.log_entries);
            known.fetched < known.posted.len() && known.ring + 64 * entry == address
        };
        let connection = self.connections.iter().position(known);
        let connection = connection
            .unwrap_or_else(|| panic!("cycle {}: nothing to fetch at {address:#x}", self.cycle));
        assert_eq!(
            ["length", "last", "work_request"].map(|name| command.get(name)),
            [64, 1, 1]
        );
        let known = &mut self.connections[connection];
        assert!(
            known.fetched - known.head < 64,
            "cycle {}: more messages than slots",
            self.cycle
        );
        let delay = self.stall.below(60);
        let after = self.reads.back().map_or(0, |read| read.0);
        self.reads
            .push_back((after.max(self.cycle + 1 + delay), connection, known.fetched));
        known.fetched += 1;
    }

    fn check_message(&mut self) {
        let cycle = self.cycle;
        let loaded = self.load[4].is_set();
        assert_eq!(loaded, self.loaded[1].is_set(), "cycle {cycle}");
        // What was written in the cycle before.
        let (address, message) = std::mem::replace(
            &mut self.written,
            (
                self.message[0].get(),
                self.message[1].record(Message::FIELDS),
            ),
        );
        let is_written = std::mem::replace(&mut self.is_written, self.message[2].is_set());
        assert_eq!(is_written, loaded || self.refused[1].is_set());
        if !is_written {
            return;
        }
        let port = if loaded {
            &self.load[0]
        } else {
            &self.refused[0]
        };
        let connection = port.get() as usize;
        let known = &mut self.connections[connection];
        let number = known.become_messages;
        assert!(
            number < known.fetched,
            "cycle {cycle}: a message from nowhere"
        );
        known.become_messages += 1;
        let (request, control) = (&known.posted[number], connection == 0);
        let packets = request.packets(control, known.mtu_shift);
        let context = format!("cycle {cycle}, connection {connection}, {number}: {request:x?}");
        assert_eq!(loaded, packets.is_some(), "{context}");
        let Some(packets) = packets else {
            self.refusals += 1;
            return;
        };
        let got = [1, 2, 3, 5].map(|index: usize| self.load[index].get());
        let number = number as u64;
        assert_eq!(
            got,
            [
                (number + 1) & 0xffff,
                number % 64,
                packets - 1,
                u64::from(!control)
            ],
            "{context}"
        );
        let place = (connection as u64) << 6 | number % 64;
        assert_eq!([address, self.loaded[0].get()], [place; 2], "{context}");
        let expected = [
            ("message", number & 0xffff),
            ("control", u64::from(control)),
            ("length", u64::from(request.length)),
            ("local_address", request.local_address),
            ("remote_address", request.remote_address),
            ("local_key", u64::from(request.local_key)),
            ("remote_key", u64::from(request.remote_key)),
        ];
        for (name, value) in expected {
            assert_eq!(message.get(name), value, "{name}, {context}");
        }
        if control {
            self.controls
                .push_back((u64::from(request.plane) << 3, number % 64));
        }
    }

    /// What has been posted and has a slot becomes a message, without another doorbell.
    fn settle(&mut self, cycles: u64) {
        (0..cycles).for_each(|_| self.step(100));
        for (number, known) in self.connections.iter().enumerate() {
            let reachable = known.posted.len().min(known.head + 64);
            assert_eq!(
                known.become_messages, reachable,
                "cycle {}: connection {number} sleeps",
                self.cycle
            );
        }
    }
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}

#[test]
fn every_work_request_becomes_a_message_or_is_refused() {
    seeds(
        "work_queue::every_work_request_becomes_a_message_or_is_refused",
        6,
        |seed| {
            let model = Model::build(&source()).unwrap();
            let count = 1 + seed * 5 % 16;
            let mut bench = Bench::new(&model, seed, count);
            let chance = bench.stall.pick(&[30, 100]);
            for round in 0..12_000 {
                let connection = bench.stall.below(count) as usize;
                let known = &bench.connections[connection];
                let room = (1 << known.log_entries) - (known.posted.len() - known.head) as u64;
                if room > 20 && bench.stall.chance(3) {
                    let posts = 1 + bench.stall.below(20);
                    bench.ring_doorbell(connection, posts);
                }
                let connection = bench.stall.below(count) as usize;
                let known = &bench.connections[connection];
                if known.head < known.become_messages && bench.stall.chance(10) {
                    let open = (known.become_messages - known.head) as u64;
                    let to = known.head + 1 + bench.stall.below(open) as usize;
                    bench.move_head(connection, to);
                }
                bench.step(chance);
                if round % 3_000 == 2_999 {
                    bench.settle(20_000);
                }
            }
            assert!(bench.refusals > 2, "nothing was refused");
        },
    );
}

/// Doorbells a few cycles apart, so that some fall into the very cycle in which the counts are read.
#[test]
fn a_doorbell_is_never_lost() {
    let model = Model::build(&source()).unwrap();
    let mut bench = Bench::new(&model, 3, 3);
    for gap in 0..24 {
        for _ in 0..20 {
            // Another connection is looked at next, so that this one has no second look by chance.
            bench.ring_doorbell(1, 1);
            bench.step(100);
            bench.ring_doorbell(2, 8);
            (0..=gap).for_each(|_| bench.step(100));
            bench.ring_doorbell(1, 1);
            bench.settle(300);
            for connection in [1, 2] {
                let messages = bench.connections[connection].become_messages;
                bench.move_head(connection, messages);
                bench.step(100);
            }
            let extra = bench.stall.below(5);
            (0..=extra).for_each(|_| bench.step(100));
        }
    }
}

/// As above, of messages that end: the one place that comes free must be seen.
#[test]
fn a_freed_slot_is_never_missed() {
    let model = Model::build(&source()).unwrap();
    let mut bench = Bench::new(&model, 4, 2);
    bench.ring_doorbell(1, 100);
    bench.settle(2_000);
    for gap in 0..24 {
        for _ in 0..20 {
            for _ in 0..2 {
                let head = bench.connections[1].head;
                bench.move_head(1, head + 1);
                (0..=gap).for_each(|_| bench.step(100));
            }
            bench.ring_doorbell(1, 2);
            bench.settle(300);
        }
    }
}

/// Work request numbers are message numbers: 16 bits of both go round.
#[test]
fn message_numbers_wrap() {
    let model = Model::build(&source()).unwrap();
    let mut bench = Bench::new(&model, 5, 2);
    while bench.connections[1].become_messages < 66_000 {
        let known = &bench.connections[1];
        if known.posted.len() - known.head < 40 {
            bench.ring_doorbell(1, 30);
        }
        bench.step(100);
        let messages = bench.connections[1].become_messages;
        bench.move_head(1, messages);
        bench.step(100);
    }
}
