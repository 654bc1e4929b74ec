//! Completions against a plain list of messages: whole, once, in order, in the right place of their ring.

mod bench;

use bench::{Offer, seeds};
use osprey_rtl::dma::WriteRecord;
use osprey_rtl::emit;
use osprey_rtl::tx::ack_processor::AckedPacket;
use osprey_rtl::tx::message_completion::{CompletionRing, MessageCompletion, Notice};
use osprey_verilated::{Model, Port, Record, Source, Stall, lint};
use std::collections::VecDeque;

fn source() -> Source {
    Source::new(
        "message_completion",
        emit::verilog("message_completion", MessageCompletion::new(3)),
    )
}

#[derive(Default)]
struct Connection {
    ring: u64,
    log_entries: u64,
    /// Packets not yet acknowledged of each message, by number.
    left: Vec<u64>,
    completed: usize,
    written: u64,
    notices: VecDeque<Record>,
    /// The oldest open message as told to the work queue.
    head: usize,
}

struct Bench<'a> {
    model: &'a Model,
    stall: Stall,
    connections: Vec<Connection>,
    acked: Offer,
    notice: Offer,
    load: [Port; 3],
    record: [Port; 3],
    head: [Port; 3],
    time: u64,
    ready: u64,
    tellings: u64,
}

impl<'a> Bench<'a> {
    fn new(model: &'a Model, seed: u64, connections: u64) -> Self {
        let mut bench = Self {
            model,
            stall: Stall::new(seed),
            connections: Vec::new(),
            acked: Offer::new(model, "acked"),
            notice: Offer::new(model, "notice"),
            load: ["load_address", "load_last", "load_valid"].map(|name| model.input(name)),
            record: [
                model.output("record"),
                model.output("record_valid"),
                model.input("record_ready"),
            ],
            head: ["head_connection", "head_message", "head_valid"].map(|name| model.output(name)),
            time: 0xffff_f000,
            ready: [30, 70, 100][seed as usize % 3],
            tellings: 0,
        };
        model.reset();
        for connection in 0..connections {
            let log_entries = 1 + bench.stall.below(6);
            let ring = bench.stall.bits() >> 1 & !0x3f;
            bench.connections.push(Connection {
                ring,
                log_entries,
                ..Connection::default()
            });
            let record = Record::new(CompletionRing::FIELDS)
                .with("address", ring)
                .with("log_entries", log_entries);
            model.input("ring_connection").set(connection);
            model.input("ring").set_record(&record);
            model.input("ring_write").set(1);
            model.cycle();
            model.input("ring_write").set(0);
            bench.clear(connection);
        }
        bench
    }

    fn clear(&mut self, connection: u64) {
        let [address, valid] = ["clear_address", "clear_valid"].map(|name| self.model.input(name));
        let ready = self.model.output("clear_ready");
        for slot in (0..64).rev() {
            address.set(connection << 6 | slot);
            valid.set(1);
            loop {
                self.model.eval();
                let taken = ready.is_set();
                self.step(0);
                if taken {
                    break;
                }
            }
        }
        valid.set(0);
    }

    /// Starts a connection anew while packets of another are acknowledged without a pause; cycles it took.
    fn clear_under_load(&mut self, connection: u64, busy: u64) -> u64 {
        let [address, valid] = ["clear_address", "clear_valid"].map(|name| self.model.input(name));
        let ready = self.model.output("clear_ready");
        let start = self.model.cycles();
        for slot in 0..64 {
            address.set(connection << 6 | slot);
            valid.set(1);
            loop {
                let known = &self.connections[busy as usize];
                if known.left.len() - known.head < 60 {
                    self.load(busy, 1);
                }
                let known = &self.connections[busy as usize];
                let open = (known.head..known.left.len()).find(|&number| known.left[number] > 0);
                if let Some(number) = open.filter(|_| self.acked.queue.len() < 8) {
                    self.acknowledge(busy, number);
                }
                self.model.eval();
                let taken = ready.is_set();
                self.step(100);
                assert!(self.model.cycles() < start + 20_000, "slot {slot} starves");
                if taken {
                    break;
                }
            }
        }
        valid.set(0);
        self.model.cycles() - start
    }

    /// A message of so many packets begins.
    fn load(&mut self, connection: u64, packets: u64) {
        let known = &mut self.connections[connection as usize];
        let slot = known.left.len() as u64 % 64;
        known.left.push(packets);
        self.load[0].set(connection << 6 | slot);
        self.load[1].set(packets - 1);
        self.load[2].set(1);
    }

    /// A packet of message `number` is acknowledged.
    fn acknowledge(&mut self, connection: u64, number: usize) {
        self.connections[connection as usize].left[number] -= 1;
        let record = Record::new(AckedPacket::FIELDS)
            .with("connection", connection)
            .with("slot", number % 64);
        self.acked.queue.push_back(record);
    }

    fn step(&mut self, offer: u64) {
        self.acked.drive(&mut self.stall, offer);
        self.notice.drive(&mut self.stall, offer);
        self.model.input("time_now").set(self.time);
        self.record[2].set(self.stall.chance(self.ready));
        self.model.eval();
        self.acked.taken();
        if let Some(notice) = self.notice.taken() {
            let connection = notice.get("connection") as usize;
            self.connections[connection].notices.push_back(notice);
        }
        if self.record[1].is_set() && self.record[2].is_set() {
            let record = self.record[0].record(WriteRecord::FIELDS);
            self.check_completion(&record);
        }
        if self.head[2].is_set() {
            self.tellings += 1;
            let known = &mut self.connections[self.head[0].get() as usize];
            assert_eq!(
                self.head[1].get(),
                known.completed as u64 & 0xffff,
                "the oldest open message"
            );
            known.head = known.completed;
        }
        self.model.cycle();
        self.load[2].set(0);
        self.time = (self.time + 1) & 0xffff_ffff;
    }

