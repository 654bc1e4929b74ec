//! The verilated engine and the behavioural endpoint on one fabric: set-up in both roles, WRITEs both ways at once.
//!
//! Neither knows that the other is another implementation. Memory must be identical, completions right and in order, every
//! byte placed once, and what a sender says that it lost is what the fabric deleted.

use osprey_hls::endpoint::{Counter, Region};
use osprey_hls::wire::{ConnectionId, PathId, RemoteRegion};
use osprey_host::dma::{DmaBuffer, DmaMemory, PageSize};
use osprey_host::verbs::{
    Config, ConnectionHandle, ConnectionState, Context, MemoryRegion, ProtectionDomain, Rights,
    Side, Status, WorkOperation, WorkRequest,
};
use osprey_sim::engine::source;
use osprey_sim::fabric::{Faults, Kind};
use osprey_sim::hosts::addresses;
use osprey_sim::mixed::{Mixed, Plain, endpoint_config};
use osprey_sim::pair::PairConfig;
use osprey_sim::random::generator;
use rand::RngCore;

const SERVICE: u32 = 3;
const BASE: u64 = 0x7000_0000;
const HALF: usize = 256 << 10;
const MTU: u16 = 4_096;
/// Bytes of the messages of each side.
const LENGTHS: [usize; 14] = [
    1, 0, 63, 64, 65, 4_095, 4_096, 4_097, 9_000, 3, 30_000, 512, 16_384, 20_001,
];
/// Cycles that set-up or a transfer may take.
const PATIENCE: u64 = 3_000_000;

/// Who asks for the connection.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Initiator {
    Engine,
    Endpoint,
}

/// Both sides, connected. The first half of memory is written by the engine, the second by the endpoint.
struct Both {
    mixed: Mixed,
    context: Context,
    handle: ConnectionHandle,
    connection: ConnectionId,
    buffer: DmaBuffer,
    region: MemoryRegion,
    remote: RemoteRegion,
}

fn random(seed: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    generator(seed, 91).fill_bytes(&mut bytes);
    bytes
}

/// Sets up a connection; both sides' names of it.
fn connect(
    mixed: &mut Mixed,
    context: &mut Context,
    domain: ProtectionDomain,
    initiator: Initiator,
    (region, remote): (MemoryRegion, RemoteRegion),
) -> (ConnectionHandle, ConnectionId) {
    let planes = mixed.links[0].len();
    let mut sides = (None, None);
    if initiator == Initiator::Engine {
        mixed.endpoint.listen(SERVICE, &[remote]).expect("listens");
        let ports = addresses(1, planes);
        let asked = context.connect(mixed, domain, &ports, SERVICE, &[region]);
        sides.0 = Some(asked.expect("asked"));
    } else {
        context.listen(domain, SERVICE, &[region]).expect("listens");
        let (now, ports) = (mixed.now_ns(), addresses(0, planes));
        let asked = mixed.endpoint.connect(now, &ports, SERVICE, &[remote]);
        sides.1 = Some(asked.expect("asked"));
    }
    wait(mixed, |mixed| {
        context.progress(mixed).expect("progress");
        sides.0 = sides.0.or_else(|| context.accept());
        sides.1 = sides.1.or_else(|| mixed.endpoint.poll_accepted());
        let engine = sides.0.and_then(|handle| context.state(handle).ok());
        let endpoint = sides.1.and_then(|c| mixed.endpoint.connection_state(c));
        engine == Some(ConnectionState::Established)
            && endpoint == Some(ConnectionState::Established)
    });
    let (engine, endpoint) = sides;
    (
        engine.expect("of the engine"),
        endpoint.expect("of the endpoint"),
    )
}

