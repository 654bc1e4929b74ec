//! Endpoints in virtual time: a heap of events, planes with a rate, a delay and a queue before each port, datagrams of
//! real bytes. Senders that compete meet in that queue; it marks, and drops when it is full.

use super::{Carrier, End, Nic, Store, Ways};
use crate::case::Failure;
use osprey_hls::endpoint::{Arrival, Config, Endpoint, Packet, Transmit};
use osprey_hls::wire::PlaneAddress;
use osprey_host::udp::codec::{decode, encode};
use osprey_host::udp::{Buffers, Fate, UdpError, flip, plane_address, socket_address};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::net::{Ipv4Addr, SocketAddrV4};

/// Time of a byte on a plane, picoseconds: 100 Gb/s.
const PS_PER_BYTE: u64 = 80;
/// From port to port, nanoseconds.
const DELAY_NS: u64 = 4_000;
/// Bytes around a datagram on the wire: Ethernet, IPv4, UDP, check sequence, preamble and gap.
const OVERHEAD_BYTES: u64 = 14 + 20 + 8 + 4 + 20;
/// Queue before a port from which on packets are marked, bytes.
const MARK_BYTES: u64 = 50_000;
/// Queue before a port that drops, bytes.
const QUEUE_BYTES: u64 = 175_000;
/// Time passes in steps of at most this, so that a test can look.
const STEP_NS: u64 = 1_000;

#[derive(Debug)]
struct Host {
    endpoint: Endpoint,
    memory: Buffers,
    addresses: Vec<SocketAddrV4>,
    port_free_ps: Vec<u64>,
    /// When the line into each port is free.
    into_free_ps: Vec<u64>,
    refused: u64,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Datagram {
    at_ns: u64,
    /// Order of sending: equal times keep it.
    sequence: u64,
    to: usize,
    plane: usize,
    source: SocketAddrV4,
    marked: bool,
    bytes: Vec<u8>,
}

/// Endpoints and what lies between them.
#[derive(Debug)]
pub(super) struct VirtualTime {
    now_ns: u64,
    ends: Vec<Host>,
    ways: Ways,
    under_way: BinaryHeap<Reverse<Datagram>>,
    sequence: u64,
    by_address: BTreeMap<SocketAddrV4, (usize, usize)>,
    out: Transmit,
}

fn address(end: usize, plane: u8) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::new(10, plane, 0, 1 + end as u8), 4792)
}

impl VirtualTime {
    pub(super) fn new(nics: &[Nic], ways: Ways, seed: u64) -> Result<Self, UdpError> {
        let mut ends = Vec::new();
        let mut by_address = BTreeMap::new();
        for (end, nic) in nics.iter().enumerate() {
            let addresses: Vec<SocketAddrV4> =
                (0..nic.planes).map(|plane| address(end, plane)).collect();
            for (plane, address) in addresses.iter().enumerate() {
                by_address.insert(*address, (end, plane));
            }
            let mut config = Config::new(
                addresses
                    .iter()
                    .map(|address| plane_address(*address))
                    .collect(),
            );
            nic.configure(&mut config);
            ends.push(Host {
                endpoint: Endpoint::new(config, seed.wrapping_add(end as u64 * 0x9e37_79b9))?,
                memory: Buffers::default(),
                port_free_ps: vec![0; addresses.len()],
                into_free_ps: vec![0; addresses.len()],
                addresses,
                refused: 0,
            });
        }
        let under_way = BinaryHeap::new();
        Ok(Self {
            now_ns: 0,
            ends,
            ways,
            under_way,
            sequence: 0,
            by_address,
            out: Transmit::default(),
        })
    }

    /// On to the next event, or a step if it is far.
    fn advance(&mut self) {
        self.transmit();
        self.now_ns = self.next_ns().clamp(self.now_ns, self.now_ns + STEP_NS);
        while self
            .under_way
            .peek()
            .is_some_and(|Reverse(first)| first.at_ns <= self.now_ns)
        {
            if let Some(Reverse(datagram)) = self.under_way.pop() {
                self.deliver(&datagram);
            }
        }
        for end in &mut self.ends {
            if end
                .endpoint
                .poll_timeout()
                .is_some_and(|due| due <= self.now_ns)
            {
                end.endpoint.handle_timeout(self.now_ns);
            }
        }
        self.transmit();
    }

    fn next_ns(&self) -> u64 {
        let arrival = self.under_way.peek().map(|Reverse(first)| first.at_ns);
        let timers = self
            .ends
            .iter()
            .filter_map(|end| end.endpoint.poll_timeout());
        let ports = self.ends.iter().flat_map(|end| &end.port_free_ps);
        let busy = ports
            .map(|ps| ps.div_ceil(1_000))
            .filter(|ns| *ns > self.now_ns);
        arrival
            .into_iter()
            .chain(timers)
            .chain(busy)
            .min()
            .unwrap_or(u64::MAX)
    }

    fn transmit(&mut self) {
        for end in 0..self.ends.len() {
            for plane in 0..self.ends[end].addresses.len() {
                while self.ends[end].port_free_ps[plane] <= self.now_ns * 1_000
                    && self.send(end, plane)
                {}
            }
        }
    }

