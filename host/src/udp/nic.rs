//! A NIC in software: the endpoint, its sockets, its memory and the clock, joined by one loop.
//!
//! [`UdpNic::progress`] is the loop's body: what has arrived, what is due, what can leave. Nothing else moves packets, so
//! an application calls it often, or lets it wait.

use super::codec::{decode, encode};
use super::sockets::{Received, Sockets};
use super::{Buffers, UdpSettings, plane_address, socket_address};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use osprey_hls::endpoint::{Arrival, ConfigError, Endpoint, PostError, Region, Rights, Transmit};
use osprey_hls::wire::{CRC_LEN, Key, PlaneAddress, RemoteRegion};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::net::SocketAddrV4;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Packets that leave by a plane before arrivals are looked at again.
const SENDS_MAX: usize = 64;
/// Times that the loop looks again before it lets the kernel wake it: a wake-up costs more than a packet.
const SPINS: u32 = 200;

/// Why a software NIC does not work.
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
    /// The endpoint refuses a request.
    #[error(transparent)]
    Post(#[from] PostError),
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
    out: Transmit,
    loss: f64,
    random: ChaCha8Rng,
    /// Datagrams that were no packets.
    refused: u64,
}

impl UdpNic {
    /// Binds the planes.
    pub fn open(settings: &UdpSettings) -> Result<Self, UdpError> {
        let mut settings = settings.clone();
        let mut planes = Vec::new();
        let poll = Poll::new()?;
        for (index, address) in settings.planes.iter_mut().enumerate() {
            if address.ip().is_unspecified() {
                return Err(UdpError::Wildcard(*address));
            }
            let plane = Sockets::bind(*address).map_err(|source| UdpError::Bind {
                address: *address,
                source,
            })?;
            *address = plane.local();
            let descriptor = plane.descriptor().as_raw_fd();
            poll.registry().register(
                &mut SourceFd(&descriptor),
                Token(index),
                Interest::READABLE,
            )?;
            planes.push(plane);
        }
        Ok(Self {
            endpoint: Endpoint::new(settings.config()?, settings.seed)?,
            buffers: Buffers::default(),
            planes,
            begun: Instant::now(),
            poll,
            events: Events::with_capacity(16),
            out: Transmit::default(),
            loss: settings.loss,
            random: ChaCha8Rng::seed_from_u64(settings.seed),
            refused: 0,
        })
    }

    /// Nanoseconds since the NIC was opened: the endpoint's time.
    pub fn now(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64
    }

    /// The addresses that peers connect to.
    pub fn addresses(&self) -> Vec<PlaneAddress> {
        self.planes
            .iter()
            .map(|plane| plane_address(plane.local()))
            .collect()
    }

    /// Datagrams that were no packets, the CRC's included.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// A buffer of `length` bytes that peers may use as `rights` say: what they need to know of it.
    pub fn register(&mut self, length: usize, rights: Rights) -> Result<RemoteRegion, UdpError> {
        let address = self.buffers.allocate(length);
        let region = Region {
            address,
            length: length as u64,
            rights,
        };
        match self.endpoint.register(region) {
            Ok(key) => Ok(RemoteRegion {
                address,
                length: length as u64,
                key,
            }),
            Err(error) => {
                self.buffers.release(address);
                Err(error.into())
            }
        }
    }

    /// Takes a buffer back: its key fails from now on, its bytes are gone.
    pub fn deregister(&mut self, region: &RemoteRegion) -> Result<(), UdpError> {
        let key: Key = region.key;
        self.endpoint.deregister(key)?;
        self.buffers.release(region.address);
        Ok(())
    }

    /// Moves everything along. With nothing to do it waits for at most `wait`; returns whether anything moved.
    pub fn progress(&mut self, wait: Duration) -> Result<bool, UdpError> {
        for _ in 0..SPINS {
            if self.turn()? {
                return Ok(true);
            }
            if wait.is_zero() {
                return Ok(false);
            }
            std::hint::spin_loop();
        }
        let now = self.now();
        let due = self
            .endpoint
            .poll_timeout()
            .map(|at| Duration::from_nanos(at.saturating_sub(now)));
        let wait = due.map_or(wait, |due| due.min(wait));
        match self.poll.poll(&mut self.events, Some(wait)) {
            Err(error) if error.kind() != std::io::ErrorKind::Interrupted => {
                return Err(error.into());
            }
            _ => {}
        }
        self.turn()
    }

    /// One turn: arrivals, timers, departures.
    fn turn(&mut self) -> Result<bool, UdpError> {
        let mut moved = false;
        for plane in 0..self.planes.len() {
            moved |= self.receive(plane)? > 0;
        }
        let now = self.now();
        if self.endpoint.poll_timeout().is_some_and(|due| due <= now) {
            self.endpoint.handle_timeout(now);
        }
        for plane in 0..self.planes.len() {
            moved |= self.send(plane)? > 0;
        }
        Ok(moved)
    }

    fn receive(&mut self, plane: usize) -> Result<usize, UdpError> {
        let now = self.begun.elapsed().as_nanos() as u64;
        let local = self.planes[plane].local();
        let (endpoint, buffers, refused) =
            (&mut self.endpoint, &mut self.buffers, &mut self.refused);
        let take = |received: Received<'_>| match decode(received.bytes, received.source, local) {
            Ok((packet, payload)) => {
                let arrival = Arrival {
                    plane: plane as u8,
                    source: plane_address(received.source),
                    entropy: received.source.port(),
                    marked: received.marked,
                };
                endpoint.handle_packet(now, &arrival, &packet, payload, buffers);
            }
            Err(_) => *refused += 1,
        };
        Ok(self.planes[plane].receive(take)?)
    }

    fn send(&mut self, plane: usize) -> Result<usize, UdpError> {
        let mut count = 0;
        while count < SENDS_MAX {
            let now = self.now();
            if !self.endpoint.poll_transmit(now, plane as u8, &mut self.out) {
                break;
            }
            count += 1;
            if self.loss > 0.0 && self.random.random_bool(self.loss) {
                continue;
            }
            let (out, buffers) = (&self.out, &self.buffers);
            let destination = socket_address(&out.destination);
            let length = out.packet.header_len() + out.packet.payload_len() + CRC_LEN;
            let fill = |batch: &mut Vec<u8>, local| {
                encode(
                    batch,
                    &out.packet,
                    &out.payload,
                    local,
                    destination,
                    |address, bytes| {
                        // A request of a buffer that is gone sends zeros; its completion is the peer's to refuse.
                        if let Ok(held) = buffers.get(address, bytes.len()) {
                            bytes.copy_from_slice(held);
                        }
                    },
                );
            };
            tolerate(self.planes[plane].queue(out.entropy, destination, length, fill))?;
        }
        tolerate(self.planes[plane].flush())?;
        Ok(count)
    }
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
