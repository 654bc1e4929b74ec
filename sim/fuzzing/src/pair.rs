//! Two endpoints and a bad channel: what becomes of each packet is a byte of the input; when the bytes are used up, all
//! arrive.
//!
//! At the end every request has ended, memory is what a model says, and state is within its bounds. Links may go down
//! and come up; a connection may fail then, but must say so.

use crate::memory::{BASE, Host};
use crate::state;
use arbitrary::{Arbitrary, Unstructured};
use osprey_hls::endpoint::{
    Arrival, Completion, Config, Endpoint, Established, Memory as _, Packet, Payload,
    ReceiveRequest, Region, Rights, Settled, Side, Status, Transmit, WorkOperation, WorkRequest,
};
use osprey_hls::wire::{ConnectionId, Incarnation, Ipv4Address, Key, PlaneAddress, VERSION};
use std::collections::{BTreeMap, BTreeSet};

const CONNECTION: ConnectionId = ConnectionId::new(1);
/// Bytes that a request may touch.
const PLACE: usize = 4 << 10;
/// Requests of an end.
const REQUESTS: usize = 16;
/// What end 0 asks lies in the first half of memory, what end 1 asks in the second.
const HALF: usize = PLACE * REQUESTS;
const DELAY_NS: u64 = 4_000;
/// Steps between two looks at the state.
const LOOK_EVERY: usize = 8;
/// Longest virtual time after the last step: more than all back-offs together.
const PATIENCE_NS: u64 = 4_000_000_000;
/// Most events after the last step.
const EVENTS_MAX: usize = 400_000;

struct End {
    endpoint: Endpoint,
    host: Host,
    key: Key,
    free_at: Vec<u64>,
    asked: usize,
    open: BTreeSet<u64>,
    failed: bool,
}

/// A datagram on its way.
struct Flight {
    to: usize,
    arrival: Arrival,
    packet: Packet,
    payload: Vec<u8>,
}

/// A place: an end, and where in its memory.
type Place = (usize, usize);

/// What must be when all is done.
enum Expected {
    /// Places that hold the same bytes.
    Same([Place; 2], usize),
    /// Places that hold these words, each 8 bytes.
    Words([(Place, u64); 2]),
}

struct World {
    now: u64,
    ends: [End; 2],
    flights: BTreeMap<(u64, u64), Flight>,
    sequence: u64,
    expected: Vec<Expected>,
}

fn address(end: usize, plane: u8) -> PlaneAddress {
    PlaneAddress {
        ipv4: Ipv4Address([10, 0, plane, end as u8]),
        ..PlaneAddress::default()
    }
}

fn config(input: &mut Unstructured) -> arbitrary::Result<Config> {
    let planes = input.int_in_range(1..=3)?;
    let addresses = (0..planes).map(|plane| address(0, plane)).collect();
    let (paths_per_plane, mtu) = (
        *input.choose(&[1, 2, 8])?,
        *input.choose(&[256, 1024, 4096])?,
    );
    let slots = *input.choose(&[1, 4, 64])?;
    Ok(Config {
        paths_per_plane,
        mtu,
        slots,
        // By the slots, so that the inputs of the corpus mean what they meant.
        keepalive_ns: if slots == 4 { 300_000 } else { 0 },
        streams: *input.choose(&[1, 4, 256])?,
        slack: *input.choose(&[0, 0, 3])?,
        window: *input.choose(&[64, 128, 256])?,
        ..Config::new(addresses)
    })
}

impl End {
    fn new(config: &Config, end: usize) -> Self {
        let planes = config.planes.len() as u8;
        let addresses = |end| (0..planes).map(|plane| address(end, plane)).collect();
        let own = Config {
            planes: addresses(end),
            ..config.clone()
        };
        let settled = Settled {
            version: VERSION,
            features: 0,
            mtu: own.mtu,
            planes,
            paths_per_plane: own.paths_per_plane,
            window: own.window,
            streams: own.streams,
            slots: own.slots,
        };
        let mut endpoint = Endpoint::new(own, end as u64).expect("a good configuration");
        let region = Region {
            address: BASE,
            length: 2 * HALF as u64,
            rights: Rights::ALL,
        };
        let key = endpoint.register(region).expect("a key");
        let established = Established {
            connection: CONNECTION,
            incarnation: Incarnation(7 + end as u16),
            peer_connection: CONNECTION,
            peer_incarnation: Incarnation(8 - end as u16),
            peer_planes: addresses(1 - end),
            settled,
        };
        endpoint.establish(0, established).expect("a connection");
        Self {
            endpoint,
            host: Host::new(2 * HALF, end),
            key,
            free_at: vec![0; planes.into()],
            asked: 0,
            open: BTreeSet::new(),
            failed: false,
        }
    }