    fn check_completion(&mut self, record: &Record) {
        let address = record.get("address");
        let bytes: Vec<u8> = record
            .get_words("data")
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let word = |at: usize| {
            u64::from(u32::from_le_bytes(
                bytes[at..at + 4].try_into().expect("four"),
            ))
        };
        let connection = word(4) as usize;
        let known = &mut self.connections[connection];
        let entry = known.written % (1 << known.log_entries);
        let lap = known.written >> known.log_entries;
        assert_eq!(
            address,
            known.ring + 32 * entry,
            "connection {connection}, completion {}",
            known.written
        );
        assert_eq!(
            u64::from(bytes[0]),
            1 - lap % 2,
            "phase of completion {}",
            known.written
        );
        known.written += 1;
        assert_eq!(word(24), self.time, "time");
        assert!(
            bytes[16..20] == [0; 4] && bytes[23] == 0 && bytes[28..32] == [0; 4],
            "{bytes:x?}"
        );
        let message = u64::from(u16::from_le_bytes([bytes[20], bytes[21]]));
        let said = [
            u64::from(bytes[1]),
            u64::from(bytes[2]),
            word(8),
            word(12),
            u64::from(bytes[22]),
        ];
        if bytes[1] != 0 {
            let notice = known.notices.pop_front().expect("a notice from nowhere");
            let expected =
                ["kind", "status", "index", "length", "plane"].map(|name| notice.get(name));
            assert_eq!(said, expected, "connection {connection}: notice");
            return;
        }
        let number = known.completed;
        assert!(
            known.left.get(number) == Some(&0),
            "connection {connection}: message {number} is not whole"
        );
        known.completed += 1;
        let number = number as u64 & 0xffff;
        assert_eq!(
            (message, said),
            (number, [0, 0, number, 0, 0]),
            "connection {connection}"
        );
    }

    fn settle(&mut self) {
        for _ in 0..20_000 {
            self.step(100);
        }
        for (number, known) in self.connections.iter().enumerate() {
            let whole = known.left.iter().take_while(|&&left| left == 0).count();
            assert_eq!(
                known.completed, whole,
                "connection {number}: whole messages are completed"
            );
            assert_eq!(
                known.head, whole,
                "connection {number}: the work queue knows"
            );
            assert!(
                known.notices.is_empty(),
                "connection {number}: notices are told"
            );
        }
    }
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}

#[test]
fn messages_complete_once_in_order() {
    seeds(
        "message_completion::messages_complete_once_in_order",
        6,
        |seed| {
            let model = Model::build(&source()).unwrap();
            let mut bench = Bench::new(&model, seed, 1 + seed % 7);
            let count = bench.connections.len() as u64;
            for _ in 0..20_000 {
                let connection = bench.stall.below(count);
                let known = &bench.connections[connection as usize];
                let open: Vec<usize> = (known.head..known.left.len())
                    .filter(|&number| known.left[number] > 0)
                    .collect();
                if known.left.len() - known.head < 64 && bench.stall.chance(10) {
                    let packets = if bench.stall.chance(60) {
                        1
                    } else {
                        1 + bench.stall.below(12)
                    };
                    bench.load(connection, packets);
                } else if !open.is_empty() && bench.acked.queue.len() < 20 {
                    let number = bench.stall.pick(&open);
                    bench.acknowledge(connection, number);
                }
                if bench.stall.chance(2) && bench.notice.queue.len() < 4 {
                    let mut record = Record::new(Notice::FIELDS).with("connection", connection);
                    for (name, most) in [
                        ("kind", 2),
                        ("status", 5),
                        ("index", 0xffff),
                        ("length", 0x1ff),
                        ("plane", 3),
                    ] {
                        record.set(name, 1 + bench.stall.below(most));
                    }
                    bench.notice.queue.push_back(record);
                }
                let offer = bench.stall.pick(&[20, 100]);
                bench.step(offer);
            }
            bench.settle();
            assert!(
                bench.connections.iter().all(|known| known.completed > 100),
                "too little happened"
            );
        },
    );
}

/// Slots go round a thousand times and the message number starts again at 0.
#[test]
fn message_numbers_wrap() {
    let model = Model::build(&source()).unwrap();
    let mut bench = Bench::new(&model, 2, 2);
    while bench.connections[1].completed < 66_000 {
        let known = &bench.connections[1];
        if known.left.len() - known.head < 60 {
            bench.load(1, 1);
            bench.step(100);
        }
        let known = &bench.connections[1];
        let open: Vec<usize> = (known.head..known.left.len())
            .filter(|&number| known.left[number] > 0)
            .collect();
        if !open.is_empty() && bench.acked.queue.len() < 4 {
            let number = open[open.len() * 2 / 3];
            bench.acknowledge(1, number);
        }
        bench.step(100);
    }
}

/// What another connection does must not keep one from starting anew.
#[test]
fn a_connection_starts_anew_under_load() {
    for seed in 1..4 {
        let model = Model::build(&source()).unwrap();
        let mut bench = Bench::new(&model, seed, 3);
        for _ in 0..20 {
            let took = bench.clear_under_load(2, 1);
            assert!(took < 1_500, "seed {seed}: {took} cycles");
        }
        bench.settle();
        assert!(bench.connections[1].completed > 100);
    }
}