    /// Sends one packet by a port that is free.
    fn send(&mut self, end: usize, plane: usize) -> bool {
        let now = self.now_ns;
        let state = &mut self.ends[end];
        if !state
            .endpoint
            .poll_transmit(now, plane as u8, &mut self.out)
        {
            return false;
        }
        let (source, destination) = (
            state.addresses[plane],
            socket_address(&self.out.destination),
        );
        let mut bytes = Vec::new();
        encode(
            &mut bytes,
            &self.out.packet,
            &self.out.payload,
            source,
            destination,
            |address, into| {
                if let Ok(held) = state.memory.get(address, into.len()) {
                    into.copy_from_slice(held);
                }
            },
        );
        let begun_ps = state.port_free_ps[plane].max(now * 1_000);
        let free_ps = begun_ps + (bytes.len() as u64 + OVERHEAD_BYTES) * PS_PER_BYTE;
        state.port_free_ps[plane] = free_ps;
        let fate = self.ways.borrow_mut()[end][plane].decide(&self.out.packet);
        let source = SocketAddrV4::new(*source.ip(), self.out.entropy);
        let queued = self.queue(free_ps + DELAY_NS * 1_000, destination, bytes.len());
        match queued {
            Some((at_ns, full_enough)) => {
                let fate = if full_enough && fate == Fate::Pass {
                    Fate::Mark
                } else {
                    fate
                };
                self.put_under_way(fate, at_ns, source, destination, bytes);
            }
            None if fate != Fate::Drop => {
                let data = matches!(self.out.packet, Packet::Data(_));
                self.ways.borrow_mut()[end][plane].note_queue_full(data);
            }
            None => {}
        }
        true
    }

    /// Takes a place in the queue before a port: when the packet has passed it, and whether it is marked there.
    fn queue(
        &mut self,
        at_ps: u64,
        destination: SocketAddrV4,
        length: usize,
    ) -> Option<(u64, bool)> {
        let (to, plane) = self.by_address.get(&destination).copied()?;
        let free_ps = &mut self.ends[to].into_free_ps[plane];
        let waits_ps = free_ps.saturating_sub(at_ps);
        let queued = waits_ps / PS_PER_BYTE;
        if queued > QUEUE_BYTES {
            return None;
        }
        *free_ps = at_ps + waits_ps + (length as u64 + OVERHEAD_BYTES) * PS_PER_BYTE;
        Some(((at_ps + waits_ps) / 1_000, queued > MARK_BYTES))
    }

    fn put_under_way(
        &mut self,
        fate: Fate,
        mut at_ns: u64,
        source: SocketAddrV4,
        destination: SocketAddrV4,
        mut bytes: Vec<u8>,
    ) {
        let Some((to, plane)) = self.by_address.get(&destination).copied() else {
            return;
        };
        let (mut marked, mut copies) = (false, 1);
        match fate {
            Fate::Pass => {}
            Fate::Drop => return,
            Fate::Mark => marked = true,
            Fate::Twice => copies = 2,
            Fate::Late(by_ns) => at_ns += by_ns,
            Fate::Flip(bit) => flip(&mut bytes, bit),
        }
        for _ in 0..copies {
            self.sequence += 1;
            let sequence = self.sequence;
            let bytes = bytes.clone();
            self.under_way.push(Reverse(Datagram {
                at_ns,
                sequence,
                to,
                plane,
                source,
                marked,
                bytes,
            }));
        }
    }

    fn deliver(&mut self, datagram: &Datagram) {
        let end = &mut self.ends[datagram.to];
        let local = end.addresses[datagram.plane];
        match decode(&datagram.bytes, datagram.source, local) {
            Ok((packet, payload)) => {
                let arrival = Arrival {
                    plane: datagram.plane as u8,
                    source: plane_address(SocketAddrV4::new(*datagram.source.ip(), 4792)),
                    entropy: datagram.source.port(),
                    marked: datagram.marked,
                };
                end.endpoint.handle_packet(
                    self.now_ns,
                    &arrival,
                    &packet,
                    payload,
                    &mut end.memory,
                );
            }
            Err(_) => end.refused += 1,
        }
    }
}

impl Carrier for VirtualTime {
    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn step(&mut self) -> Result<(), Failure> {
        self.advance();
        Ok(())
    }

    fn end(&mut self, end: usize) -> &mut dyn End {
        &mut self.ends[end].endpoint
    }

    fn memory(&mut self, end: usize) -> &mut dyn Store {
        &mut self.ends[end].memory
    }

    fn addresses(&self, end: usize) -> Vec<PlaneAddress> {
        self.ends[end]
            .addresses
            .iter()
            .map(|address| plane_address(*address))
            .collect()
    }

    fn refused(&mut self, end: usize) -> u64 {
        self.ends[end].refused
    }

    fn injection_addresses(&self, end: usize, plane: u8) -> (SocketAddrV4, SocketAddrV4) {
        let stranger = SocketAddrV4::new(Ipv4Addr::new(10, plane, 0, 99), 50_000);
        (stranger, self.ends[end].addresses[usize::from(plane)])
    }

    fn inject(&mut self, end: usize, plane: u8, bytes: &[u8]) -> Result<(), UdpError> {
        let (source, destination) = self.injection_addresses(end, plane);
        self.put_under_way(
            Fate::Pass,
            self.now_ns + 1,
            source,
            destination,
            bytes.to_vec(),
        );
        Ok(())
    }
}
