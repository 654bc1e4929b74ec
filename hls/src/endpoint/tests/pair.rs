//! Two endpoints, planes with rate, delay and faults, and virtual time; everything from one seed.
//!
//! Routing only: what happens to a packet is decided by a fate that the test gives. Memory is real bytes, or
//! none for long runs.

use crate::endpoint::rng::Rng;
use crate::endpoint::*;
use crate::wire::{ConnectionId, Incarnation, Ipv4Address, Key, MacAddress, PlaneAddress};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// Ethernet, IP, UDP, CRC, preamble and gap.
const FRAME_OVERHEAD: u64 = 14 + 20 + 8 + 4 + 4 + 20;
/// Where the memory of each end starts.
pub const BASE: u64 = 0x1000_0000;

/// What happens to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Deliver,
    Mark,
    Drop,
    /// Held back for so long: others overtake it.
    Late(u64),
    /// Delivered twice.
    Twice,
}

/// Decides: time, sending end, packet, chance.
pub type Decide = Box<dyn FnMut(u64, usize, &Transmit, &mut Chance) -> Fate>;

/// Chance for fates.
pub struct Chance(Rng);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(Rng::new(seed))
    }

    pub fn per_mille(&mut self, n: u64) -> bool {
        self.0.next() % 1000 < n
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0.next() % n
    }
}

/// Bytes from `BASE` on; every placed byte is counted, so that a test sees what was written twice.
#[derive(Default)]
pub struct Host {
    pub bytes: Vec<u8>,
    pub placed: Vec<u8>,
    pub placements: u64,
}

impl Host {
    fn range(&self, address: u64, length: u32) -> std::ops::Range<usize> {
        let start = (address - BASE) as usize;
        start..start + length as usize
    }
}

impl Memory for Host {
    fn place(&mut self, address: u64, length: u32, payload: &[u8]) {
        self.placements += 1;
        if self.bytes.is_empty() {
            return;
        }
        let range = self.range(address, length);
        assert_eq!(
            payload.len(),
            length as usize,
            "payload is as long as the header says"
        );
        self.bytes[range.clone()].copy_from_slice(payload);
        for count in &mut self.placed[range] {
            *count = count.saturating_add(1);
        }
    }

    fn load(&mut self, address: u64) -> u64 {
        let range = self.range(address, 8);
        u64::from_le_bytes(self.bytes[range].try_into().expect("8 bytes"))
    }

    fn store(&mut self, address: u64, value: u64) {
        let range = self.range(address, 8);
        self.bytes[range].copy_from_slice(&value.to_le_bytes());
    }
}

/// One side.
pub struct End {
    pub endpoint: Endpoint,
    pub host: Host,
    pub addresses: Vec<PlaneAddress>,
    pub completions: VecDeque<Completion>,
    pub events: Vec<Event>,
    busy_until: Vec<u64>,
}

enum What {
    Arrive {
        to: usize,
        arrival: Arrival,
        packet: Box<Packet>,
        payload: Vec<u8>,
    },
    PortFree,
}

/// Two endpoints and what lies between.
pub struct Pair {
    pub now: u64,
    pub ends: [End; 2],
    pub delay_ns: u64,
    pub fate: Decide,
    /// Changes packets on their way.
    pub change: Box<dyn FnMut(&mut Packet)>,
    chance: Chance,
    heap: BinaryHeap<Reverse<(u64, u64)>>,
    events: BTreeMap<u64, What>,
    sequence: u64,
    /// Whether the hosts take completions.
    pub take_completions: [bool; 2],
    /// Packets delivered and dropped.
    pub delivered: u64,
    pub dropped: u64,
}

pub fn address(end: usize, plane: usize) -> PlaneAddress {
    PlaneAddress {
        mac: MacAddress([2, 0, 0, 0, plane as u8, end as u8]),
        ipv4: Ipv4Address([10, 0, plane as u8, end as u8 + 1]),
    }
}

pub fn config(end: usize, planes: usize) -> Config {
    Config::new((0..planes).map(|plane| address(end, plane)).collect())
}

pub const CONNECTION: ConnectionId = ConnectionId::new(1);

impl Pair {
    /// Two connected NICs that lose nothing.
    pub fn new(seed: u64, planes: usize) -> Self {
        Self::with(seed, [config(0, planes), config(1, planes)])
    }

    pub fn with(seed: u64, configs: [Config; 2]) -> Self {
        println!("seed {seed}");
        let mut pair = Self::unconnected(seed, configs);
        for end in 0..2 {
            let established = pair.established(end);
            pair.ends[end]
                .endpoint
                .establish(0, established)
                .expect("a connection");
        }
        pair
    }

