//! One endpoint, a host that asks for things, and a peer that says anything at all.
//!
//! Nothing may panic, touch memory that is not registered, or grow beyond its bound; and when the connection is closed,
//! every request that was taken ends exactly once.

use crate::memory::{BASE, Host};
use crate::speech::{self, Listener};
use crate::state;
use arbitrary::{Arbitrary, Unstructured};
use osprey_hls::endpoint::{
    Arrival, Completion, Config, Endpoint, Established, ReceiveRequest, Region, Rights, Settled,
    Side, Transmit, WorkOperation, WorkRequest,
};
use osprey_hls::wire::{ConnectionId, Incarnation, Key, PlaneAddress, VERSION};
use std::collections::BTreeSet;

const CONNECTION: ConnectionId = ConnectionId::new(1);
const PLANES: u8 = 2;
const LENGTH: usize = 16 << 10;
/// Steps between two looks at the state.
const LOOK_EVERY: usize = 8;

/// The endpoint, its host and what is due.
struct World {
    endpoint: Endpoint,
    host: Host,
    key: Key,
    now: u64,
    next_id: u64,
    /// Requests that have been taken and have not ended.
    open: BTreeSet<u64>,
}

fn config(window: u16) -> Config {
    Config {
        connections_max: 3,
        streams: 4,
        slots: 4,
        send_requests_max: 8,
        receive_requests_max: 8,
        events_max: 16,
        paths_per_plane: 2,
        window,
        keepalive_ns: if window == 128 { 300_000 } else { 0 },
        ..Config::new(vec![PlaneAddress::default(); PLANES.into()])
    }
}

impl World {
    fn new(window: u16) -> Self {
        let config = config(window);
        let settled = Settled {
            version: VERSION,
            features: 0,
            mtu: config.mtu,
            planes: PLANES,
            paths_per_plane: config.paths_per_plane,
            window: config.window,
            streams: config.streams,
            slots: config.slots,
        };
        let mut endpoint = Endpoint::new(config, 1).expect("a good configuration");
        let region = Region {
            address: BASE,
            length: LENGTH as u64,
            rights: Rights::ALL,
        };
        let key = endpoint.register(region).expect("a key");
        let established = Established {
            connection: CONNECTION,
            incarnation: Incarnation(7),
            peer_connection: CONNECTION,
            peer_incarnation: Incarnation(8),
            peer_planes: vec![PlaneAddress::default(); PLANES.into()],
            settled,
        };
        endpoint.establish(0, established).expect("a connection");
        endpoint.listen(0, &[]).expect("a listener");
        Self {
            endpoint,
            host: Host::new(LENGTH, 0),
            key,
            now: 0,
            next_id: 1,
            open: BTreeSet::new(),
        }
    }

    fn listener(&self) -> Listener {
        Listener {
            connection: CONNECTION,
            incarnation: Incarnation(7),
            key: self.key,
            address: BASE,
            window: self.endpoint.config().window,
        }
    }

    /// Something is said to the endpoint.
    fn hear(&mut self, input: &mut Unstructured) -> arbitrary::Result<()> {
        let Some((packet, length)) = speech::packet(input, &self.listener())? else {
            return Ok(());
        };
        let mut payload = [0; 4_096];
        let given = length.min(64);
        input.fill_buffer(&mut payload[..given])?;
        let arrival = Arrival {
            plane: input.int_in_range(0..=PLANES)?,
            source: PlaneAddress::default(),
            entropy: 0,
            marked: bool::arbitrary(input)?,
        };
        let payload = &payload[..length];
        self.endpoint
            .handle_packet(self.now, &arrival, &packet, payload, &mut self.host);
        Ok(())
    }

    /// The host asks for something.
    fn ask(&mut self, input: &mut Unstructured) -> arbitrary::Result<()> {
        let id = self.next_id;
        self.next_id += 1;
        let stream = input.int_in_range(0..=4)?;
        let at = u64::from(u8::arbitrary(input)?) * 8;
        let length = u32::from(u16::arbitrary(input)?) / 4;
        let local = BASE + at;
        let (local_key, remote, key) = (self.key, 0x1000, Key(9));
        let operation = match input.int_in_range(0..=4)? {
            0 => WorkOperation::Send { local, length },
            1 => WorkOperation::Read {
                local,
                local_key,
                length,
                remote,
                key,
            },
            2 => WorkOperation::FetchAdd {
                local,
                local_key,
                remote,
                key,
                add: 1,
            },
            3 => {
                let request = ReceiveRequest {
                    id,
                    address: local,
                    length,
                };
                let taken = self
                    .endpoint
                    .post_receive(self.now, CONNECTION, stream, request);
                self.open.extend(taken.is_ok().then_some(id));
                return Ok(());
            }
            _ => WorkOperation::Write {
                local,
                length,
                remote,
                key,
            },
        };
        let request = WorkRequest { id, operation };
        let taken = self
            .endpoint
            .post_send(self.now, CONNECTION, stream, request);
        self.open.extend(taken.is_ok().then_some(id));
        Ok(())
    }

    fn step(&mut self, input: &mut Unstructured) -> arbitrary::Result<()> {
        match input.int_in_range(0..=15)? {
            0 => self.ask(input)?,
            1 => self.now += u64::from(u16::arbitrary(input)?),
            2 => self.wake(),
            3 => {
                let (plane, up) = (u8::arbitrary(input)? % 3, bool::arbitrary(input)?);
                self.endpoint.handle_link(self.now, plane, up);
            }
            4 => self.take_completions(),
            5 => while self.endpoint.poll_event().is_some() {},
            6 => while self.endpoint.poll_accepted().is_some() {},
            7 | 8 => self.send(input.int_in_range(1..=32)?),
            _ => self.hear(input)?,
        }
        Ok(())
    }

    /// On to the next timer.
    fn wake(&mut self) {
        if let Some(due) = self.endpoint.poll_timeout() {
            self.now = self.now.max(due);
            self.endpoint.handle_timeout(self.now);
        }
    }

    fn send(&mut self, packets: usize) {
        let mut out = Transmit::default();
        for _ in 0..packets {
            for plane in 0..PLANES {
                if self.endpoint.poll_transmit(self.now, plane, &mut out) {
                    assert_eq!(out.plane, plane, "by the plane that was asked for");
                }
            }
        }
    }

    fn take_completions(&mut self) {
        while let Some(completion) = self.endpoint.poll_completion() {
            self.end(&completion);
        }
    }

    fn end(&mut self, completion: &Completion) {
        if completion.connection == CONNECTION && completion.side != Side::WriteImm {
            let open = self.open.remove(&completion.id);
            assert!(open, "ended twice, or never asked for: {completion:?}");
        }
    }

    /// Closes the connection: what is open ends, and everything falls silent.
    fn finish(&mut self) {
        let _ = self.endpoint.close(self.now, CONNECTION);
        for _ in 0..10_000 {
            self.send(4);
            self.take_completions();
            if self.endpoint.poll_timeout().is_none() {
                break;
            }
            self.wake();
        }
        assert!(self.open.is_empty(), "never ended: {:?}", self.open);
        state::check(&self.endpoint);
    }
}

/// Plays the steps that the input tells; its length tells W, so that a step means the same in all three.
pub fn stranger(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let mut world = World::new([64, 128, 256][bytes.len() % 3]);
    let mut steps = 0;
    while !input.is_empty() && world.step(&mut input).is_ok() {
        steps += 1;
        if steps % LOOK_EVERY == 0 {
            state::check(&world.endpoint);
        }
    }
    world.finish();
}
