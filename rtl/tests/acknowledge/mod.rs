//! A sender's paths, a network that loses, a receiver that makes snapshots; and what each snapshot means.

mod directed;
mod step;

use osprey_rtl::tx::ack_processor::AckBlock;
use osprey_verilated::{Model, Port, Record, Stall};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// From what the scheduler was told to what it writes.
const STAGES: u64 = 8;

#[derive(Clone, Copy, Debug)]
pub struct Profile {
    paths: u64,
    /// Path numbers that the engine knows.
    path_limit: u64,
    send: u64,
    loss: u64,
    probe: u64,
    /// Chance of a snapshot, of its loss, of taking acked and resend.
    snapshot: u64,
    drop: u64,
    acked: u64,
    resend: u64,
    spoil: u64,
    offer: u64,
    /// Chance that packets of a path overtake each other.
    reorder: u64,
    /// PSNs open, and transmissions of data not walked, at most.
    window_most: u64,
}

impl Profile {
    pub fn random(seed: u64) -> Self {
        let mut stall = Stall::new(seed ^ 0xacc);
        Self {
            paths: 1 + stall.below(8),
            path_limit: 32,
            send: stall.pick(&[10, 50, 100]),
            loss: stall.pick(&[0, 2, 10, 40]),
            probe: stall.pick(&[0, 5, 30]),
            snapshot: stall.pick(&[2, 10, 40]),
            drop: stall.pick(&[0, 10, 50]),
            acked: stall.pick(&[20, 60, 100]),
            resend: stall.pick(&[5, 50, 100]),
            spoil: stall.pick(&[0, 5, 30]),
            offer: stall.pick(&[20, 100]),
            reorder: stall.pick(&[0, 0, 30]),
            window_most: 64,
        }
    }

    /// An engine of two planes.
    pub fn two_planes(seed: u64) -> Self {
        Self {
            paths: 12,
            path_limit: 16,
            ..Self::random(seed)
        }
    }

    /// A sender that opens fewer PSNs on a path.
    pub fn with_window(self, window_bits: usize) -> Self {
        Self {
            window_most: 1 << window_bits,
            ..self
        }
    }

    /// Nothing happens by chance.
    pub fn one_by_one(self) -> Self {
        Self {
            loss: 0,
            acked: 100,
            ..self
        }
    }

