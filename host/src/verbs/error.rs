//! Errors of calls, by who is at fault. What the peer does wrong ends a request or a connection: see [`super::Status`]
//! and [`super::CloseReason`].

use super::OperationKind;
use crate::device::DeviceError;
use crate::dma::DmaError;
use osprey_hls::endpoint::{MESSAGE_LENGTH_MAX, PostError};
use osprey_hls::wire::Key;

/// The caller asked for something that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallerError {
    /// The handle names no connection of this NIC.
    #[error("no such connection: it was released, or belongs to another NIC")]
    NoSuchConnection,
    /// The connection is not established.
    #[error("the connection is not established (any more): look at its state")]
    NotEstablished,
    /// This NIC does not have the operation.
    #[error("{nic} has no {operation}: {remedy}")]
    Unsupported {
        /// What was asked for.
        operation: OperationKind,
        /// The NIC.
        nic: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },
    /// No such stream.
    #[error("stream {stream}, the connection has {streams}, counted from 0")]
    Stream {
        /// The stream asked for.
        stream: u8,
        /// Streams of the connection.
        streams: u16,
    },
    /// As many requests are open as the ring or the peer's slots allow.
    #[error("{max} requests are open already, no more are possible: poll completions")]
    Full {
        /// Most requests.
        max: u32,
    },
    /// The message is too long.
    #[error("a message of {length} bytes, at most {max} are possible")]
    Length {
        /// What was asked for.
        length: u64,
        /// What is possible.
        max: u64,
    },
    /// No region can have so many bytes.
    #[error("a region of {length} bytes, possible are 1 to {max}")]
    RegionLength {
        /// What was asked for.
        length: u64,
        /// What is possible.
        max: u64,
    },
    /// The key names no region of this NIC.
    #[error("key {0} names no registered region")]
    UnknownKey(Key),
    /// Local memory that is in no region.
    #[error("{length} bytes at {address:#x} are not registered with this NIC: register them first")]
    Unregistered {
        /// First address.
        address: u64,
        /// Bytes.
        length: u64,
    },
    /// Region and connection are of different protection domains.
    #[error("region and connection are of different protection domains")]
    Domain,
    /// Outside the region.
    #[error(
        "{length} bytes at {address:#x} are not inside the {region_length} bytes at {region_address:#x}"
    )]
    Bounds {
        /// First address asked for.
        address: u64,
        /// Bytes asked for.
        length: u64,
        /// First address of the region or buffer.
        region_address: u64,
        /// Bytes of the region or buffer.
        region_length: u64,
    },
    /// All keys are in use.
    #[error("all memory keys are in use")]
    NoKey,
    /// Not enough page table entries are free in a run.
    #[error("{needed} page table entries are needed, {free} are free")]
    NoPages {
        /// Entries that the region needs.
        needed: u32,
        /// Entries that are free.
        free: u32,
    },
    /// All connections are in use.
    #[error("all connections are in use")]
    NoConnection,
    /// Addresses of planes do not fit the device.
    #[error("{found} plane addresses, the device has {expected} planes")]
    Planes {
        /// Addresses given.
        found: usize,
        /// Planes of the device.
        expected: usize,
    },
    /// A setting is outside what the device can do.
    #[error("{name} is {found}, possible is {possible}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// The value given.
        found: u64,
        /// What is possible.
        possible: String,
    },
    /// More regions than fit into a set-up message.
    #[error("{found} regions to announce, {max} fit")]
    Regions {
        /// Regions given.
        found: usize,
        /// Regions that fit.
        max: usize,
    },
    /// The endpoint in software refuses a request for a reason that the others do not cover.
    #[error(transparent)]
    Post(PostError),
}

/// What went wrong, by who is at fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The caller is.
    #[error(transparent)]
    Caller(#[from] CallerError),
    /// The device is.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl From<DmaError> for Error {
    fn from(error: DmaError) -> Self {
        Self::Device(error.into())
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Device(DeviceError::Socket { kind: error.kind() })
    }
}

impl From<PostError> for CallerError {
    /// The endpoint's refusals in the words of both NICs.
    fn from(error: PostError) -> Self {
        match error {
            PostError::Connection(_) => Self::NoSuchConnection,
            PostError::NotEstablished(_) => Self::NotEstablished,
            PostError::Stream { stream, streams } => Self::Stream { stream, streams },
            PostError::Full { max } => Self::Full { max },
            PostError::Length { length } => Self::Length {
                length: length.into(),
                max: MESSAGE_LENGTH_MAX.into(),
            },
            PostError::Key(key) => Self::UnknownKey(key),
            PostError::Connections { .. } => Self::NoConnection,
            PostError::Planes { found, expected } => Self::Planes { found, expected },
            PostError::Announced { found, max } => Self::Regions { found, max },
            PostError::Regions { .. } => Self::NoKey,
            PostError::Alignment { .. }
            | PostError::LocalKey { .. }
            | PostError::Address { .. } => Self::Post(error),
        }
    }
}

impl From<PostError> for Error {
    fn from(error: PostError) -> Self {
        Self::Caller(error.into())
    }
}
