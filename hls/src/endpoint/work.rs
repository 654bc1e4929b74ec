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

/// What a request of the sending side does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkOperation {
    /// Writes local memory to registered memory of the peer.
    Write {
        /// First local byte.
        local: u64,
        /// Bytes, at most 1 GiB.
        length: u32,
        /// First byte at the peer.
        remote: u64,
        /// Key of the peer's memory.
        key: Key,
    },
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
    /// The peer's key or its bounds forbid the access.
    RemoteAccess,
    /// The peer found the request invalid.
    RemoteInvalid,
    /// The peer does not answer by any path.
    RetriesExhausted,
    /// The connection ended before it was done.
    Flushed,
}

/// Which side of a transfer a completion is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// A request of [`super::Endpoint::post_send`].
    Send,
    /// A message that arrived.
    Receive,
}

/// A request that is done, or a message that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The request's own number.
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
        streams: u8,
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
        let WorkOperation::Write {
            local,
            length,
            remote,
            ..
        } = self.operation;
        if length > MESSAGE_LENGTH_MAX {
            return Err(PostError::Length { length });
        }
        for address in [local, remote] {
            if address
                .checked_add(u64::from(length.saturating_sub(1)))
                .is_none()
            {
                return Err(PostError::Address {
                    address,
                    length: length.into(),
                });
            }
        }
        Ok(())
    }
}
