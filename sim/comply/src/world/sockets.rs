//! Software NICs over loopback sockets, and real time; faults are made at their edges.

use super::{Carrier, End, Nic, Store, Ways};
use crate::case::Failure;
use osprey_hls::wire::PlaneAddress;
use osprey_host::udp::{
    Direction, Fate, UdpError, UdpNic, UdpSettings, plane_address, socket_address,
};
use osprey_host::verbs::Nic as _;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::time::{Duration, Instant};

/// How long a turn in which nothing moved waits.
const WAIT: Duration = Duration::from_micros(200);

/// NICs of this process, and where the one elsewhere is.
#[derive(Debug)]
pub(super) struct Sockets {
    begun: Instant,
    nics: Vec<UdpNic>,
    /// The implementation elsewhere, if there is one.
    peer: Vec<SocketAddrV4>,
    /// Sends what a stranger would.
    stranger: UdpSocket,
}

fn open(nic: &Nic, seed: u64) -> Result<UdpNic, UdpError> {
    let planes = (0..nic.planes)
        .map(|plane| SocketAddrV4::new(Ipv4Addr::new(127, 0, 0, 1 + plane), 0))
        .collect();
    let settings = UdpSettings {
        paths_per_plane: nic.paths,
        mtu: nic.mtu,
        ..UdpSettings::new(planes, seed)
    };
    let mut config = settings.config()?;
    nic.configure(&mut config);
    UdpNic::with_config(&settings.planes, config, seed)
}

impl Sockets {
    /// All NICs are here.
    pub(super) fn new(nics: &[Nic], ways: Ways, seed: u64) -> Result<Self, UdpError> {
        let mut opened = Vec::new();
        for (end, nic) in nics.iter().enumerate() {
            let mut nic = open(nic, seed.wrapping_add(end as u64 * 0x9e37_79b9))?;
            let ways = ways.clone();
            nic.set_edge(Box::new(
                move |direction, plane, packet, _| match direction {
                    Direction::Out => ways.borrow_mut()[end][usize::from(plane)].decide(packet),
                    Direction::In => Fate::Pass,
                },
            ));
            opened.push(nic);
        }
        Self::of(opened, Vec::new())
    }

    /// One NIC is here; what the other sends is impaired where it arrives.
    pub(super) fn facing(
        nic: &Nic,
        peer: &[SocketAddrV4],
        ways: Ways,
        seed: u64,
    ) -> Result<Self, UdpError> {
        let mut opened = open(nic, seed)?;
        opened.set_edge(Box::new(move |direction, plane, packet, _| {
            let end = usize::from(direction == Direction::In);
            ways.borrow_mut()[end][usize::from(plane)].decide(packet)
        }));
        Self::of(vec![opened], peer.to_vec())
    }

    fn of(nics: Vec<UdpNic>, peer: Vec<SocketAddrV4>) -> Result<Self, UdpError> {
        let stranger = UdpSocket::bind(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
        Ok(Self {
            begun: Instant::now(),
            nics,
            peer,
            stranger,
        })
    }
}

impl Carrier for Sockets {
    fn now_ns(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64
    }

    fn end_now_ns(&self, end: usize) -> u64 {
        self.nics[end].now()
    }

    fn end(&mut self, end: usize) -> &mut dyn End {
        &mut self.nics[end].endpoint
    }

    fn memory(&mut self, end: usize) -> &mut dyn Store {
        &mut self.nics[end].buffers
    }

    fn addresses(&self, end: usize) -> Vec<PlaneAddress> {
        match self.nics.get(end) {
            Some(nic) => nic.addresses(),
            None => self
                .peer
                .iter()
                .map(|address| plane_address(*address))
                .collect(),
        }
    }

    fn refused(&mut self, end: usize) -> u64 {
        self.nics[end].refused()
    }

    /// A turn of every NIC; waits for a moment if nothing moved.
    fn step(&mut self) -> Result<(), Failure> {
        let mut moved = false;
        for nic in &mut self.nics {
            moved |= nic.progress(Duration::ZERO).map_err(UdpError::from)?;
        }
        if !moved {
            self.nics[0].progress(WAIT).map_err(UdpError::from)?;
        }
        Ok(())
    }

    fn injection_addresses(&self, end: usize, plane: u8) -> (SocketAddrV4, SocketAddrV4) {
        let port = self
            .stranger
            .local_addr()
            .map_or(0, |address| address.port());
        let destination = socket_address(&self.addresses(end)[usize::from(plane)]);
        (SocketAddrV4::new(Ipv4Addr::LOCALHOST, port), destination)
    }

    fn inject(&mut self, end: usize, plane: u8, bytes: &[u8]) -> Result<(), UdpError> {
        let (_, destination) = self.injection_addresses(end, plane);
        self.stranger.send_to(bytes, destination)?;
        Ok(())
    }
}