impl Both {
    fn new(config: &PairConfig, initiator: Initiator) -> Option<Self> {
        let source = source("edge", false)
            .inspect_err(|error| eprintln!("skipped: {error}"))
            .ok()?;
        let planes = config.planes;
        let endpoint = endpoint_config(planes, MTU, config.rate_gbps);
        let mixed = Mixed::new(&source, config, endpoint, Plain::new(BASE, 2 * HALF));
        let mut mixed = mixed.expect("an engine");
        let host = Config::new(addresses(0, planes));
        let mut context = Context::open(&mut mixed, host, [7; 32]).expect("a device");
        let domain = context.protection_domain();
        let buffer = mixed.allocate(2 * HALF, PageSize::Small).expect("memory");
        let rights = Rights {
            write: true,
            ..Rights::default()
        };
        let range = (0, 2 * HALF as u64);
        let region = context.register(&mut mixed, domain, &buffer, range, rights);
        let region = region.expect("a region");
        mixed.write(&buffer, 0, &random(config.seed, HALF));
        mixed.memory.bytes[HALF..].copy_from_slice(&random(config.seed + 1, HALF));
        let own = Region {
            address: BASE,
            length: 2 * HALF as u64,
            rights: Rights::ALL,
        };
        let key = mixed.endpoint.register(own).expect("a key");
        let remote = RemoteRegion {
            address: BASE,
            length: 2 * HALF as u64,
            key,
        };
        let (handle, connection) = connect(
            &mut mixed,
            &mut context,
            domain,
            initiator,
            (region, remote),
        );
        Some(Self {
            handle,
            connection,
            mixed,
            context,
            buffer,
            region,
            remote,
        })
    }

    /// Both sides write all lengths, one after the other, into their halves.
    fn write_both_ways(&mut self) {
        let theirs = self.mixed.endpoint.remote_regions(self.connection)[0];
        assert_eq!(
            self.context.peer_regions(self.handle).expect("a peer"),
            [self.remote]
        );
        let mut at = 0;
        for (id, length) in LENGTHS.iter().enumerate() {
            let id = id as u64;
            let operation = WorkOperation::Write {
                local: self.region.address + at as u64,
                length: *length as u32,
                remote: BASE + at as u64,
                key: self.remote.key,
            };
            let request = WorkRequest { id, operation };
            let posted = self
                .context
                .post_send(&mut self.mixed, self.handle, &request);
            posted.expect("posted by the engine's host");
            let from = (HALF + at) as u64;
            let operation = WorkOperation::Write {
                local: BASE + from,
                length: *length as u32,
                remote: theirs.address + from,
                key: theirs.key,
            };
            let now = self.mixed.now_ns();
            let request = WorkRequest { id, operation };
            let posted = self
                .mixed
                .endpoint
                .post_send(now, self.connection, 0, request);
            posted.expect("posted by the endpoint's host");
            at += length + 5;
        }
        let (mut done, mut theirs) = (Vec::new(), Vec::new());
        let (context, handle) = (&mut self.context, self.handle);
        wait(&mut self.mixed, |mixed| {
            context.progress(mixed).expect("progress");
            context.poll(mixed, handle, &mut done).expect("completions");
            theirs.extend(std::iter::from_fn(|| mixed.endpoint.poll_completion()));
            done.len() == LENGTHS.len() && theirs.len() == LENGTHS.len()
        });
        for (id, completion) in done.iter().enumerate() {
            let found = (completion.id, completion.length, completion.status);
            let length = LENGTHS[id] as u32;
            assert_eq!(found, (id as u64, length, Status::Ok));
        }
        for (id, completion) in theirs.iter().enumerate() {
            let found = (completion.id, completion.length, completion.status);
            assert_eq!(found, (id as u64, LENGTHS[id] as u32, Status::Ok));
            assert_eq!(completion.side, Side::Send);
        }
    }

    /// Memory is what was written, once, and nothing beside it.
    fn judge(&mut self) {
        self.mixed.run(20_000);
        let mut engine = vec![0; 2 * HALF];
        self.mixed.read(&self.buffer, 0, &mut engine);
        let endpoint = &self.mixed.memory;
        let (mut at, mut expected) = (0, vec![0_u8; 2 * HALF]);
        let mut target = vec![0; HALF];
        for length in LENGTHS {
            let (own, other) = (at..at + length, HALF + at..HALF + at + length);
            assert!(
                endpoint.bytes[own.clone()] == engine[own.clone()],
                "at {at}"
            );
            expected[own.clone()].fill(1);
            target[own].copy_from_slice(&endpoint.bytes[other]);
            at += length + 5;
        }
        assert!(endpoint.placed == expected, "each byte is placed once");
        assert!(
            engine[HALF..] == target,
            "the engine's half, gaps untouched"
        );
        assert_eq!(self.mixed.violations(), [""; 0]);
        for path in (0..=255).map(PathId) {
            if let Some(found) = self.mixed.endpoint.path_telemetry(self.connection, path) {
                assert_eq!((found.in_flight, found.resends_waiting), (0, 0), "{path:?}");
            }
        }
    }

