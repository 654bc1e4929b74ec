//! The engine and its host library, as a test sees an end. Every access to a register takes its cycles.
//!
//! Memory is one arena in huge pages that the engine may send from; what peers may write are registered parts of it.

use crate::fault::Fault;
use osprey_comply::case::Failure;
use osprey_comply::referee::Finding;
use osprey_comply::world::{End, Nic, PathView, Store};
use osprey_hls::endpoint::{
    Completion, ConnectionState, Counter, Endpoint, PostError, Region, Rights, Settled,
    WorkOperation, WorkRequest,
};
use osprey_hls::regs::{control, counters::Counter as Register};
use osprey_hls::wire::{ConnectionId, Key, PlaneAddress, RemoteRegion};
use osprey_host::bar::Bar;
use osprey_host::dma::{DmaBuffer, DmaMemory, PageSize};
use osprey_host::udp::Buffers;
use osprey_host::verbs::{
    self, CallerError, Config, ConnectionHandle, Context, Error, MemoryRegion, ProtectionDomain,
};
use osprey_sim::hosts::addresses;
use osprey_sim::mixed::Mixed;
use std::collections::{BTreeMap, VecDeque};

/// Bytes of the arena.
const ARENA_BYTES: usize = 32 << 20;
/// Buffers in the arena begin at multiples of this, and have as much between them.
const GAP: usize = 4_096;
/// Highest exponent of either side's back-off: a peer that is gone is given up after about two milliseconds.
pub(crate) const BACKOFF_MAX: u8 = 10;

/// What the engine counts as no packet of the transport, whatever the connection.
const REFUSALS: [Register; 14] = [
    Register::MacError,
    Register::MacAddress,
    Register::Ethertype,
    Register::IpHeader,
    Register::IpChecksum,
    Register::Fragment,
    Register::Protocol,
    Register::IpAddress,
    Register::Length,
    Register::Port,
    Register::Crc,
    Register::Version,
    Register::Type,
    Register::TransportLength,
];

/// The engine, its host, and the bench that they stand in.
pub(crate) struct EngineEnd {
    pub(crate) mixed: Mixed<Buffers>,
    context: Context,
    domain: ProtectionDomain,
    arena: DmaBuffer,
    /// Bytes of the arena that are given away.
    used: usize,
    handles: BTreeMap<u32, ConnectionHandle>,
    regions: BTreeMap<u32, MemoryRegion>,
    done: VecDeque<Completion>,
    /// Requests that have ended, by connection: the next one's message.
    completed: BTreeMap<u32, u16>,
    /// What the library said that no test asked for.
    fault: Option<Error>,
    /// A fault of the engine that is not seen in its frames, until it is done.
    planted: Option<Fault>,
}

impl EngineEnd {
    /// Opens the engine of a bench as `nic`.
    pub(crate) fn open(
        mut mixed: Mixed<Buffers>,
        nic: &Nic,
        seed: u64,
        planted: Option<Fault>,
    ) -> Result<Self, Error> {
        let mut config = Config::new(addresses(0, nic.planes.into()));
        config.paths_per_plane = nic.paths;
        config.mtu = nic.mtu;
        config.timers.probe_backoff_max = BACKOFF_MAX;
        let mut secret = [7; 32];
        secret[..8].copy_from_slice(&seed.to_le_bytes());
        let mut context = Context::open(&mut mixed, config, secret)?;
        let domain = context.protection_domain();
        let arena = mixed.allocate(ARENA_BYTES, PageSize::Huge)?;
        let (whole, none) = ((0, ARENA_BYTES as u64), Rights::default());
        context.register(&mut mixed, domain, &arena, whole, none)?;
        Ok(Self {
            mixed,
            context,
            domain,
            arena,
            used: 0,
            handles: BTreeMap::new(),
            regions: BTreeMap::new(),
            done: VecDeque::new(),
            completed: BTreeMap::new(),
            fault: None,
            planted,
        })
    }

    /// Addresses of the ports in use.
    pub(crate) fn addresses(&self) -> Vec<PlaneAddress> {
        self.context.config().planes.clone()
    }

    /// A turn of the library: set-up goes on, completions are taken.
    pub(crate) fn progress(&mut self) -> Result<(), Failure> {
        let polled = self.poll();
        let fault = self.fault.take().or(polled.err());
        fault.map_or(Ok(()), |fault| {
            Err(Failure::Wrong(format!("the engine's host: {fault}")))
        })
    }

    fn poll(&mut self) -> Result<(), Error> {
        self.context.progress(&mut self.mixed)?;
        let mut found = Vec::new();
        for handle in self.handles.values() {
            self.context.poll(&mut self.mixed, *handle, &mut found)?;
        }
        for done in &found {
            let message = self.completed.entry(done.connection.number()).or_default();
            self.done.push_back(completion(done, *message));
            *message = message.wrapping_add(1);
        }
        self.misbehave();
        Ok(())
    }

