//! Ends, the planes between them, and time: virtual or real.
//!
//! Tests see one face: ends with memory, ways with faults, and `step`. Whether packets travel through a heap of events
//! or through sockets is in `virtual_time.rs` and `sockets.rs`; a world with a verilated engine is supplied by who links
//! one ([`Engine`]). All carry real bytes.

mod end;
mod sockets;
mod virtual_time;

pub use end::{End, Store};

use crate::case::{Context, Failure};
use crate::impairment::{Way, WayCounts};
use osprey_hls::endpoint::{Config, Endpoint, Region, Rights};
use osprey_hls::wire::{PlaneAddress, RemoteRegion};
use osprey_host::udp::UdpError;
use std::cell::RefCell;
use std::net::SocketAddrV4;
use std::rc::Rc;

/// What is put under test.
#[derive(Debug, Clone, Copy)]
pub enum Target {
    /// Behavioural endpoints in virtual time.
    Model,
    /// Software NICs over loopback sockets, in this process.
    Soft,
    /// A software NIC here, and an implementation elsewhere that serves (see `docs/compliance.md`).
    Mixed,
    /// A verilated engine and a behavioural endpoint, in the engine's cycles.
    Rtl(Engine),
}

/// Opens a world of NICs in which the engine is this end, with these ways and a seed.
pub type Open = fn(usize, &[Nic], Ways, u64) -> Result<Box<dyn Carrier>, Failure>;

/// A verilated engine as one end of a world. This crate has none: the one who links it says how to open it.
#[derive(Debug, Clone, Copy)]
pub struct Engine {
    /// The end that it is: 0 asks for connections and sends, 1 accepts and receives.
    pub end: usize,
    /// How.
    pub open: Open,
    /// What it offers in place of what a test would like of a NIC.
    pub nearest: fn(Nic) -> Nic,
}

impl Target {
    /// Name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Soft => "soft",
            Self::Mixed => "mixed",
            Self::Rtl(Engine { end: 0, .. }) => "rtl-sends",
            Self::Rtl(_) => "rtl-receives",
        }
    }

    /// Whether time is virtual and a run repeats exactly.
    pub const fn is_virtual(self) -> bool {
        matches!(self, Self::Model | Self::Rtl(_))
    }

    /// Whether the other end is in another process.
    pub const fn is_mixed(self) -> bool {
        matches!(self, Self::Mixed)
    }

    /// The end that is an engine, if one is.
    pub const fn engine(self) -> Option<usize> {
        match self {
            Self::Rtl(engine) => Some(engine.end),
            _ => None,
        }
    }
}

/// What a sender says of one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathView {
    /// Plane of the path.
    pub plane: u8,
    /// DATA packets sent, resends included.
    pub sent: u64,
    /// DATA packets found to be lost.
    pub lost: u64,
    /// Packets in flight or waiting to be sent again, where that can be seen.
    pub out: Option<u32>,
    /// Window, packets x 2^10, where there is one that changes.
    pub window_q10: Option<u32>,
}

/// One NIC of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nic {
    /// Planes.
    pub planes: u8,
    /// Paths a plane.
    pub paths: u8,
    /// W.
    pub window: u16,
    /// Payload of a packet, bytes.
    pub mtu: u16,
    /// Streams of a connection.
    pub streams: u16,
    /// Message slots of a stream.
    pub slots: u16,
    /// Versions that it speaks.
    pub versions: (u8, u8),
    /// Features that it offers.
    pub features: u32,
}

impl Default for Nic {
    fn default() -> Self {
        Self {
            planes: 2,
            paths: 8,
            window: 64,
            mtu: 4_096,
            streams: 4,
            slots: 64,
            versions: (1, 1),
            features: 0,
        }
    }
}

impl Nic {
    /// Puts the test's wishes into a configuration.
    pub fn configure(&self, config: &mut Config) {
        config.paths_per_plane = self.paths;
        config.window = self.window;
        config.mtu = self.mtu;
        config.packet_wire_bytes = u32::from(self.mtu) + 98;
        config.streams = self.streams;
        config.slots = self.slots;
        config.handshake.version_min = self.versions.0;
        config.handshake.version_max = self.versions.1;
        config.handshake.features = self.features;
        config.events_max = 1 << 14;
    }
}

/// Ways by (end that sends, plane).
pub type Ways = Rc<RefCell<Vec<Vec<Way>>>>;

