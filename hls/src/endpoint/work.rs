//! What the host asks for and what it gets back: work requests, completions and refusals.

use crate::wire::{ConnectionId, Key};

/// Largest message: 1 GiB.
pub const MESSAGE_LENGTH_MAX: u32 = 1 << 30;

/// A request of the sending side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkRequest {
    /// The caller's own number; its completion bears it.
    pub id: u64,
    /// What to do.
    pub operation: WorkOperation,
}

/// What a request of the sending side does. Lengths are in bytes, at most 1 GiB; `local` is the host's own
/// memory, which is not checked against a region unless a key is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkOperation {
    /// Writes local memory to registered memory of the peer.
    Write {
        /// First local byte.
        local: u64,
        /// Bytes.
        length: u32,
        /// First byte at the peer.
        remote: u64,
        /// Key of the peer's memory.
        key: Key,
    },
    /// The same, and completes at the peer with a value.
    WriteImm {
        /// First local byte.
        local: u64,
        /// Bytes.
        length: u32,
        /// First byte at the peer.
        remote: u64,
        /// Key of the peer's memory.
        key: Key,
        /// The value.
        immediate: u32,
    },
    /// Fills the peer's next receive request of the stream.
    Send {
        /// First local byte.
        local: u64,
        /// Bytes.
        length: u32,
    },
    /// The same, with a value.
    SendImm {
        /// First local byte.
        local: u64,
        /// Bytes.
        length: u32,
        /// The value.
        immediate: u32,
    },
    /// Reads registered memory of the peer, after all earlier messages of the stream.
    Read {
        /// First local byte.
        local: u64,
        /// Our key of that memory: the answer is checked against it.
        local_key: Key,
        /// Bytes.
        length: u32,
        /// First byte at the peer.
        remote: u64,
        /// Key of the peer's memory.
        key: Key,
    },
    /// Swaps 64 bits of the peer if they are what is expected; what they were goes to local memory.
    CompareSwap {
        /// Local 8 bytes.
        local: u64,
        /// Our key of that memory.
        local_key: Key,
        /// The peer's 8 bytes, at a multiple of 8.
        remote: u64,
        /// Key of the peer's memory.
        key: Key,
        /// What is expected.
        compare: u64,
        /// What takes its place.
        swap: u64,
    },
    /// Adds to 64 bits of the peer, wrapping; what they were goes to local memory.
    FetchAdd {
        /// Local 8 bytes.
        local: u64,
        /// Our key of that memory.
        local_key: Key,
        /// The peer's 8 bytes, at a multiple of 8.
        remote: u64,
        /// Key of the peer's memory.
        key: Key,
        /// What is added.
        add: u64,
    },
}

/// Bytes of an atomic.
pub(super) const ATOMIC_LENGTH: u32 = 8;

impl WorkOperation {
    /// Bytes that are moved.
    pub const fn length(&self) -> u32 {
        match *self {
            Self::Write { length, .. }
            | Self::WriteImm { length, .. }
            | Self::Send { length, .. }
            | Self::SendImm { length, .. }
            | Self::Read { length, .. } => length,
            Self::CompareSwap { .. } | Self::FetchAdd { .. } => ATOMIC_LENGTH,
        }
    }

    /// First local byte.
    pub const fn local(&self) -> u64 {
        match *self {
            Self::Write { local, .. }
            | Self::WriteImm { local, .. }
            | Self::Send { local, .. }
            | Self::SendImm { local, .. }
            | Self::Read { local, .. }
            | Self::CompareSwap { local, .. }
            | Self::FetchAdd { local, .. } => local,
        }
    }

    /// First byte and key at the peer; 0 of a SEND.
    pub const fn remote(&self) -> (u64, Key) {
        match *self {
            Self::Write { remote, key, .. }
            | Self::WriteImm { remote, key, .. }
            | Self::Read { remote, key, .. }
            | Self::CompareSwap { remote, key, .. }
            | Self::FetchAdd { remote, key, .. } => (remote, key),
            Self::Send { .. } | Self::SendImm { .. } => (0, Key(0)),
        }
    }

    /// Our key of the local memory, where the peer's answer goes there.
    pub(super) const fn local_key(&self) -> Option<Key> {
        match *self {
            Self::Read { local_key, .. }
            | Self::CompareSwap { local_key, .. }
            | Self::FetchAdd { local_key, .. } => Some(local_key),
            _ => None,
        }
    }
}

/// Memory for one SEND of the peer. Requests of a stream are filled in the order in which they were posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiveRequest {
    /// The caller's own number; its completion bears it.
    pub id: u64,
    /// First byte.
    pub address: u64,
    /// Most bytes.
    pub length: u32,
}

/// What the peer may do with registered memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rights {
    /// It may write.
    pub write: bool,
    /// It may read.
    pub read: bool,
    /// It may use atomics.
    pub atomic: bool,
}

impl Rights {
    /// All of them.
    pub const ALL: Self = Self {
        write: true,
        read: true,
        atomic: true,
    };
}