    /// Windows are full and acknowledged at once, whoever counts the acknowledged is slow.
    pub fn held_up() -> Self {
        Self {
            paths: 1,
            path_limit: 32,
            send: 100,
            loss: 2,
            probe: 0,
            snapshot: 3,
            drop: 0,
            acked: 12,
            resend: 100,
            spoil: 0,
            offer: 100,
            reorder: 0,
            window_most: 64,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    ordinal: u64,
    psn: Option<u64>,
    timeout: bool,
    time: u64,
}

#[derive(Default)]
struct Path {
    psn: u64,
    ordinal: u64,
    epoch: u64,
    /// Not yet walked by any block that the model has judged, oldest first.
    log: VecDeque<Sent>,
    records: BTreeMap<u64, (u64, u64)>,
    /// What the blocks so far have said.
    cumulative: u64,
    walked: u64,
    srtt: u64,
    /// What the scheduler knows.
    told: (u64, u64),
    /// The receiver: on the way to it, what it has, the newest ordinal and its time.
    wire: VecDeque<Sent>,
    received: BTreeSet<u64>,
    expected: u64,
    newest: Option<(u64, u64)>,
    acked: BTreeSet<u64>,
    sent: u64,
    /// Sends nothing until this many blocks are judged.
    hold: usize,
    updates: VecDeque<(u64, u64)>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Outcome {
    Stale,
    Invalid,
    Fresh,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    path: u64,
    epoch: u64,
    cumulative: u64,
    ordinal: u64,
    echo: u64,
    delay: u64,
    vector: u64,
}

impl Block {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.path as u8, self.epoch as u8];
        bytes.extend(&(self.cumulative as u32).to_be_bytes()[1..]);
        bytes.push(0x5a);
        for number in [self.ordinal, self.echo, self.delay, 0x1234, 0x5678] {
            bytes.extend((number as u16).to_be_bytes());
        }
        bytes.extend(self.vector.to_be_bytes());
        bytes
    }
}

/// An ACK frame from its transport header on.
fn frame(connection: u64, blocks: &[Block], stall: &mut Stall) -> Vec<u8> {
    let mut bytes = stall.bytes(16);
    bytes[4..7].copy_from_slice(&(connection as u32).to_be_bytes()[1..]);
    bytes[10] = blocks.len() as u8;
    blocks.iter().for_each(|block| bytes.extend(block.bytes()));
    bytes
}

struct Ports {
    now: Port,
    beat: [Port; 4],
    clear: [Port; 3],
    sent: [Port; 3],
    log: [Port; 3],
    record: [Port; 3],
    acked: [Port; 3],
    resend: [Port; 3],
    updated: [Port; 2],
    lost: [Port; 4],
    rtt: [Port; 3],
    block_taken: Port,
    block_stale: Port,
    block_invalid: Port,
}

impl Ports {
    fn new(model: &Model) -> Self {
        let input = |name: &str| model.input(name);
        let output = |name: &str| model.output(name);
        let queue = |name: &str| {
            [
                output(name),
                output(&format!("{name}_valid")),
                input(&format!("{name}_ready")),
            ]
        };
        Self {
            now: input("now"),
            beat: [
                input("beat"),
                input("beat_last"),
                input("beat_valid"),
                output("beat_ready"),
            ],
            clear: [input("clear"), input("clear_valid"), output("clear_ready")],
            sent: ["sent_pair", "sent", "sent_valid"].map(input),
            log: ["log_address", "log_entry", "log_write"].map(input),
            record: ["record_address", "record", "record_write"].map(input),
            acked: queue("acked"),
            resend: queue("resend"),
            updated: ["updated", "updated_valid"].map(output),
            lost: [
                "lost_pair",
                "lost_valid",
                "lost_by_probe",
                "lost_by_timeout",
            ]
            .map(output),
            rtt: ["rtt_pair", "rtt", "rtt_valid"].map(output),
            block_taken: output("block_taken"),
            block_stale: output("block_stale"),
            block_invalid: output("block_invalid"),
        }
    }
}

pub struct Bench<'a> {
    model: &'a Model,
    ports: Ports,
    stall: Stall,
    profile: Profile,
    cycle: u64,
    now: u64,
    paths: BTreeMap<u64, Path>,
    /// Snapshots on the way back, and beats on their way in.
    snapshots: VecDeque<(u64, Block)>,
    beats: VecDeque<(Vec<u8>, bool)>,
    offered: bool,
    outcomes: VecDeque<(u64, Outcome, Block, u64)>,
    judged: usize,
    acked: VecDeque<(u64, u64)>,
    resends: VecDeque<[u64; 4]>,
    losses: VecDeque<(u64, bool, bool)>,
    telling: VecDeque<(u64, u64, (u64, u64))>,
    again: VecDeque<[u64; 4]>,
    pub fresh: usize,
}

fn log2(value: u64) -> u64 {
    if value == 0 {
        return 0;
    }
    let whole = u64::from(value.ilog2());
    whole * 8 + ((value << 3 >> whole) & 7)
}

