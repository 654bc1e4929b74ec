//! What an application sees of a NIC, whichever it is: the verbs, as a trait.
//!
//! [`super::EngineNic`] is the engine behind a device, [`crate::udp::UdpNic`] the endpoint over sockets. An application is
//! generic over [`Nic`], asks [`Nic::capabilities`] where it needs more than WRITE, and calls [`Nic::progress`] often:
//! nothing else moves. Here is no state and no way of doing anything: each NIC has its own.

use super::{
    CallerError, Completion, ConnectionHandle, ConnectionState, Error, MemoryRegion,
    ReceiveRequest, Rights, Settled, WorkOperation, WorkRequest,
};
use osprey_hls::endpoint::{Health, PathCounts};
use osprey_hls::wire::{PathId, PlaneAddress, RemoteRegion};
use std::fmt;
use std::time::Duration;

/// What a NIC may be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// Writes memory of the peer.
    Write,
    /// The same, and completes there with a value.
    WriteImm,
    /// Fills a receive request of the peer.
    Send,
    /// The same, with a value.
    SendImm,
    /// Takes messages into receive requests.
    Receive,
    /// Reads memory of the peer.
    Read,
    /// Compares and swaps 64 bits of the peer.
    CompareSwap,
    /// Adds to 64 bits of the peer.
    FetchAdd,
}

impl OperationKind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Write,
        Self::WriteImm,
        Self::Send,
        Self::SendImm,
        Self::Receive,
        Self::Read,
        Self::CompareSwap,
        Self::FetchAdd,
    ];

    /// What a request asks for.
    pub const fn of(operation: &WorkOperation) -> Self {
        match operation {
            WorkOperation::Write { .. } => Self::Write,
            WorkOperation::WriteImm { .. } => Self::WriteImm,
            WorkOperation::Send { .. } => Self::Send,
            WorkOperation::SendImm { .. } => Self::SendImm,
            WorkOperation::Read { .. } => Self::Read,
            WorkOperation::CompareSwap { .. } => Self::CompareSwap,
            WorkOperation::FetchAdd { .. } => Self::FetchAdd,
        }
    }
}

impl fmt::Display for OperationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Write => "WRITE",
            Self::WriteImm => "WRITE_IMM",
            Self::Send => "SEND",
            Self::SendImm => "SEND_IMM",
            Self::Receive => "RECEIVE",
            Self::Read => "READ",
            Self::CompareSwap => "COMPARE_SWAP",
            Self::FetchAdd => "FETCH_ADD",
        })
    }
}

/// What a NIC has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NicCapabilities {
    /// What kind of NIC it is.
    pub name: &'static str,
    /// Planes in use.
    pub planes: u8,
    /// Paths of each plane.
    pub paths_per_plane: u8,
    /// Most connections.
    pub connections: u32,
    /// Most memory regions.
    pub regions: u32,
    /// Most streams of a connection.
    pub streams: u16,
    /// Most bytes of a message.
    pub message_length: u32,
    /// What may be posted.
    pub operations: &'static [OperationKind],
}

impl NicCapabilities {
    /// Whether an operation may be posted.
    pub fn supports(&self, operation: OperationKind) -> bool {
        self.operations.contains(&operation)
    }

    /// All that this NIC can let a peer do with memory.
    pub fn rights(&self) -> Rights {
        Rights {
            write: self.supports(OperationKind::Write),
            read: self.supports(OperationKind::Read),
            atomic: self.supports(OperationKind::FetchAdd),
        }
    }
}

/// What the sender knows of one path of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathReport {
    /// Its number on the wire.
    pub path: PathId,
    /// Its plane.
    pub plane: u8,
    /// Its number among the plane's paths.
    pub k: u8,
    /// Its UDP source port; `None` where the NIC does not tell.
    pub source_port: Option<u16>,
    /// What was sent on it, since the connection was set up.
    pub counts: PathCounts,
    /// Round trip, mean or smoothed; 0 without a sample.
    pub rtt_ns: u32,
    /// Window, packets x 2^10.
    pub window_q10: u32,
    /// Health; `None` where the NIC does not judge paths.
    pub health: Option<Health>,
}

/// A NIC. Addresses and lengths are in bytes; memory lies wherever the NIC puts it, so that nothing but registered memory
/// can ever be reached by a peer.
pub trait Nic {
    /// What it has.
    fn capabilities(&self) -> NicCapabilities;

