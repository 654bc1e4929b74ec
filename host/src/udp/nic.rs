//! A NIC in software: the endpoint, its sockets, its memory and the clock, joined by one loop.
//!
//! [`UdpNic::progress`] is the loop's body: what has arrived, what is due, what can leave. Nothing else moves packets, so
//! an application calls it often, or lets it wait.

use super::codec::{decode, encode};
use super::edge::{Held, Late};
use super::sockets::{Received, Sockets};
use super::{Buffers, Decide, Direction, Fate, UdpSettings, flip, plane_address, socket_address};
use crate::verbs::Completion;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use osprey_hls::endpoint::{Arrival, Config, ConfigError, Endpoint, Packet, Transmit};
use osprey_hls::wire::CRC_LEN;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;
use std::net::SocketAddrV4;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Packets that leave by a plane before arrivals are looked at again.
const SENDS_MAX: usize = 64;

/// So long the loop looks again before it lets the kernel wake it: a wake-up costs more than a round trip. Others who want
/// the processor get it meanwhile.
const SPIN: Duration = Duration::from_micros(50);

/// Why a software NIC cannot be opened, or stops.
#[derive(Debug, thiserror::Error)]
pub enum UdpError {
    /// A local address cannot be used.
    #[error("cannot use {address}: {source}; give another --local address or port")]
    Bind {
        /// The address.
        address: SocketAddrV4,
        /// What the system says.
        source: std::io::Error,
    },
    /// A local address stands for several.
    #[error("{0} is no single address: the CRC covers addresses, so name the one that peers see")]
    Wildcard(SocketAddrV4),
    /// The transport refuses a setting.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The system refuses to send, receive or wait.
    #[error("socket: {0}")]
    Io(#[from] std::io::Error),
}

/// A software NIC.
#[derive(Debug)]
pub struct UdpNic {
    /// The endpoint: work, completions, events, telemetry.
    pub endpoint: Endpoint,
    /// Memory that it reaches.
    pub buffers: Buffers,
    planes: Vec<Sockets>,
    begun: Instant,
    poll: Poll,
    events: Events,
    /// Planes whose sockets may hold something.
    readable: Vec<bool>,
    out: Transmit,
    edge: Option<Edge>,
    late: Late,
    /// Datagrams that were no packets.
    refused: u64,
    /// Which life of each connection number this is, where a number has had one before.
    pub(super) lives: Vec<u32>,
    /// Completions that were taken from the endpoint and wait for the application.
    pub(super) taken: VecDeque<Completion>,
}

impl UdpNic {
    /// Binds the planes.
    pub fn open(settings: &UdpSettings) -> Result<Self, UdpError> {
        let mut nic = Self::with_config(&settings.planes, settings.config()?, settings.seed)?;
        nic.edge = losing(settings.loss, settings.seed);
        Ok(nic)
    }

    /// Binds `planes` for an endpoint with constants of its own; the addresses in `config` are replaced by what is bound.
    pub fn with_config(
        planes: &[SocketAddrV4],
        mut config: Config,
        seed: u64,
    ) -> Result<Self, UdpError> {
        let mut bound = Vec::new();
        let poll = Poll::new()?;
        for (index, address) in planes.iter().enumerate() {
            if address.ip().is_unspecified() {
                return Err(UdpError::Wildcard(*address));
            }
            let plane = Sockets::bind(*address).map_err(|source| UdpError::Bind {
                address: *address,
                source,
            })?;
            let descriptor = plane.descriptor().as_raw_fd();
            poll.registry().register(
                &mut SourceFd(&descriptor),
                Token(index),
                Interest::READABLE,
            )?;
            bound.push(plane);
        }
        config.planes = bound
            .iter()
            .map(|plane| plane_address(plane.local()))
            .collect();
        Ok(Self {
            endpoint: Endpoint::new(config, seed)?,
            buffers: Buffers::default(),
            readable: vec![true; bound.len()],
            planes: bound,
            begun: Instant::now(),
            poll,
            events: Events::with_capacity(16),
            out: Transmit::default(),
            edge: None,
            late: Late::default(),
            refused: 0,
            lives: Vec::new(),
            taken: VecDeque::new(),
        })
    }

    /// Lets `decide` make faults, in place of those of [`UdpSettings::loss`].
    pub fn set_edge(&mut self, decide: Decide) {
        self.edge = Some(Edge(decide));
    }

    /// Nanoseconds since the NIC was opened: the endpoint's time.
    pub fn now(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64
    }

