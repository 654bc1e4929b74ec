//! The scheduler's surroundings and what it must do, said plainly.

mod commit;
mod step;

use osprey_rtl::tx::ack_processor::{AckedUpdate, Forced};
use osprey_rtl::tx::spray_scheduler::SendSettings;
use osprey_verilated::{Model, Port, Record, Stall};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const RESERVED: u64 = 67;
const CAPACITY: u64 = 512;
/// From taking a choice to its commitment; what is written in or after the first is not seen.
const STAGES: u64 = 7;

/// How hard the surroundings push.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    pub planes: u64,
    connections: u64,
    load: u64,
    ack: u64,
    loss: u64,
    probe: u64,
    drain: u64,
    settings: u64,
    full_window: bool,
    /// PSNs that the scheduler opens on a path.
    window_most: u64,
}

impl Profile {
    pub fn random(seed: u64) -> Self {
        let mut stall = Stall::new(seed ^ 0x5eed);
        Self {
            planes: stall.pick(&[1, 2, 4, 4]),
            connections: 1 + stall.below(15),
            load: stall.pick(&[2, 10, 40]),
            ack: stall.pick(&[3, 20, 60]),
            loss: stall.pick(&[0, 5, 40]),
            probe: stall.pick(&[0, 1, 5]),
            drain: stall.pick(&[20, 70, 100]),
            settings: stall.pick(&[0, 1]),
            full_window: stall.chance(30),
            window_most: 64,
        }
    }

    /// One connection with small packets, nothing in its way.
    pub fn lone(planes: u64, ack: u64) -> Self {
        Self {
            planes,
            connections: 1,
            load: 0,
            ack,
            loss: 0,
            probe: 0,
            drain: 100,
            settings: 0,
            full_window: true,
            window_most: 64,
        }
    }

    /// A scheduler that opens fewer PSNs on a path.
    pub fn with_window(self, window_bits: usize) -> Self {
        Self {
            window_most: 1 << window_bits,
            ..self
        }
    }
}

#[derive(Clone, Copy)]
pub struct Load {
    pub connection: u64,
    pub packets: u64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Data { psn: u64, slot: u64, index: u64 },
    Probe,
}

#[derive(Default)]
struct Path {
    psn: u64,
    ordinal: u64,
    epoch: u64,
    cumulative: u64,
    walked: u64,
    srtt_log: u64,
    /// As the scheduler sees them: `cumulative`, `walked`, `srtt_log`.
    seen: (u64, u64, u64),
    flying: VecDeque<Kind>,
    missing: Vec<u64>,
}

#[derive(Default, Clone)]
struct Connection {
    /// Packets of each message loaded; the scheduler's place.
    messages: Vec<u64>,
    message: usize,
    index: u64,
    seen_messages: usize,
    seen_settings: (bool, u64, u64),
    settings: (bool, u64, u64),
    seen_suspects: [u64; 4],
    suspects: [u64; 4],
}

enum Change {
    Messages(u64, usize),
    Settings(u64, (bool, u64, u64)),
    Suspects(u64, u64),
    Acked(u64, (u64, u64, u64)),
}

struct Ports {
    heads: Vec<[Port; 3]>,
    load: [Port; 6],
    unfetched: Port,
    job_room: Port,
    settings: [Port; 3],
    suspect: [Port; 3],
    updated: [Port; 2],
    freed: Vec<Port>,
    returned: [Port; 2],
    ack: [Port; 2],
    ack_room: Port,
    job: [Port; 2],
    sent: [Port; 3],
    log: [Port; 3],
    record: [Port; 3],
    tail: [Port; 2],
}

impl Ports {
    fn new(model: &Model) -> Self {
        let heads = (0..4).map(|plane| {
            [
                model.input(&format!("head${plane}")),
                model.input(&format!("head_valid${plane}")),
                model.output(&format!("head_ready${plane}")),
            ]
        });
        Self {
            heads: heads.collect(),
            load: ["connection", "messages", "slot", "last", "valid", "wakes"]
                .map(|name| model.input(&format!("load_{name}"))),
            unfetched: model.input("unfetched"),
            job_room: model.input("job_room"),
            settings: ["settings_connection", "settings", "settings_write"]
                .map(|name| model.input(name)),
            suspect: ["suspect_slot", "suspect_paths", "suspect_write"]
                .map(|name| model.input(name)),
            updated: ["updated", "updated_valid"].map(|name| model.input(name)),
            freed: (0..4)
                .map(|plane| model.input(&format!("freed${plane}")))
                .collect(),
            returned: ["returned_plane", "returned_beats"].map(|name| model.input(name)),
            ack: ["ack_plane", "ack_beats"].map(|name| model.input(name)),
            ack_room: model.output("ack_room"),
            job: ["job", "job_valid"].map(|name| model.output(name)),
            sent: ["sent_pair", "sent", "sent_valid"].map(|name| model.output(name)),
            log: ["log_address", "log_entry", "log_write"].map(|name| model.output(name)),
            record: ["record_address", "record", "record_write"].map(|name| model.output(name)),
            tail: ["tail_pair", "tail_valid"].map(|name| model.output(name)),
        }
    }
}