    /// Does what is planted, once.
    fn misbehave(&mut self) {
        match self.planted {
            Some(Fault::CompletesTwice) => {
                let Some(first) = self.done.front().copied() else {
                    return;
                };
                self.done.push_back(first);
            }
            Some(Fault::StrayByte) => {
                let Some(region) = self.regions.values().next().filter(|_| self.placed() > 0)
                else {
                    return;
                };
                let last = region.address + region.length - 1 - self.arena.address;
                self.mixed.write(&self.arena, last as usize, &[0xee]);
            }
            _ => return,
        }
        self.planted = None;
    }

    /// Frames that were no packets of the transport.
    pub(crate) fn refused(&mut self) -> u64 {
        self.sum(&REFUSALS)
    }

    /// Sum of counters of the engine.
    fn sum(&mut self, counters: &[Register]) -> u64 {
        let count = |counter: &Register| self.context.counter(&mut self.mixed, *counter);
        counters.iter().map(count).map(u64::from).sum()
    }

    fn handle(&self, connection: ConnectionId) -> Result<ConnectionHandle, PostError> {
        let found = self.handles.get(&connection.value()).copied();
        found.ok_or(PostError::Connection(connection))
    }

    /// An error of the library as an endpoint would say it; one that no endpoint knows ends the test.
    fn refusal(&mut self, connection: ConnectionId, error: Error) -> PostError {
        match error {
            Error::Caller(CallerError::Full { max }) => PostError::Full { max },
            Error::Caller(CallerError::NotEstablished) => PostError::NotEstablished(connection),
            other => {
                self.fault.get_or_insert(other);
                PostError::Connection(connection)
            }
        }
    }

    /// Where a range of the arena begins in it.
    fn offset(&self, address: u64, length: usize) -> Result<usize, CallerError> {
        let offset = address.checked_sub(self.arena.address);
        let offset = offset.map(|offset| offset as usize);
        let inside = offset.filter(|offset| *offset <= self.used && length <= self.used - offset);
        inside.ok_or(CallerError::Unregistered {
            address,
            length: length as u64,
        })
    }
}

/// Connection 0 is the CONTROL channel's: no connection of a test.
const NO_CONNECTION: ConnectionId = ConnectionId::CONTROL;

impl End for EngineEnd {
    fn register(&mut self, region: Region) -> Result<Key, PostError> {
        let offset = region.address - self.arena.address;
        let range = (offset, region.length);
        // What the engine lacks is not asked of it.
        let rights = Rights {
            write: region.rights.write,
            ..Rights::default()
        };
        let (mixed, arena) = (&mut self.mixed, &self.arena);
        match self
            .context
            .register(mixed, self.domain, arena, range, rights)
        {
            Ok(region) => {
                self.regions.insert(region.key.0, region);
                Ok(region.key)
            }
            Err(error) => Err(self.refusal(NO_CONNECTION, error)),
        }
    }

    fn listen(&mut self, service: u32, regions: &[RemoteRegion]) -> Result<(), PostError> {
        let own = |region: &RemoteRegion| self.regions.get(&region.key.0).copied();
        let own: Vec<_> = regions.iter().filter_map(own).collect();
        let listening = self.context.listen(self.domain, service, &own);
        listening.map_err(|error| self.refusal(NO_CONNECTION, error))
    }

    fn connect(
        &mut self,
        _now: u64,
        peer: &[PlaneAddress],
        service: u32,
    ) -> Result<ConnectionId, PostError> {
        let asked = self
            .context
            .connect(&mut self.mixed, self.domain, peer, service, &[]);
        let handle = asked.map_err(|error| self.refusal(NO_CONNECTION, error))?;
        self.handles.insert(handle.number(), handle);
        Ok(ConnectionId::new(handle.number()))
    }

    fn poll_accepted(&mut self) -> Option<ConnectionId> {
        let handle = self.context.accept()?;
        self.handles.insert(handle.number(), handle);
        Some(ConnectionId::new(handle.number()))
    }

    fn connection_state(&self, connection: ConnectionId) -> Option<ConnectionState> {
        let handle = self.handle(connection).ok()?;
        self.context.state(handle).ok()
    }

    fn settled(&self, connection: ConnectionId) -> Option<Settled> {
        self.context.settled(self.handle(connection).ok()?).ok()?
    }

    fn remote_regions(&self, connection: ConnectionId) -> Vec<RemoteRegion> {
        let handle = self.handle(connection).ok();
        let regions = handle.and_then(|handle| self.context.peer_regions(handle).ok());
        regions.map(<[_]>::to_vec).unwrap_or_default()
    }

    fn close(&mut self, _now: u64, connection: ConnectionId) -> Result<(), PostError> {
        let handle = self.handle(connection)?;
        let closed = self.context.close(&mut self.mixed, handle);
        closed.map_err(|error| self.refusal(connection, error))
    }