    /// The addresses that peers connect to, plane 0 first.
    fn addresses(&self) -> Vec<PlaneAddress>;

    /// New memory of `length` zeros, registered; peers may do with it what `rights` say.
    ///
    /// Errors: `Length` for none or too much, `Unsupported` for rights that this NIC cannot grant, `NoKey`, `NoPages`.
    fn register(&mut self, length: u64, rights: Rights) -> Result<MemoryRegion, Error>;

    /// Takes memory back: when this returns, its key fails, and its bytes are gone (T-6.6).
    fn deregister(&mut self, region: MemoryRegion) -> Result<(), Error>;

    /// Copies from registered memory, from `offset` on.
    fn read_memory(&self, region: &MemoryRegion, offset: u64, into: &mut [u8])
    -> Result<(), Error>;

    /// Copies into registered memory, from `offset` on.
    fn write_memory(
        &mut self,
        region: &MemoryRegion,
        offset: u64,
        from: &[u8],
    ) -> Result<(), Error>;

    /// Accepts connections to `service` from now on, and announces `regions` to each.
    fn listen(&mut self, service: u32, regions: &[MemoryRegion]) -> Result<(), Error>;

    /// The next connection that was accepted.
    fn accept(&mut self) -> Option<ConnectionHandle>;

    /// Asks the peer whose ports are at `peer` (plane 0 first; one is enough) for a connection to `service`, and announces
    /// `regions` to it. [`Self::state`] tells how it goes.
    fn connect(
        &mut self,
        peer: &[PlaneAddress],
        service: u32,
        regions: &[MemoryRegion],
    ) -> Result<ConnectionHandle, Error>;

    /// Where a connection is in its life.
    fn state(&self, connection: ConnectionHandle) -> Result<ConnectionState, Error>;

    /// What the two sides settled on, while the connection is in service.
    fn settled(&self, connection: ConnectionHandle) -> Result<Option<Settled>, Error>;

    /// The memory that the peer announced.
    fn peer_regions(&self, connection: ConnectionHandle) -> Result<&[RemoteRegion], Error>;

    /// Asks for a transfer from or to registered memory. A refused request takes no number, slot or credit (T-6.7).
    ///
    /// Errors, the first that holds: `NoSuchConnection`, `NotEstablished`, `Stream`, `Unsupported`, `Length`,
    /// `Unregistered` or `Bounds` of the local memory, what is particular to the operation, `Full`.
    fn post_send(
        &mut self,
        connection: ConnectionHandle,
        stream: u8,
        request: WorkRequest,
    ) -> Result<(), Error>;

    /// Gives registered memory to the next SEND of the peer. Errors as of [`Self::post_send`].
    fn post_receive(
        &mut self,
        connection: ConnectionHandle,
        stream: u8,
        request: ReceiveRequest,
    ) -> Result<(), Error>;

    /// The next request that is done, or message that has arrived, on any connection; those of one stream and side come in
    /// the order of posting.
    fn poll(&mut self) -> Option<Completion>;

    /// Moves everything along. With nothing to do it waits, at most for `wait`; a NIC without a clock lets its device idle
    /// once instead. Whether anything was found to do.
    fn progress(&mut self, wait: Duration) -> Result<bool, Error>;

    /// What the paths of a connection did, path by path; nothing before it is in service.
    fn path_reports(&mut self, connection: ConnectionHandle) -> Result<Vec<PathReport>, Error>;

    /// Ends a connection: what is outstanding is flushed, the peer is told. It is closed when its state says so.
    fn close(&mut self, connection: ConnectionHandle) -> Result<(), Error>;

    /// Forgets a connection: its handle names nothing any more, and completions that were not taken are gone. A peer that
    /// was not told by [`Self::close`] finds out by itself.
    fn release(&mut self, connection: ConnectionHandle) -> Result<(), Error>;
}

/// `Ok` if something may be posted to a stream of a connection.
pub(crate) fn check_stream(
    nic: &impl Nic,
    connection: ConnectionHandle,
    stream: u8,
) -> Result<(), Error> {
    let state = nic.state(connection)?;
    match nic.settled(connection)? {
        Some(settled) if state == ConnectionState::Established => {
            let streams = settled.streams;
            if u16::from(stream) < streams {
                Ok(())
            } else {
                Err(CallerError::Stream { stream, streams }.into())
            }
        }
        _ => Err(CallerError::NotEstablished.into()),
    }
}