    fn end(&mut self, completion: &Completion) {
        self.failed |= completion.status != Status::Ok;
        if completion.side == Side::Send {
            let open = self.open.remove(&completion.id);
            assert!(open, "ended twice, or never asked for: {completion:?}");
        }
    }
}

impl World {
    fn new(config: &Config) -> Self {
        Self {
            now: 0,
            ends: [0, 1].map(|end| End::new(config, end)),
            flights: BTreeMap::new(),
            sequence: 0,
            expected: Vec::new(),
        }
    }

    /// An end asks for something that touches a place of its own.
    fn ask(&mut self, input: &mut Unstructured) -> arbitrary::Result<()> {
        let end = usize::from(bool::arbitrary(input)?);
        let streams = self.ends[end].endpoint.config().streams;
        let n = self.ends[end].asked;
        if n == REQUESTS {
            return Ok(());
        }
        self.ends[end].asked += 1;
        let stream = (u16::from(u8::arbitrary(input)?) % streams) as u8;
        let length = usize::from(u16::arbitrary(input)?) % (PLACE / 2);
        let at = end * HALF + n * PLACE;
        let (operation, expected) = self.draw(input, end, at, length)?;
        if let WorkOperation::Send { length, .. } = operation {
            let receive = ReceiveRequest {
                id: n as u64,
                address: BASE + at as u64,
                length,
            };
            let peer = &mut self.ends[1 - end].endpoint;
            if peer
                .post_receive(self.now, CONNECTION, stream, receive)
                .is_err()
            {
                return Ok(());
            }
        }
        let id = n as u64;
        let request = WorkRequest { id, operation };
        let asked = &mut self.ends[end];
        if asked
            .endpoint
            .post_send(self.now, CONNECTION, stream, request)
            .is_ok()
        {
            asked.open.insert(id);
            self.expected.push(expected);
        }
        Ok(())
    }

    /// An operation on the place `at`, and what must come of it.
    fn draw(
        &mut self,
        input: &mut Unstructured,
        end: usize,
        at: usize,
        length: usize,
    ) -> arbitrary::Result<(WorkOperation, Expected)> {
        let (local, remote) = (BASE + at as u64, BASE + at as u64);
        let (local_key, key) = (self.ends[end].key, self.ends[1 - end].key);
        // What comes back lies behind what goes out.
        let into = at + PLACE / 2;
        let back = BASE + into as u64;
        let before = self.ends[1 - end].host.load(remote);
        let mut expected = Expected::Same([(end, at), (1 - end, at)], length);
        let words = |after| Expected::Words([((1 - end, at), after), ((end, into), before)]);
        let (length, immediate) = (length as u32, 1);
        #[rustfmt::skip]
        let operation = match input.int_in_range(0..=7)? {
            0 => WorkOperation::WriteImm { local, length, remote, key, immediate },
            1 => WorkOperation::Send { local, length },
            2 => {
                expected = Expected::Same([(1 - end, at), (end, into)], length as usize);
                WorkOperation::Read { local: back, local_key, length, remote, key }
            }
            3 => {
                let add = u64::arbitrary(input)?;
                expected = words(before.wrapping_add(add));
                WorkOperation::FetchAdd { local: back, local_key, remote, key, add }
            }
            4 => {
                let (compare, swap) = (before ^ u64::from(bool::arbitrary(input)?), !before);
                expected = words(if compare == before { swap } else { before });
                WorkOperation::CompareSwap { local: back, local_key, remote, key, compare, swap }
            }
            _ => WorkOperation::Write { local, length, remote, key },
        };
        Ok((operation, expected))
    }

    /// Sends what may leave now; each packet's fate is a byte of the input.
    fn send(&mut self, input: &mut Unstructured) {
        let mut out = Transmit::default();
        for end in 0..2 {
            for plane in 0..self.ends[end].free_at.len() {
                while self.ends[end].free_at[plane] <= self.now
                    && self.ends[end]
                        .endpoint
                        .poll_transmit(self.now, plane as u8, &mut out)
                {
                    self.ends[end].free_at[plane] = self.now + 300;
                    let fate = if input.is_empty() {
                        0
                    } else {
                        u8::arbitrary(input).unwrap_or(0)
                    };
                    self.carry(end, &out, fate);
                }
            }
        }
    }

    /// 0 to 127: arrives, 128 to 191: lost, then twice, late, marked.
    fn carry(&mut self, end: usize, out: &Transmit, fate: u8) {
        let (copies, late_ns) = match fate {
            128..=191 => return,
            192..=207 => (2, 0),
            208..=239 => (1, u64::from(fate - 207) * 700),
            _ => (1, 0),
        };
        let payload = match out.payload {
            Payload::None => Vec::new(),
            Payload::Inline { bytes, length } => bytes[..length.into()].to_vec(),
            Payload::Memory { address, length } => {
                let host = &self.ends[end].host;
                host.bytes[host.range(address, length as usize)].to_vec()
            }
        };
        let arrival = Arrival {
            plane: out.plane,
            source: address(end, out.plane),
            entropy: out.entropy,
            marked: fate >= 240,
        };
        for _ in 0..copies {
            self.sequence += 1;
            let flight = Flight {
                to: 1 - end,
                arrival,
                packet: out.packet.clone(),
                payload: payload.clone(),
            };
            let at = self.now + DELAY_NS + late_ns;
            self.flights.insert((at, self.sequence), flight);
        }
    }