    /// Datagrams that were no packets, the CRC's included.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Moves everything along. With nothing to do it waits for at most `wait`; returns whether anything moved.
    pub fn progress(&mut self, wait: Duration) -> std::io::Result<bool> {
        let begun = Instant::now();
        loop {
            self.look(Duration::ZERO)?;
            if self.turn()? {
                return Ok(true);
            }
            if begun.elapsed() >= wait.min(SPIN) {
                break;
            }
            std::thread::yield_now();
        }
        if wait.is_zero() {
            return Ok(false);
        }
        let now = self.now();
        let next = [self.endpoint.poll_timeout(), self.late.next()];
        let due = next.into_iter().flatten().min();
        let due = due.map(|at| Duration::from_nanos(at.saturating_sub(now)));
        self.look(due.map_or(wait, |due| due.min(wait)))?;
        self.turn()
    }

    /// Waits until a plane can be read, at most for so long.
    fn look(&mut self, wait: Duration) -> std::io::Result<()> {
        match self.poll.poll(&mut self.events, Some(wait)) {
            Err(error) if error.kind() != std::io::ErrorKind::Interrupted => {
                return Err(error);
            }
            _ => {}
        }
        for event in &self.events {
            self.readable[event.token().0] = true;
        }
        Ok(())
    }

    /// One turn: arrivals, timers, departures.
    fn turn(&mut self) -> std::io::Result<bool> {
        let mut moved = false;
        for plane in 0..self.planes.len() {
            if self.readable[plane] {
                // Readiness is told once: a plane stays readable until it has been found empty.
                self.readable[plane] = self.receive(plane)? > 0;
                moved |= self.readable[plane];
            }
        }
        let now = self.now();
        while let Some(held) = self.late.due(now) {
            self.release_late(held)?;
        }
        if self.endpoint.poll_timeout().is_some_and(|due| due <= now) {
            self.endpoint.handle_timeout(now);
        }
        for plane in 0..self.planes.len() {
            moved |= self.send(plane)? > 0;
        }
        Ok(moved)
    }

    fn receive(&mut self, plane: usize) -> std::io::Result<usize> {
        let now = self.now();
        let mut intake = Intake {
            plane,
            local: self.planes[plane].local(),
            now,
            endpoint: &mut self.endpoint,
            buffers: &mut self.buffers,
            refused: &mut self.refused,
        };
        let (edge, late) = (&mut self.edge, &mut self.late);
        let take = |received: Received<'_>| match edge {
            None => intake.take(received),
            Some(edge) => edge.arrive(&mut intake, late, received),
        };
        self.planes[plane].receive(take)
    }

    /// A late datagram's time has come.
    fn release_late(&mut self, held: Held) -> std::io::Result<()> {
        if held.direction_in {
            let now = self.now();
            let mut intake = Intake {
                plane: held.plane,
                local: self.planes[held.plane].local(),
                now,
                endpoint: &mut self.endpoint,
                buffers: &mut self.buffers,
                refused: &mut self.refused,
            };
            intake.take(Received {
                source: held.peer,
                marked: false,
                bytes: &held.bytes,
            });
            return Ok(());
        }
        let plane = &mut self.planes[held.plane];
        let fill = |batch: &mut Vec<u8>, _| batch.extend_from_slice(&held.bytes);
        tolerate(plane.queue((held.entropy, false), held.peer, held.bytes.len(), fill))
    }

    fn send(&mut self, plane: usize) -> std::io::Result<usize> {
        let mut count = 0;
        while count < SENDS_MAX {
            let now = self.now();
            if !self.endpoint.poll_transmit(now, plane as u8, &mut self.out) {
                break;
            }
            count += 1;
            let fate = match &mut self.edge {
                None => Fate::Pass,
                Some(Edge(decide)) => decide(Direction::Out, plane as u8, &self.out.packet, now),
            };
            self.depart(plane, fate, now)?;
        }
        tolerate(self.planes[plane].flush())?;
        Ok(count)
    }