impl<'a> Bench<'a> {
    pub fn new(model: &'a Model, seed: u64, profile: Profile) -> Self {
        let mut bench = Self {
            model,
            ports: Ports::new(model),
            stall: Stall::new(seed),
            profile,
            cycle: 0,
            now: 0xff00,
            paths: BTreeMap::new(),
            snapshots: VecDeque::new(),
            beats: VecDeque::new(),
            offered: false,
            outcomes: VecDeque::new(),
            judged: 0,
            acked: VecDeque::new(),
            resends: VecDeque::new(),
            losses: VecDeque::new(),
            telling: VecDeque::new(),
            again: VecDeque::new(),
            fresh: 0,
        };
        bench.quiet();
        model.input("resend_room").set(15);
        model.input("plane_last").set(profile.path_limit / 8 - 1);
        bench.ports.clear[1].set(0);
        bench.ports.beat[2].set(0);
        model.reset();
        for index in 0..profile.paths {
            bench.open(((index % 3) + 1) << 5 | (index * 5) % profile.path_limit);
        }
        bench
    }

    fn quiet(&self) {
        for port in [
            &self.ports.sent[2],
            &self.ports.log[2],
            &self.ports.record[2],
        ] {
            port.set(0);
        }
    }

    /// Starts a path anew, shortly before its numbers wrap.
    fn open(&mut self, pair: u64) {
        let (psn, ordinal) = (0xff_ff80, 0xffc0 + self.stall.below(64));
        let epoch = self.stall.below(256);
        let clear = Record::new(AckBlock::FIELDS)
            .with("pair", pair)
            .with("epoch", epoch)
            .with("cumulative", psn)
            .with("ordinal", ordinal)
            .with("clear", 1);
        let path = Path {
            psn,
            ordinal,
            epoch,
            cumulative: psn,
            walked: ordinal,
            told: (psn, ordinal),
            expected: psn,
            updates: VecDeque::from([(psn, ordinal)]),
            ..Path::default()
        };
        self.paths.insert(pair, path);
        self.write_sent(pair);
        self.ports.clear[0].set_record(&clear);
        self.ports.clear[1].set(1);
        for _ in 0..1_000 {
            self.model.eval();
            let taken = self.ports.clear[2].is_set();
            self.step();
            if taken {
                self.ports.clear[1].set(0);
                (0..10).for_each(|_| self.step());
                assert!(self.paths[&pair].updates.is_empty(), "a start anew is told");
                return;
            }
        }
        panic!("a start anew is not taken");
    }

    /// What a block says, in the model: the paths' states before and after.
    fn judge(&mut self, pair: u64, block: &Block) -> Outcome {
        let path = self.paths.get_mut(&pair).expect("the path is open");
        let next = (block.ordinal + 1) & 0xffff;
        let advance = next.wrapping_sub(path.walked) & 0xffff;
        if advance == 0 || advance >= 0x8000 {
            return Outcome::Stale;
        }
        let step = block.cumulative.wrapping_sub(path.cumulative) & 0xff_ffff;
        let beyond = path.psn.wrapping_sub(block.cumulative) & 0xff_ffff;
        if block.epoch != path.epoch
            || advance > path.log.len() as u64
            || step > 64
            || beyond >= 0x80_0000
        {
            return Outcome::Invalid;
        }
        let echo = path.log[advance as usize - 1];
        let probed = echo.psn.is_none();
        for entry in path.log.drain(..advance as usize) {
            let Some(psn) = entry.psn else { continue };
            let distance = psn.wrapping_sub(block.cumulative) & 0xff_ffff;
            let lap = psn / 64 % 2 == 1;
            let arrived = distance >= 0x80_0000
                || distance < 64 && (block.vector >> (psn % 64) & 1 == 1) != lap;
            let (slot, index) = path.records[&psn];
            if arrived {
                assert!(path.acked.insert(psn), "the model reports {psn:#x} twice");
                self.acked.push_back((pair >> 5, slot));
            } else {
                self.resends.push_back([pair, psn, slot, index]);
                self.losses
                    .push_back((pair, probed && !echo.timeout, probed && echo.timeout));
            }
        }
        path.walked = next;
        path.cumulative = block.cumulative;
        path.updates.push_back((block.cumulative, next));
        Outcome::Fresh
    }
}