    /// The connection of the pair as one end sees it.
    pub fn established(&self, end: usize) -> Established {
        Established {
            connection: CONNECTION,
            incarnation: Incarnation(7 + end as u16),
            peer_connection: CONNECTION,
            peer_incarnation: Incarnation(8 - end as u16),
            peer_planes: self.ends[1 - end].addresses.clone(),
            settled: settled(self.ends[0].endpoint.config()),
        }
    }

    pub fn unconnected(seed: u64, configs: [Config; 2]) -> Self {
        let end = |config: Config, seed| End {
            addresses: config.planes.clone(),
            busy_until: vec![0; config.planes.len()],
            endpoint: Endpoint::new(config, seed).expect("a good configuration"),
            host: Host::default(),
            completions: VecDeque::new(),
            events: Vec::new(),
        };
        let [a, b] = configs;
        Self {
            now: 0,
            ends: [end(a, seed), end(b, seed + 1)],
            delay_ns: 4_000,
            fate: Box::new(|_, _, _, _| Fate::Deliver),
            change: Box::new(|_| {}),
            chance: Chance(Rng::new(seed ^ 0xfa7e)),
            heap: BinaryHeap::new(),
            events: BTreeMap::new(),
            sequence: 0,
            take_completions: [true; 2],
            delivered: 0,
            dropped: 0,
        }
    }

    /// Gives each end `length` bytes, different ones, and registers them all.
    pub fn with_memory(&mut self, length: usize) -> [Key; 2] {
        let mut keys = [Key(0); 2];
        for (end, key) in keys.iter_mut().enumerate() {
            let bytes = (0..length)
                .map(|i| (i * 31 + i / 251 + end * 128) as u8)
                .collect();
            self.ends[end].host = Host {
                bytes,
                placed: vec![0; length],
                placements: 0,
            };
            *key = self.register(end, length as u64);
        }
        keys
    }

    pub fn register(&mut self, end: usize, length: u64) -> Key {
        let region = Region {
            address: BASE,
            length,
            rights: Rights::ALL,
        };
        self.ends[end].endpoint.register(region).expect("a key")
    }

    pub fn write(&mut self, from: usize, id: u64, stream: u8, at: u64, length: u32, key: Key) {
        let operation = WorkOperation::Write {
            local: BASE + at,
            length,
            remote: BASE + at,
            key,
        };
        self.post(from, stream, WorkRequest { id, operation })
            .expect("posted");
    }

    pub fn post(&mut self, from: usize, stream: u8, request: WorkRequest) -> Result<(), PostError> {
        let now = self.now;
        self.ends[from]
            .endpoint
            .post_send(now, CONNECTION, stream, request)
    }

    pub fn receive(&mut self, at_end: usize, stream: u8, id: u64, at: u64, length: u32) {
        let request = ReceiveRequest {
            id,
            address: BASE + at,
            length,
        };
        let now = self.now;
        self.ends[at_end]
            .endpoint
            .post_receive(now, CONNECTION, stream, request)
            .expect("posted");
    }

    pub fn ask(&mut self, from: usize, stream: u8, id: u64, operation: WorkOperation) {
        self.post(from, stream, WorkRequest { id, operation })
            .expect("posted");
    }

    pub fn statuses(&self, end: usize) -> Vec<(u64, Status)> {
        self.ends[end]
            .completions
            .iter()
            .map(|c| (c.id, c.status))
            .collect()
    }

    pub fn word(&mut self, end: usize, at: u64) -> u64 {
        self.ends[end].host.load(BASE + at)
    }

    fn push(&mut self, at: u64, what: What) {
        self.sequence += 1;
        self.heap.push(Reverse((at, self.sequence)));
        self.events.insert(self.sequence, what);
    }

    fn send_all(&mut self) {
        let mut out = Transmit::default();
        for end in 0..2 {
            for plane in 0..self.ends[end].busy_until.len() {
                if self.ends[end].busy_until[plane] > self.now {
                    continue;
                }
                if self.ends[end]
                    .endpoint
                    .poll_transmit(self.now, plane as u8, &mut out)
                {
                    self.send(end, plane, &out);
                }
            }
        }
    }

    fn send(&mut self, end: usize, plane: usize, out: &Transmit) {
        assert_eq!(usize::from(out.plane), plane);
        assert_eq!(out.destination, address(1 - end, plane), "plane to plane");
        let bytes = FRAME_OVERHEAD + (out.packet.header_len() + out.packet.payload_len()) as u64;
        let rate = self.ends[end].endpoint.config().rate_bits_per_second;
        let free = self.now + (bytes * 8_000_000_000 / rate).max(1);
        self.ends[end].busy_until[plane] = free;
        self.push(free, What::PortFree);
        let fate = (self.fate)(self.now, end, out, &mut self.chance);
        let extra = match fate {
            Fate::Drop => {
                self.dropped += 1;
                return;
            }
            Fate::Late(extra) => extra,
            _ => 0,
        };
        let mut packet = over_the_wire(&out.packet, self.ends[end].endpoint.config().window);
        (self.change)(&mut packet);
        for _ in 0..1 + u8::from(fate == Fate::Twice) {
            let what = What::Arrive {
                to: 1 - end,
                arrival: Arrival {
                    plane: plane as u8,
                    source: self.ends[end].addresses[plane],
                    entropy: out.entropy,
                    marked: fate == Fate::Mark,
                },
                packet: Box::new(packet.clone()),
                payload: self.payload(end, out),
            };
            self.push(free + self.delay_ns + extra, what);
        }
    }

