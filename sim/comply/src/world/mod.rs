//! Endpoints, the planes between them, and time: virtual or real.
//!
//! Tests see one face: ends with an endpoint and memory, ways with faults, and `step`. Whether packets travel through a
//! heap of events or through sockets is in `virtual_time.rs` and `sockets.rs`; both carry real bytes.

mod sockets;
mod virtual_time;

use crate::impairment::{Way, WayCounts};
use osprey_hls::endpoint::{Config, Endpoint, Region, Rights};
use osprey_hls::wire::{PlaneAddress, RemoteRegion};
use osprey_host::udp::{Buffers, UdpError};
use std::net::SocketAddrV4;
use std::rc::Rc;
use std::{cell::RefCell, time::Duration};

/// What is put under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Behavioural endpoints in virtual time.
    Model,
    /// Software NICs over loopback sockets, in this process.
    Soft,
    /// A software NIC here, and an implementation elsewhere that serves (see `docs/compliance.md`).
    Mixed,
}

impl Target {
    /// Name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Soft => "soft",
            Self::Mixed => "mixed",
        }
    }
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
    fn configure(&self, config: &mut Config) {
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
pub(crate) type Ways = Rc<RefCell<Vec<Vec<Way>>>>;

/// How packets travel.
enum Carrier {
    Virtual(Box<virtual_time::VirtualTime>),
    Sockets(sockets::Sockets),
}

/// A world of a test.
pub struct World {
    /// What is under test.
    pub target: Target,
    ways: Ways,
    carrier: Carrier,
}

impl World {
    /// A world of NICs. Of a `mixed` one only the first is here; the other is at `peer`.
    pub fn new(
        target: Target,
        nics: &[Nic],
        peer: &[SocketAddrV4],
        seed: u64,
    ) -> Result<Self, UdpError> {
        let way = |end: usize, plane: u8| {
            Way::new(seed ^ (end as u64 + 1) << 32 ^ u64::from(plane) << 16)
        };
        let of = |(end, nic): (usize, &Nic)| (0..nic.planes).map(|plane| way(end, plane)).collect();
        let ways: Ways = Rc::new(RefCell::new(nics.iter().enumerate().map(of).collect()));
        let carrier = match target {
            Target::Model => Carrier::Virtual(Box::new(virtual_time::VirtualTime::new(
                nics,
                ways.clone(),
                seed,
            )?)),
            Target::Soft => Carrier::Sockets(sockets::Sockets::new(nics, ways.clone(), seed)?),
            Target::Mixed => Carrier::Sockets(sockets::Sockets::facing(
                &nics[0],
                peer,
                ways.clone(),
                seed,
            )?),
        };
        Ok(Self {
            target,
            ways,
            carrier,
        })
    }

    /// Whether an end is in this process.
    pub fn is_here(&self, end: usize) -> bool {
        self.target != Target::Mixed || end == 0
    }

    /// Microseconds: of virtual time in a model, else of real time, which is as long for a test as a machine is slow.
    pub fn now_us(&self) -> f64 {
        match &self.carrier {
            Carrier::Virtual(carrier) => carrier.now_ns() as f64 / 1e3,
            Carrier::Sockets(carrier) => carrier.now_ns() as f64 / 1e3,
        }
    }

    /// The endpoint's time, nanoseconds.
    pub fn now_ns(&self, end: usize) -> u64 {
        match &self.carrier {
            Carrier::Virtual(carrier) => carrier.now_ns(),
            Carrier::Sockets(carrier) => carrier.nic_now_ns(end),
        }
    }

    /// Moves time on, a little.
    pub fn step(&mut self) -> Result<(), UdpError> {
        match &mut self.carrier {
            Carrier::Virtual(carrier) => carrier.step(),
            Carrier::Sockets(carrier) => carrier.step(Duration::from_micros(200))?,
        }
        Ok(())
    }

    /// The endpoint of an end that is here.
    pub fn endpoint(&mut self, end: usize) -> &mut Endpoint {
        match &mut self.carrier {
            Carrier::Virtual(carrier) => carrier.endpoint(end),
            Carrier::Sockets(carrier) => carrier.endpoint(end),
        }
    }

    /// The memory of an end that is here.
    pub fn memory(&mut self, end: usize) -> &mut Buffers {
        match &mut self.carrier {
            Carrier::Virtual(carrier) => carrier.memory(end),
            Carrier::Sockets(carrier) => carrier.memory(end),
        }
    }

    /// Where an end is reached.
    pub fn addresses(&self, end: usize) -> Vec<PlaneAddress> {
        match &self.carrier {
            Carrier::Virtual(carrier) => carrier.addresses(end),
            Carrier::Sockets(carrier) => carrier.addresses(end),
        }
    }

    /// Memory of `length` bytes that peers may use.
    pub fn register(&mut self, end: usize, length: usize, rights: Rights) -> Option<RemoteRegion> {
        let address = self.memory(end).allocate(length);
        let region = Region {
            address,
            length: length as u64,
            rights,
        };
        let key = self.endpoint(end).register(region).ok()?;
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
        match &mut self.carrier {
            Carrier::Virtual(carrier) => carrier.inject(end, plane, bytes),
            Carrier::Sockets(carrier) => carrier.inject(end, plane, bytes)?,
        }
        Ok(())
    }

    /// Addresses that a datagram of [`Self::inject`] bears: source and destination, for its CRC.
    pub fn injection_addresses(&self, end: usize, plane: u8) -> (SocketAddrV4, SocketAddrV4) {
        match &self.carrier {
            Carrier::Virtual(carrier) => carrier.injection_addresses(end, plane),
            Carrier::Sockets(carrier) => carrier.injection_addresses(end, plane),
        }
    }

    /// Datagrams that an end found to be no packets.
    pub fn refused(&self, end: usize) -> u64 {
        match &self.carrier {
            Carrier::Virtual(carrier) => carrier.refused(end),
            Carrier::Sockets(carrier) => carrier.refused(end),
        }
    }
}