    /// Lets the packet in `out` leave as its fate says.
    fn depart(&mut self, plane: usize, fate: Fate, now: u64) -> std::io::Result<()> {
        let (out, buffers) = (&self.out, &self.buffers);
        let peer = socket_address(&out.destination);
        let length = out.packet.header_len() + out.packet.payload_len() + CRC_LEN;
        let fill = |batch: &mut Vec<u8>, local| {
            encode(
                batch,
                &out.packet,
                &out.payload,
                local,
                peer,
                |address, bytes| {
                    // A request of a buffer that is gone sends zeros; its completion is the peer's to refuse.
                    if let Ok(held) = buffers.get(address, bytes.len()) {
                        bytes.copy_from_slice(held);
                    }
                },
            );
        };
        let entropy = out.entropy;
        let sockets = &mut self.planes[plane];
        let result = match fate {
            Fate::Drop => Ok(()),
            Fate::Pass => sockets.queue((entropy, false), peer, length, fill),
            Fate::Mark => sockets.queue((entropy, true), peer, length, fill),
            Fate::Twice => {
                let first = sockets.queue((entropy, false), peer, length, fill);
                first.and_then(|()| sockets.queue((entropy, false), peer, length, fill))
            }
            Fate::Flip(bit) => sockets.queue((entropy, false), peer, length, |batch, local| {
                let start = batch.len();
                fill(batch, local);
                flip(&mut batch[start..], bit);
            }),
            Fate::Late(by_ns) => {
                let mut bytes = Vec::with_capacity(length);
                fill(&mut bytes, sockets.local());
                let due_ns = now + by_ns;
                self.late.hold(Held {
                    due_ns,
                    direction_in: false,
                    plane,
                    entropy,
                    peer,
                    bytes,
                });
                Ok(())
            }
        };
        tolerate(result)
    }
}

/// Where datagrams of a plane go.
struct Intake<'a> {
    plane: usize,
    local: SocketAddrV4,
    now: u64,
    endpoint: &'a mut Endpoint,
    buffers: &'a mut Buffers,
    refused: &'a mut u64,
}

impl Intake<'_> {
    fn take(&mut self, received: Received<'_>) {
        match decode(received.bytes, received.source, self.local) {
            Ok((packet, payload)) => self.hand_over(&received, &packet, payload),
            Err(_) => *self.refused += 1,
        }
    }

    fn hand_over(&mut self, received: &Received<'_>, packet: &Packet, payload: &[u8]) {
        let arrival = Arrival {
            plane: self.plane as u8,
            source: plane_address(received.source),
            entropy: received.source.port(),
            marked: received.marked,
        };
        self.endpoint
            .handle_packet(self.now, &arrival, packet, payload, self.buffers);
    }
}

/// Who decides about faults.
struct Edge(Decide);

impl std::fmt::Debug for Edge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Edge")
    }
}

impl Edge {
    /// A datagram has arrived.
    fn arrive(&mut self, intake: &mut Intake<'_>, late: &mut Late, received: Received<'_>) {
        let Ok((packet, payload)) = decode(received.bytes, received.source, intake.local) else {
            return intake.take(received);
        };
        match (self.0)(Direction::In, intake.plane as u8, &packet, intake.now) {
            Fate::Pass => intake.hand_over(&received, &packet, payload),
            Fate::Drop => {}
            Fate::Mark => intake.hand_over(
                &Received {
                    marked: true,
                    ..received
                },
                &packet,
                payload,
            ),
            Fate::Twice => (0..2).for_each(|_| intake.hand_over(&received, &packet, payload)),
            Fate::Flip(bit) => {
                let mut bytes = received.bytes.to_vec();
                flip(&mut bytes, bit);
                intake.take(Received {
                    bytes: &bytes,
                    ..received
                });
            }
            Fate::Late(by_ns) => late.hold(Held {
                due_ns: intake.now + by_ns,
                direction_in: true,
                plane: intake.plane,
                entropy: received.source.port(),
                peer: received.source,
                bytes: received.bytes.to_vec(),
            }),
        }
    }
}

/// Uniform loss of what leaves.
fn losing(loss: f64, seed: u64) -> Option<Edge> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let decide = move |direction, _, _: &Packet, _| match direction {
        Direction::Out if random.random_bool(loss) => Fate::Drop,
        _ => Fate::Pass,
    };
    (loss > 0.0).then(|| Edge(Box::new(decide)))
}

/// A full queue or an absent peer is a loss like any other: the transport notices.
fn tolerate(result: std::io::Result<()>) -> std::io::Result<()> {
    use std::io::ErrorKind::{
        ConnectionRefused, HostUnreachable, Interrupted, NetworkUnreachable, WouldBlock,
    };
    match result {
        Err(error)
            if matches!(
                error.kind(),
                WouldBlock | ConnectionRefused | HostUnreachable | NetworkUnreachable | Interrupted
            ) =>
        {
            Ok(())
        }
        Err(error) if error.raw_os_error() == Some(ENOBUFS) => Ok(()),
        other => other,
    }
}

/// The interface's queue is full: Linux's number, for which the standard library has no kind.
const ENOBUFS: i32 = 105;