    fn payload(&self, end: usize, out: &Transmit) -> Vec<u8> {
        let host = &self.ends[end].host;
        match out.payload {
            Payload::None => Vec::new(),
            Payload::Inline { bytes, length } => bytes[..usize::from(length)].to_vec(),
            Payload::Memory { .. } if host.bytes.is_empty() => Vec::new(),
            Payload::Memory { address, length } => host.bytes[host.range(address, length)].to_vec(),
        }
    }

    /// One step to the next thing that happens, not past `end`. Says whether there was one.
    pub fn step(&mut self, end_ns: u64) -> bool {
        self.send_all();
        let timeouts = self
            .ends
            .iter()
            .filter_map(|end| end.endpoint.poll_timeout());
        let arrivals = self.heap.peek().map(|Reverse((at, _))| *at);
        let Some(next) = timeouts.chain(arrivals).min().filter(|at| *at <= end_ns) else {
            self.now = self.now.max(end_ns);
            return false;
        };
        self.now = self.now.max(next);
        while let Some(Reverse((at, sequence))) = self.heap.peek().copied() {
            if at > self.now {
                break;
            }
            self.heap.pop();
            let what = self.events.remove(&sequence).expect("what was pushed");
            if let What::Arrive {
                to,
                arrival,
                packet,
                payload,
            } = what
            {
                self.delivered += 1;
                let End { endpoint, host, .. } = &mut self.ends[to];
                endpoint.handle_packet(self.now, &arrival, &packet, &payload, host);
            }
        }
        for (end, take) in self.ends.iter_mut().zip(self.take_completions) {
            if end.endpoint.poll_timeout().is_some_and(|at| at <= self.now) {
                end.endpoint.handle_timeout(self.now);
            }
            while take && let Some(completion) = end.endpoint.poll_completion() {
                end.completions.push_back(completion);
            }
            while let Some(event) = end.endpoint.poll_event() {
                end.events.push(event);
            }
        }
        true
    }

    /// Runs for so long.
    pub fn run_for(&mut self, span_ns: u64) {
        let end = self.now + span_ns;
        while self.step(end) {}
    }

    /// Runs until `end` has `count` completions; fails the test past `limit_ns`.
    pub fn run_until_completed(&mut self, end: usize, count: usize, limit_ns: u64) {
        let limit = self.now + limit_ns;
        while self.ends[end].completions.len() < count {
            let found = self.ends[end].completions.len();
            if !self.step(limit) {
                self.print_paths(1 - end);
                panic!("{found} of {count} completions at {} ns", self.now);
            }
        }
    }

    /// What a failure needs to be understood.
    fn print_paths(&self, end: usize) {
        let endpoint = &self.ends[end].endpoint;
        for path in (0..=255).map(crate::wire::PathId) {
            if let Some(telemetry) = endpoint.path_telemetry(CONNECTION, path) {
                println!("{path}: {telemetry:?}");
            }
        }
        for end in &self.ends {
            for counter in Counter::ALL {
                print!("{counter:?} {} ", end.endpoint.counter(*counter));
            }
            println!();
        }
    }

    pub fn count(&self, end: usize, counter: Counter) -> u64 {
        self.ends[end].endpoint.counter(counter)
    }

    /// Drops `per_mille` of everything.
    pub fn lose(&mut self, per_mille: u64) {
        self.fate = Box::new(move |_, _, _, chance| {
            if chance.per_mille(per_mille) {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        });
    }
}

pub fn settled(config: &Config) -> Settled {
    Settled {
        version: crate::wire::VERSION,
        features: 0,
        mtu: config.mtu,
        planes: config.planes.len() as u8,
        paths_per_plane: config.paths_per_plane,
        window: config.window,
        streams: config.streams,
        slots: config.slots,
    }
}

/// The packet as it comes out of its bytes: what an endpoint sends is what the wire can say.
fn over_the_wire(packet: &Packet, window: u16) -> Packet {
    let payload_at = packet.header_len();
    let mut bytes = vec![0xa5; payload_at + packet.payload_len()];
    packet.emit(&mut bytes);
    let (parsed, at) = Packet::parse(&bytes, window).expect("a packet of the format");
    assert_eq!((&parsed, at), (packet, payload_at));
    parsed
}
