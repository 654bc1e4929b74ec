//! Connections: what the library remembers, and how one is put into the engine's tables (T-6.5).

use super::completion_queue::{CompletionQueue, SendQueue};
use super::{CallerError, CloseReason, Config, ConnectionState, ProtectionDomain, Settled};
use crate::device::{Device, DeviceError, FreeList, write_table};
use osprey_hls::regs::table;
use osprey_hls::wire::{ConnectionId, Incarnation, Offer, PathId, PlaneAddress, RemoteRegion};
use rand::Rng;
use std::collections::BTreeMap;

/// Least UDP source port that is drawn for a path: the dynamic range.
const ENTROPY_MIN: u16 = 0xc000;

/// Names a connection of a NIC; of a later life of the same number it names nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionHandle {
    number: u32,
    serial: u32,
}

impl ConnectionHandle {
    pub(crate) const fn new(number: u32, serial: u32) -> Self {
        Self { number, serial }
    }

    /// Number of the connection in its NIC.
    pub const fn number(self) -> u32 {
        self.number
    }
}

/// What is known of the peer.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    pub(super) connection: ConnectionId,
    pub(super) incarnation: Incarnation,
    pub(super) planes: Vec<PlaneAddress>,
    pub(super) regions: Vec<RemoteRegion>,
}

impl Peer {
    pub(super) fn of(offer: &Offer) -> Self {
        Self {
            connection: offer.connection,
            incarnation: offer.incarnation,
            planes: offer.planes.clone(),
            regions: offer.regions.clone(),
        }
    }
}

/// Repetition of a set-up message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Retry {
    /// How often it was sent.
    pub(super) attempts: u32,
    /// Device time of the next time, units of 128 ns.
    pub(super) due: u32,
}

/// A connection.
#[derive(Debug, Clone)]
pub(super) struct Connection {
    pub(super) handle: ConnectionHandle,
    pub(super) number: ConnectionId,
    pub(super) domain: ProtectionDomain,
    pub(super) state: ConnectionState,
    /// Of the HELLO or BYE that is out, or of the HELLO that was answered.
    pub(super) transaction: u32,
    /// What was said in HELLO (initiator) or ACCEPT (responder).
    pub(super) offer: Offer,
    pub(super) initiator: bool,
    pub(super) settled: Option<Settled>,
    pub(super) peer: Option<Peer>,
    /// Where HELLO goes, before the peer has stated its addresses.
    pub(super) hello_to: Vec<PlaneAddress>,
    pub(super) retry: Option<Retry>,
    pub(super) send: SendQueue,
    pub(super) completions: CompletionQueue,
}

impl Connection {
    /// Ends the connection on this side: nothing posted stays without a completion.
    pub(super) fn close(&mut self, reason: CloseReason) {
        self.state = ConnectionState::Closed(reason);
        self.retry = None;
        self.send.flush();
    }
}

/// All connections of a context.
#[derive(Debug, Clone)]
pub(super) struct Connections {
    free: FreeList,
    by_number: BTreeMap<u32, Connection>,
    serial: u32,
}

impl Connections {
    /// Numbers 1 to `count` - 1 are free; 0 is the CONTROL channel's.
    pub(super) fn new(count: u32) -> Self {
        Self {
            free: FreeList::new(1, count),
            by_number: BTreeMap::new(),
            serial: 0,
        }
    }

    /// Takes a number.
    pub(super) fn reserve(&mut self) -> Result<ConnectionHandle, CallerError> {
        let number = self.free.take(1).ok_or(CallerError::NoConnection)?;
        self.serial += 1;
        Ok(ConnectionHandle::new(number, self.serial))
    }

    pub(super) fn insert(&mut self, connection: Connection) {
        let before = self.by_number.insert(connection.handle.number, connection);
        assert!(before.is_none(), "a reserved number was in use");
    }

    pub(super) fn remove(&mut self, handle: ConnectionHandle) -> Result<Connection, CallerError> {
        self.get_mut(handle)?;
        self.free.give(handle.number, 1);
        self.by_number
            .remove(&handle.number)
            .ok_or(CallerError::NoSuchConnection)
    }

    /// Takes a connection out to be changed; its number stays reserved for [`Self::insert`].
    pub(super) fn take(&mut self, handle: ConnectionHandle) -> Result<Connection, CallerError> {
        self.get_mut(handle)?;
        self.by_number
            .remove(&handle.number)
            .ok_or(CallerError::NoSuchConnection)
    }

    /// Gives a reserved number back that no connection was made for.
    pub(super) fn unreserve(&mut self, handle: ConnectionHandle) {
        self.free.give(handle.number, 1);
    }