    fn release(&mut self, connection: ConnectionId) -> Result<(), PostError> {
        let handle = self.handle(connection)?;
        self.handles.remove(&connection.value());
        let released = self.context.release(&mut self.mixed, handle);
        released.map_err(|error| self.refusal(connection, error))
    }

    fn post_send(
        &mut self,
        _now: u64,
        connection: ConnectionId,
        stream: u8,
        request: WorkRequest,
    ) -> Result<(), PostError> {
        let handle = self.handle(connection)?;
        if stream > 0 {
            return Err(PostError::Stream { stream, streams: 1 });
        }
        let mut request = request;
        // Of no bytes none is read, wherever.
        if let WorkOperation::Write {
            local, length: 0, ..
        } = &mut request.operation
        {
            *local = self.arena.address;
        }
        let posted = self.context.post_send(&mut self.mixed, handle, &request);
        posted
            .map(|_| ())
            .map_err(|error| self.refusal(connection, error))
    }

    fn poll_completion(&mut self) -> Option<Completion> {
        self.done.pop_front()
    }

    fn counter(&mut self, counter: Counter) -> Option<u64> {
        let registers: &[Register] = match counter {
            Counter::SentData => &[Register::SentData],
            Counter::SentProbes => &[Register::SentProbes],
            Counter::Resends => &[Register::Resends],
            Counter::Losses => &[
                Register::LostByOrdinal,
                Register::LostByProbe,
                Register::LostByTimeout,
            ],
            Counter::ReceivedData => &[Register::ReceiveData],
            Counter::Duplicate => &[Register::Duplicate],
            Counter::OldBlocks => &[Register::AckBlocksStale],
            Counter::DropConnection => &[Register::ConnectionUnknown],
            Counter::DropIncarnation => &[Register::Incarnation],
            Counter::DropWindow => &[Register::Window],
            Counter::DropKey => &[Register::Key],
            Counter::DropBounds => &[Register::Bounds],
            _ => return None,
        };
        Some(self.sum(registers))
    }

    fn paths(&mut self, connection: ConnectionId) -> Vec<PathView> {
        let Ok(handle) = self.handle(connection) else {
            return Vec::new();
        };
        let read = self.context.path_telemetry(&mut self.mixed, handle);
        let paths = read.unwrap_or_else(|error| {
            self.fault.get_or_insert(error);
            Vec::new()
        });
        let view = |path: &verbs::PathTelemetry| PathView {
            plane: path.path.plane(),
            sent: path.packets.into(),
            lost: [
                path.lost_by_ordinal,
                path.lost_by_probe,
                path.lost_by_timeout,
            ]
            .map(u64::from)
            .iter()
            .sum(),
            out: None,
            window_q10: None,
        };
        paths.iter().map(view).collect()
    }

    fn at_rest(&mut self, connection: ConnectionId) -> Finding {
        let handle = self.handle(connection).ok()?;
        let open = self.context.outstanding(handle).unwrap_or(0);
        if open > 0 {
            return Some(format!("the engine's host waits for {open} requests"));
        }
        let [issued, done] = [control::PLACEMENT_ISSUED, control::PLACEMENT_DONE]
            .map(|register| self.mixed.read32(register.at(0)));
        if issued != done {
            return Some(format!(
                "of {issued} writes of the engine {done} were answered"
            ));
        }
        let lost = self.counter(Counter::Losses)?;
        let resent = self.counter(Counter::Resends)?;
        (lost != resent).then(|| format!("the engine has lost {lost} packets and resent {resent}"))
    }

    fn behavioural(&mut self) -> Option<&mut Endpoint> {
        None
    }
}

impl Store for EngineEnd {
    fn allocate(&mut self, length: usize) -> u64 {
        let at = self.used.next_multiple_of(GAP) + GAP;
        assert!(at + length <= ARENA_BYTES, "a test needs a greater arena");
        self.used = at + length;
        self.arena.address + at as u64
    }

    fn read(&self, address: u64, length: usize) -> Result<Vec<u8>, CallerError> {
        let (offset, mut bytes) = (self.offset(address, length)?, vec![0; length]);
        self.mixed.read(&self.arena, offset, &mut bytes);
        Ok(bytes)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), CallerError> {
        let offset = self.offset(address, bytes.len())?;
        self.mixed.write(&self.arena, offset, bytes);
        Ok(())
    }

    fn placed(&self) -> u64 {
        self.mixed.engine_memory().written(&self.arena)
    }

    fn missed(&self) -> u64 {
        self.mixed.engine_memory().violations.len() as u64
    }
}

fn completion(done: &verbs::Completion, message: u16) -> Completion {
    Completion {
        id: done.id,
        connection: ConnectionId::new(done.connection.number()),
        stream: done.stream,
        message,
        side: done.side,
        status: done.status,
        length: done.length,
        immediate: done.immediate,
    }
}