pub struct Bench<'a> {
    model: &'a Model,
    ports: Ports,
    stall: Stall,
    profile: Profile,
    cycle: u64,
    paths: BTreeMap<u64, Path>,
    connections: Vec<Connection>,
    heads: [VecDeque<Record>; 4],
    taken: VecDeque<(u64, Record)>,
    changes: VecDeque<(u64, Change)>,
    loads: VecDeque<Load>,
    wakes: Vec<VecDeque<u64>>,
    unfetched: u64,
    /// In the cycle before, when the scheduler looked it up for the packet that it gives out now.
    unfetched_before: u64,
    /// Beats reserved and not given back, per plane; those still to leave, those not needed.
    reserved: [u64; 4],
    leaving: [u64; 4],
    unused: VecDeque<(u64, u64)>,
    pub data_by_plane: [u64; 4],
    pub resends_by_plane: [u64; 4],
    held: [bool; 4],
    /// When a packet was sent last.
    progress: u64,
    frozen: bool,
    mute: bool,
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
            paths: BTreeMap::new(),
            connections: vec![Connection::default(); 16],
            heads: Default::default(),
            taken: VecDeque::new(),
            changes: VecDeque::new(),
            loads: VecDeque::new(),
            wakes: vec![VecDeque::new(); 16],
            unfetched: 0,
            unfetched_before: 0,
            reserved: [0; 4],
            leaving: [0; 4],
            unused: VecDeque::new(),
            data_by_plane: [0; 4],
            resends_by_plane: [0; 4],
            held: [false; 4],
            progress: 0,
            frozen: false,
            mute: false,
        };
        model.input("plane_last").set(profile.planes - 1);
        bench.quiet();
        model.reset();
        let base = if profile.load == 0 { 3 } else { 1 };
        for connection in base..base + profile.connections {
            bench.open(connection);
        }
        bench
    }

    fn quiet(&self) {
        let ports = &self.ports;
        ports.heads.iter().for_each(|head| head[1].set(0));
        ports.freed.iter().for_each(|port| port.set(0));
        for port in [
            &ports.load[4],
            &ports.settings[2],
            &ports.suspect[2],
            &ports.updated[1],
        ] {
            port.set(0);
        }
        ports.returned[1].set(0);
        ports.ack[1].set(0);
    }

    fn mask(&mut self) -> u64 {
        let all = (1 << (8 * self.profile.planes)) - 1;
        if self.profile.load == 0 {
            all
        } else {
            (self.stall.bits() & all) | 1 << self.stall.below(8 * self.profile.planes)
        }
    }

    /// Starts a connection anew: every path's numbers, its settings, no messages.
    fn open(&mut self, connection: u64) {
        let window = if self.profile.full_window {
            64
        } else {
            1 + self.stall.below(64)
        };
        let settings = (true, self.mask(), window);
        self.write_settings(connection, settings);
        self.step();
        self.changes
            .push_back((self.cycle + 1, Change::Messages(connection, 0)));
        let [number, messages, slot, last, valid, wakes] = &self.ports.load;
        number.set(connection);
        for port in [messages, slot, last, wakes] {
            port.set(0);
        }
        valid.set(1);
        self.step();
        for path in 0..8 * self.profile.planes {
            let pair = connection << 5 | path;
            let (psn, ordinal) = (0xff_ff80, 0xfff0 + self.stall.below(16));
            let epoch = self.stall.below(256);
            let order = Record::new(Forced::FIELDS)
                .with("kind", 3)
                .with("pair", pair)
                .with("psn", psn)
                .with("ordinal", ordinal)
                .with("epoch", epoch);
            self.heads[path as usize / 8].push_back(order);
            let fresh = Path {
                psn,
                ordinal,
                epoch,
                cumulative: psn,
                walked: ordinal,
                ..Path::default()
            };
            self.paths.insert(pair, fresh);
            self.update(pair);
            self.step();
        }
        for _ in 0..3_000 {
            if self.heads.iter().all(VecDeque::is_empty) && self.taken.is_empty() {
                return;
            }
            self.step();
        }
        panic!("starts anew are not taken");
    }

    fn write_settings(&mut self, connection: u64, settings: (bool, u64, u64)) {
        let (enabled, paths, window) = settings;
        let record = Record::new(SendSettings::FIELDS)
            .with("enabled", enabled)
            .with("paths", paths)
            .with("window", window);
        self.ports.settings[0].set(connection);
        self.ports.settings[1].set_record(&record);
        self.ports.settings[2].set(1);
        self.connections[connection as usize].settings = settings;
        self.changes
            .push_back((self.cycle, Change::Settings(connection, settings)));
    }

    fn write_suspects(&mut self, connection: u64, plane: u64, paths: u64) {
        let slot = connection << 2 | plane;
        self.ports.suspect[0].set(slot);
        self.ports.suspect[1].set(paths);
        self.ports.suspect[2].set(1);
        self.connections[connection as usize].suspects[plane as usize] = paths;
        self.changes
            .push_back((self.cycle, Change::Suspects(slot, paths)));
    }

    /// Tells the scheduler what is acknowledged on a path.
    fn update(&mut self, pair: u64) {
        let path = &self.paths[&pair];
        let told = (path.cumulative, path.walked, path.srtt_log);
        let record = Record::new(AckedUpdate::FIELDS)
            .with("pair", pair)
            .with("cumulative", told.0)
            .with("walked", told.1)
            .with("srtt_log", told.2);
        self.ports.updated[0].set_record(&record);
        self.ports.updated[1].set(1);
        // It is written a cycle after it came.
        self.changes
            .push_back((self.cycle + 1, Change::Acked(pair, told)));
    }

    /// An ACK for the first `count` transmissions in flight on a path.
    fn acknowledge(&mut self, pair: u64, count: usize, loss: u64) {
        let srtt_log = self.stall.below(100);
        let path = self.paths.get_mut(&pair).expect("the path is open");
        path.srtt_log = srtt_log;
        for kind in path.flying.drain(..count) {
            path.walked = (path.walked + 1) & 0xffff;
            if let Kind::Data { psn, slot, index } = kind {
                if self.stall.chance(loss) {
                    let order = Record::new(Forced::FIELDS)
                        .with("pair", pair)
                        .with("psn", psn)
                        .with("slot", slot)
                        .with("index", index);
                    self.heads[(pair >> 3 & 3) as usize].push_back(order);
                } else {
                    path.missing.retain(|&other| other != psn);
                }
            }
        }
        // Everything before the first that is missing has arrived.
        path.cumulative = path.missing.first().copied().unwrap_or(path.psn);
        self.update(pair);
    }

    /// All that is in flight is reported as lost, path after path; nothing new is sent any more.
    pub fn lose_everything(&mut self, enabled: bool) {
        let pairs: Vec<_> = self.paths.keys().copied().collect();
        let connections: Vec<_> = pairs.iter().map(|pair| pair >> 5).collect();
        self.write_settings(connections[0], (enabled, 0, 64));
        (0..20).for_each(|_| self.step());
        for pair in pairs {
            self.acknowledge(pair, self.paths[&pair].flying.len(), 100);
            // Not one resend leaves before all are there.
            self.mute = true;
            self.step();
        }
        self.mute = false;
    }

    /// The first packet of each path is lost and its resend does not leave; all others arrive. Packets between the
    /// cumulative PSN and the next one, for every path, when nothing new is sent any more.
    pub fn spans_behind_holes(&mut self) -> Vec<u64> {
        let pairs: Vec<_> = self.paths.keys().copied().collect();
        self.mute = true;
        let mut holed = BTreeSet::new();
        for _ in 0..1_000 {
            (0..20).for_each(|_| self.step());
            for &pair in &pairs {
                let flying = self.paths[&pair].flying.len();
                if flying > 0 {
                    let (count, loss) = if holed.insert(pair) {
                        (1, 100)
                    } else {
                        (flying, 0)
                    };
                    self.acknowledge(pair, count, loss);
                    self.step();
                }
            }
        }
        self.mute = false;
        let span = |path: &Path| path.psn.wrapping_sub(path.cumulative) & 0xff_ffff;
        self.paths.values().map(span).collect()
    }

    pub fn load(&mut self, load: Load) {
        self.loads.push_back(load);
    }

    /// Forced entries not taken.
    pub fn waiting(&self) -> usize {
        self.heads.iter().map(VecDeque::len).sum()
    }

    /// All connections start anew.
    pub fn reopen(&mut self) {
        for connection in 1..=self.profile.connections {
            self.open(connection);
        }
    }
}