    /// On to the next thing that happens, at most to `limit`; says whether there was one.
    fn advance(&mut self, limit: u64, input: &mut Unstructured) -> bool {
        self.send(input);
        self.take();
        let now = self.now;
        let flights = self.flights.keys().next().map(|(at, _)| *at);
        let timers = self
            .ends
            .iter()
            .filter_map(|end| end.endpoint.poll_timeout());
        let ports = self.ends.iter().flat_map(|end| end.free_at.iter().copied());
        let next = flights
            .into_iter()
            .chain(timers)
            .chain(ports.filter(|at| *at > now));
        let Some(next) = next.min().filter(|at| *at <= limit) else {
            return false;
        };
        self.now = now.max(next);
        while let Some(first) = self.flights.first_entry().filter(|e| e.key().0 <= self.now) {
            let flight = first.remove();
            let End { endpoint, host, .. } = &mut self.ends[flight.to];
            let (arrival, packet) = (&flight.arrival, &flight.packet);
            endpoint.handle_packet(self.now, arrival, packet, &flight.payload, host);
        }
        for end in &mut self.ends {
            if end.endpoint.poll_timeout().is_some_and(|at| at <= self.now) {
                end.endpoint.handle_timeout(self.now);
            }
        }
        self.take();
        true
    }

    /// Takes completions and evidence.
    fn take(&mut self) {
        for end in &mut self.ends {
            while let Some(completion) = end.endpoint.poll_completion() {
                end.end(&completion);
            }
            while end.endpoint.poll_event().is_some() {}
        }
    }

    /// What a failure needs to be understood.
    fn story(&self) -> String {
        let of = |end: &End| {
            let balance = end.endpoint.balance(CONNECTION);
            let telemetry = end.endpoint.connection_telemetry(CONNECTION);
            format!("open {:?}, {balance:?}, {telemetry:?}", end.open)
        };
        let [a, b] = self.ends.each_ref().map(of);
        format!("at {} ns: {a}; {b}", self.now)
    }

    fn step(&mut self, input: &mut Unstructured) -> arbitrary::Result<()> {
        match input.int_in_range(0..=7)? {
            0 => {
                let [end, plane] = <[u8; 2]>::arbitrary(input)?;
                let up = bool::arbitrary(input)?;
                let end = &mut self.ends[usize::from(end) % 2];
                end.endpoint
                    .handle_link(self.now, plane % end.free_at.len() as u8, up);
            }
            1..=3 => self.ask(input)?,
            _ => {
                let until = self.now + u64::from(u16::arbitrary(input)?);
                while self.advance(until, input) {}
                self.now = until;
            }
        }
        Ok(())
    }

    /// Links come up, packets arrive: every request ends.
    fn finish(&mut self) {
        let nothing = &mut Unstructured::new(&[]);
        for end in &mut self.ends {
            for plane in 0..end.free_at.len() {
                end.endpoint.handle_link(self.now, plane as u8, true);
            }
        }
        let limit = self.now + PATIENCE_NS;
        let mut events = 0;
        while self.ends.iter().any(|end| !end.open.is_empty()) {
            let went_on = self.advance(limit, nothing);
            events += 1;
            let over = self.ends.iter().all(|end| end.open.is_empty());
            assert!(
                over || went_on && events < EVENTS_MAX,
                "never ended, {events} events: {}",
                self.story()
            );
        }
        self.ends.iter().for_each(|end| state::check(&end.endpoint));
        if self.ends.iter().any(|end| end.failed) {
            return;
        }
        let bytes = |(end, at): Place, length| &self.ends[end].host.bytes[at..at + length];
        for expected in &self.expected {
            match *expected {
                Expected::Same([a, b], length) => {
                    assert!(bytes(a, length) == bytes(b, length), "memory at {b:?}");
                }
                Expected::Words(words) => {
                    for (place, word) in words {
                        assert_eq!(bytes(place, 8), word.to_le_bytes(), "memory at {place:?}");
                    }
                }
            }
        }
    }
}

/// Plays the steps that the input tells.
pub fn pair(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let Ok(config) = config(&mut input) else {
        return;
    };
    let mut world = World::new(&config);
    let mut steps = 0;
    while !input.is_empty() && world.step(&mut input).is_ok() {
        steps += 1;
        if steps % LOOK_EVERY == 0 {
            world
                .ends
                .iter()
                .for_each(|end| state::check(&end.endpoint));
        }
    }
    world.finish();
}