    fn count(&self, counter: Counter) -> u64 {
        self.mixed.endpoint.counter(counter)
    }

    /// DATA that the fabric deleted or damaged, of the endpoint's or of all it sent.
    fn failed_data(&self, side: usize) -> u64 {
        let links = self.mixed.links[side].iter();
        links
            .map(|link| link.counts().failed_by_kind[Kind::Data as usize])
            .sum()
    }

    /// One side ends the connection; the other learns of it.
    fn close(&mut self, by: Initiator) {
        if by == Initiator::Engine {
            let closed = self.context.close(&mut self.mixed, self.handle);
            closed.expect("closes");
        } else {
            let now = self.mixed.now_ns();
            let closed = self.mixed.endpoint.close(now, self.connection);
            closed.expect("closes");
        }
        let (context, handle, connection) = (&mut self.context, self.handle, self.connection);
        wait(&mut self.mixed, |mixed| {
            context.progress(mixed).expect("progress");
            let engine = context.state(handle).expect("a connection");
            let endpoint = mixed.endpoint.connection_state(connection);
            matches!(engine, ConnectionState::Closed(_))
                && matches!(endpoint, Some(ConnectionState::Closed(_)))
        });
    }
}

/// Lets time pass until something holds.
fn wait(mixed: &mut Mixed, mut done: impl FnMut(&mut Mixed) -> bool) {
    let limit = mixed.now_ns() + 4 * PATIENCE;
    while !done(mixed) {
        mixed.run(64);
        if mixed.now_ns() > limit {
            let counts: Vec<_> = Counter::ALL
                .iter()
                .map(|counter| (*counter, mixed.endpoint.counter(*counter)))
                .filter(|(_, count)| *count > 0)
                .collect();
            let refused = mixed.refused;
            panic!("not in time: {refused} frames refused, {counts:?}");
        }
    }
}

fn config(seed: u64, change: impl Fn(&mut PairConfig)) -> PairConfig {
    let mut config = PairConfig {
        planes: 2,
        seed,
        ..PairConfig::default()
    };
    change(&mut config);
    config
}

fn run(initiator: Initiator, config: &PairConfig) -> Option<Both> {
    println!("seed {}, {initiator:?} asks", config.seed);
    let mut both = Both::new(config, initiator)?;
    both.write_both_ways();
    both.judge();
    Some(both)
}

#[test]
fn either_asks_and_both_write_over_a_clean_fabric() {
    for initiator in [Initiator::Engine, Initiator::Endpoint] {
        let Some(mut both) = run(initiator, &config(1, |_| {})) else {
            return;
        };
        assert_eq!(both.mixed.refused, 0, "every frame is one");
        let bad = [
            Counter::DropAckInvalid,
            Counter::DropWindow,
            Counter::DropEpoch,
            Counter::DropPath,
            Counter::DropMessageBounds,
            Counter::DropOperation,
            Counter::Losses,
            Counter::Duplicate,
        ];
        for counter in bad {
            assert_eq!(both.count(counter), 0, "{counter:?}");
        }
        both.close(initiator);
    }
}

#[test]
fn losses_are_mended_and_named() {
    for (seed, initiator) in [(2, Initiator::Engine), (3, Initiator::Endpoint)] {
        let lossy = config(seed, |config| config.faults.loss = 0.05);
        let Some(both) = run(initiator, &lossy) else {
            return;
        };
        assert!(both.failed_data(1) > 0, "something was lost");
        assert_eq!(both.count(Counter::Losses), both.failed_data(1));
    }
}

#[test]
fn planes_of_different_length_duplicates_and_damage_change_nothing() {
    for (seed, initiator) in [(4, Initiator::Endpoint), (5, Initiator::Engine)] {
        let bad = config(seed, |config| {
            config.delay = vec![200, 3_000];
            config.stall_of_256 = 20;
            config.faults = Faults {
                loss: 0.02,
                duplication: 0.03,
                corruption: 0.01,
                bad_check: 0.01,
            };
        });
        let Some(mut both) = run(initiator, &bad) else {
            return;
        };
        assert!(both.mixed.refused > 0, "damage was seen");
        both.close(Initiator::Endpoint);
    }
}