/// Memory to be registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// First virtual address.
    pub address: u64,
    /// Bytes, at most 2^64 - address.
    pub length: u64,
    /// What the peer may do.
    pub rights: Rights,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// It was done.
    Ok,
    /// Our own key or its bounds forbid the access.
    LocalAccess,
    /// The peer's key or its bounds forbid the access.
    RemoteAccess,
    /// The peer found the request invalid.
    RemoteInvalid,
    /// The peer had no receive request, time after time.
    ReceiverNotReady,
    /// The peer does not answer by any path.
    RetriesExhausted,
    /// The connection ended before it was done.
    Flushed,
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Ok => "it was done",
            Self::LocalAccess => "a local key or its bounds forbid the access",
            Self::RemoteAccess => "the peer refused the access: key, rights or bounds",
            Self::RemoteInvalid => "the peer found the request invalid",
            Self::ReceiverNotReady => "the peer had no receive request, time after time",
            Self::RetriesExhausted => "the peer fell silent: retries are exhausted",
            Self::Flushed => "the connection ended before it was done",
        })
    }
}

/// Which side of a transfer a completion is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// A request of [`super::Endpoint::post_send`].
    Send,
    /// A SEND that arrived in the memory of a request of [`super::Endpoint::post_receive`].
    Receive,
    /// A WRITE_IMM that arrived: it fills no request.
    WriteImm,
}

/// A request that is done, or a message that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The request's own number; 0 of a WRITE_IMM that arrived.
    pub id: u64,
    /// The connection.
    pub connection: ConnectionId,
    /// The stream.
    pub stream: u8,
    /// The message's number in its stream; of a flushed request that was never sent, 0.
    pub message: u16,
    /// Send or receive.
    pub side: Side,
    /// How it ended.
    pub status: Status,
    /// Bytes of the message.
    pub length: u32,
    /// The sender's immediate value.
    pub immediate: Option<u32>,
}

/// Why a post or a registration was refused. What is refused takes no number, slot or credit (T-6.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    /// No such connection.
    #[error("connection {0} is not there")]
    Connection(ConnectionId),
    /// The connection is not established (any more).
    #[error("connection {0} is not established")]
    NotEstablished(ConnectionId),
    /// No such stream.
    #[error("stream {stream} of {streams}")]
    Stream {
        /// The stream asked for.
        stream: u8,
        /// Streams of the connection.
        streams: u16,
    },
    /// The queue of requests is full.
    #[error("{max} requests are waiting already: poll completions")]
    Full {
        /// Most requests of the queue.
        max: u32,
    },
    /// The message is too long.
    #[error("a message of {length} bytes, at most {MESSAGE_LENGTH_MAX}")]
    Length {
        /// Bytes asked for.
        length: u32,
    },
    /// The address of an atomic is no multiple of 8.
    #[error("an atomic at {address:#x}, which is no multiple of 8")]
    Alignment {
        /// Address at the peer.
        address: u64,
    },
    /// Our own key does not name the local memory.
    #[error("our key {key} does not cover {length} bytes from {address:#x}")]
    LocalKey {
        /// The key.
        key: Key,
        /// First local byte.
        address: u64,
        /// Bytes.
        length: u32,
    },
    /// A range of addresses passes the end of the address space.
    #[error("{length} bytes from {address:#x} pass the end of the address space")]
    Address {
        /// First address.
        address: u64,
        /// Bytes.
        length: u64,
    },
    /// The key names no registered memory.
    #[error("key {0} names no registered memory")]
    Key(Key),
    /// Every connection is in use.
    #[error("all {max} connections are in use")]
    Connections {
        /// Most connections.
        max: u32,
    },
    /// Addresses of the peer do not fit our planes.
    #[error("{found} addresses of the peer for {expected} planes")]
    Planes {
        /// Addresses given.
        found: usize,
        /// Our planes.
        expected: usize,
    },
    /// A set-up message has no room for so many regions.
    #[error("{found} regions to announce, at most {max}")]
    Announced {
        /// Regions given.
        found: usize,
        /// Most regions.
        max: usize,
    },
    /// No key is free.
    #[error("all {max} memory regions are in use")]
    Regions {
        /// Most regions.
        max: u32,
    },
}

impl WorkRequest {
    /// Whether the request makes sense by itself.
    pub(super) fn check(&self) -> Result<(), PostError> {
        let (length, (remote, _)) = (self.operation.length(), self.operation.remote());
        check_range(self.operation.local(), length)?;
        check_range(remote, length)?;
        let atomic = matches!(
            self.operation,
            WorkOperation::CompareSwap { .. } | WorkOperation::FetchAdd { .. }
        );
        if atomic && remote % u64::from(ATOMIC_LENGTH) != 0 {
            return Err(PostError::Alignment { address: remote });
        }
        Ok(())
    }
}

/// Whether a message may lie there.
pub(super) fn check_range(address: u64, length: u32) -> Result<(), PostError> {
    if length > MESSAGE_LENGTH_MAX {
        return Err(PostError::Length { length });
    }
    match address.checked_add(u64::from(length.saturating_sub(1))) {
        Some(_) => Ok(()),
        None => Err(PostError::Address {
            address,
            length: length.into(),
        }),
    }
}