    pub(super) fn get(&self, handle: ConnectionHandle) -> Result<&Connection, CallerError> {
        let found = self
            .by_number
            .get(&handle.number)
            .filter(|found| found.handle == handle);
        found.ok_or(CallerError::NoSuchConnection)
    }

    pub(super) fn get_mut(
        &mut self,
        handle: ConnectionHandle,
    ) -> Result<&mut Connection, CallerError> {
        let found = self
            .by_number
            .get_mut(&handle.number)
            .filter(|found| found.handle == handle);
        found.ok_or(CallerError::NoSuchConnection)
    }

    pub(super) fn by_number(&mut self, number: ConnectionId) -> Option<&mut Connection> {
        self.by_number.get_mut(&number.value())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Connection> {
        self.by_number.values()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Connection> {
        self.by_number.values_mut()
    }

    /// Highest number in use + 1.
    pub(super) fn end(&self) -> u32 {
        self.by_number
            .keys()
            .next_back()
            .map_or(1, |number| number + 1)
    }
}

/// Puts an agreed connection into the engine: ROUTE, PATH, CLEAR, then CONNECTION with its enable bits.
///
/// # Panics
/// When nothing was settled yet: an error of this library.
pub(super) fn activate<D: Device + ?Sized>(
    device: &mut D,
    connection: &Connection,
    config: &Config,
    rng: &mut impl Rng,
) -> Result<(), DeviceError> {
    let (settled, peer) = (
        connection.settled.expect("settled"),
        connection.peer.as_ref().expect("peer known"),
    );
    let number = connection.number.value();
    for (plane, address) in peer.planes.iter().enumerate() {
        let [low, high] = address.mac.to_words();
        let mut words = [0; 16];
        table::route::MAC_LOW.set(&mut words, low.into());
        table::route::MAC_HIGH.set(&mut words, high.into());
        table::route::IPV4.set(&mut words, address.ipv4.to_word().into());
        write_table(device, &table::ROUTE, number * 4 + plane as u32, &words)?;
    }
    let mut mask = 0_u32;
    for path in (0..settled.planes)
        .flat_map(|p| (0..settled.paths_per_plane).map(move |k| PathId::new(p, k)))
    {
        mask |= 1 << path.0;
        // One eighth of the range a path keeps the ports of a plane apart.
        let span = (u16::MAX - ENTROPY_MIN) / u16::from(PathId::PER_PLANE);
        let entropy = ENTROPY_MIN + u16::from(path.k()) * span + rng.random_range(0..span);
        let mut words = [0; 16];
        table::path::ENTROPY.set(&mut words, entropy.into());
        write_table(
            device,
            &table::PATH,
            number << 5 | u32::from(path.0),
            &words,
        )?;
    }
    let (mut words, first) = ([0; 16], config.first_numbers);
    table::clear::PSN.set(&mut words, first.psn.into());
    table::clear::EPOCH.set(&mut words, first.epoch.into());
    table::clear::ORDINAL.set(&mut words, first.ordinal.into());
    write_table(device, &table::CLEAR, number, &words)?;
    let mut words = [0; 16];
    table::connection::RECEIVE_ENABLE.set(&mut words, 1);
    table::connection::SEND_ENABLE.set(&mut words, 1);
    table::connection::MTU_SHIFT.set(&mut words, settled.mtu.ilog2().into());
    set_rings(&mut words, &connection.send, &connection.completions);
    table::connection::PATHS.set(&mut words, mask.into());
    table::connection::PEER_CONNECTION.set(&mut words, peer.connection.value().into());
    table::connection::LOCAL_INCARNATION.set(&mut words, connection.offer.incarnation.0.into());
    table::connection::PEER_INCARNATION.set(&mut words, peer.incarnation.0.into());
    table::connection::PATH_WINDOW.set(&mut words, config.path_window.into());
    write_table(device, &table::CONNECTION, number, &words)
}

/// The ring fields of a CONNECTION entry.
pub(super) fn set_rings(words: &mut [u32; 16], send: &SendQueue, completions: &CompletionQueue) {
    table::connection::SEND_RING_ENTRIES.set(words, send.ring.log2_entries().into());
    table::connection::COMPLETION_RING_ENTRIES.set(words, completions.log2_entries().into());
    table::connection::SEND_RING_ADDRESS.set(words, send.bus_address());
    table::connection::COMPLETION_RING_ADDRESS.set(words, completions.bus_address());
}

/// Takes a connection out of service in the engine.
pub(super) fn deactivate<D: Device + ?Sized>(
    device: &mut D,
    number: ConnectionId,
) -> Result<(), DeviceError> {
    write_table(device, &table::CONNECTION, number.value(), &[0; 16])
}