/// Ends, and how packets travel between them.
pub trait Carrier {
    /// Time of the world, nanoseconds.
    fn now_ns(&self) -> u64;
    /// Time of an end, nanoseconds.
    fn end_now_ns(&self, _end: usize) -> u64 {
        self.now_ns()
    }
    /// Moves time on, a little.
    fn step(&mut self) -> Result<(), Failure>;
    /// An end that is here.
    fn end(&mut self, end: usize) -> &mut dyn End;
    /// Its memory.
    fn memory(&mut self, end: usize) -> &mut dyn Store;
    /// Where an end is reached.
    fn addresses(&self, end: usize) -> Vec<PlaneAddress>;
    /// Datagrams that an end found to be no packets.
    fn refused(&mut self, end: usize) -> u64;
    /// Addresses that a datagram of [`Self::inject`] bears: source and destination.
    fn injection_addresses(&self, end: usize, plane: u8) -> (SocketAddrV4, SocketAddrV4);
    /// Sends raw bytes to an end's plane, as somebody else's datagram.
    fn inject(&mut self, end: usize, plane: u8, bytes: &[u8]) -> Result<(), UdpError>;
    /// Rules that something here has broken whatever the test, such as those of a bus.
    fn violations(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A world of a test.
pub struct World {
    /// What is under test.
    pub target: Target,
    ways: Ways,
    carrier: Box<dyn Carrier>,
}

impl World {
    /// A world of NICs. Of a `mixed` one only the first is here; the other is at the peer's addresses.
    pub fn new(context: &Context, nics: &[Nic]) -> Result<Self, Failure> {
        let (target, seed) = (context.target, context.seed);
        let way = |end: usize, plane: u8| {
            Way::new(seed ^ (end as u64 + 1) << 32 ^ u64::from(plane) << 16)
        };
        let of = |(end, nic): (usize, &Nic)| (0..nic.planes).map(|plane| way(end, plane)).collect();
        let ways: Ways = Rc::new(RefCell::new(nics.iter().enumerate().map(of).collect()));
        let carried = ways.clone();
        let carrier: Box<dyn Carrier> = match target {
            Target::Model => Box::new(virtual_time::VirtualTime::new(nics, carried, seed)?),
            Target::Soft => Box::new(sockets::Sockets::new(nics, carried, seed)?),
            Target::Mixed => Box::new(sockets::Sockets::facing(
                &nics[0],
                &context.peer,
                carried,
                seed,
            )?),
            Target::Rtl(engine) => (engine.open)(engine.end, nics, carried, seed)?,
        };
        Ok(Self {
            target,
            ways,
            carrier,
        })
    }

    /// Whether an end is in this process.
    pub fn is_here(&self, end: usize) -> bool {
        !self.target.is_mixed() || end == 0
    }

    /// Microseconds: of virtual time, or of real time, which is as long for a test as a machine is slow.
    pub fn now_us(&self) -> f64 {
        self.carrier.now_ns() as f64 / 1e3
    }

    /// The end's time, nanoseconds.
    pub fn now_ns(&self, end: usize) -> u64 {
        self.carrier.end_now_ns(end)
    }

    /// Moves time on, a little.
    pub fn step(&mut self) -> Result<(), Failure> {
        self.carrier.step()
    }

    /// An end that is here.
    pub fn end(&mut self, end: usize) -> &mut dyn End {
        self.carrier.end(end)
    }

    /// An end that is an endpoint; a test that needs one is skipped where it is none.
    pub fn behavioural(&mut self, end: usize) -> Result<&mut Endpoint, Failure> {
        let found = self.carrier.end(end).behavioural();
        found.ok_or_else(|| Failure::Skip(format!("looks into end {end}, which is an engine")))
    }

    /// The memory of an end that is here.
    pub fn memory(&mut self, end: usize) -> &mut dyn Store {
        self.carrier.memory(end)
    }

    /// Where an end is reached.
    pub fn addresses(&self, end: usize) -> Vec<PlaneAddress> {
        self.carrier.addresses(end)
    }

    /// Memory of `length` bytes that peers may use.
    pub fn register(&mut self, end: usize, length: usize, rights: Rights) -> Option<RemoteRegion> {
        let address = self.memory(end).allocate(length);
        let region = Region {
            address,
            length: length as u64,
            rights,
        };
        let key = self.end(end).register(region).ok()?;
        Some(RemoteRegion {
            address,
            length: length as u64,
            key,
        })
    }

    /// Changes what happens to packets that `end` sends by `plane`; in a mixed world the peer is end 1.
    pub fn impair(
        &mut self,
        end: usize,
        plane: u8,
        change: impl FnOnce(&mut crate::impairment::Impairment),
    ) {
        if let Some(way) = self
            .ways
            .borrow_mut()
            .get_mut(end)
            .and_then(|ways| ways.get_mut(usize::from(plane)))
        {
            change(&mut way.impairment);
        }
    }

    /// What a way did.
    pub fn counts(&self, end: usize, plane: u8) -> WayCounts {
        self.ways.borrow()[end][usize::from(plane)].counts
    }

    /// Sum of what an end's ways did.
    pub fn counts_of(&self, end: usize) -> WayCounts {
        let mut sum = WayCounts::default();
        for way in &self.ways.borrow()[end] {
            sum.data += way.counts.data;
            sum.all += way.counts.all;
            sum.data_lost += way.counts.data_lost;
            sum.lost += way.counts.lost;
            sum.doubled += way.counts.doubled;
            sum.flipped += way.counts.flipped;
            sum.marked += way.counts.marked;
        }
        sum
    }

    /// Sends raw bytes to an end's plane, as somebody else's datagram.
    pub fn inject(&mut self, end: usize, plane: u8, bytes: &[u8]) -> Result<(), UdpError> {
        self.carrier.inject(end, plane, bytes)
    }

    /// Addresses that a datagram of [`Self::inject`] bears: source and destination, for its CRC.
    pub fn injection_addresses(&self, end: usize, plane: u8) -> (SocketAddrV4, SocketAddrV4) {
        self.carrier.injection_addresses(end, plane)
    }

    /// Datagrams that an end found to be no packets.
    pub fn refused(&mut self, end: usize) -> u64 {
        self.carrier.refused(end)
    }

    /// Rules that something here has broken whatever the test.
    pub fn violations(&self) -> Vec<String> {
        self.carrier.violations()
    }
}
