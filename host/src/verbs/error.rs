//! Errors, by who is at fault.

use crate::device::DeviceError;
use crate::dma::DmaError;
use osprey_hls::wire::{Key, Reject, RejectReason};

/// The caller asked for something that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallerError {
    /// The handle names no connection of this context.
    #[error("no such connection")]
    NoSuchConnection,
    /// The connection is not established.
    #[error("the connection is not established")]
    NotEstablished,
    /// The send ring is full.
    #[error("the send ring of {entries} entries is full")]
    RingFull {
        /// Entries of the ring.
        entries: u32,
    },
    /// As many messages are open as the peer has slots.
    #[error("{limit} messages are open, as many as the peer has slots")]
    TooManyOpen {
        /// Slots of the peer.
        limit: u32,
    },
    /// The message is too long.
    #[error("a message of {length} bytes, at most {max} are possible")]
    Length {
        /// What was asked for.
        length: u64,
        /// What is possible.
        max: u64,
    },
    /// The key names no region of this context.
    #[error("key {0} names no registered region")]
    UnknownKey(Key),
    /// Region and connection are of different protection domains.
    #[error("region and connection are of different protection domains")]
    Domain,
    /// The region does not allow this use.
    #[error("the region of key {0} does not allow this use")]
    Rights(Key),
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
}

/// The peer, or the way to it, is at fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeerError {
    /// The peer refuses.
    #[error("the peer refuses: {reason:?}, it has {theirs}, offered was {ours}")]
    Rejected {
        /// What does not fit.
        reason: RejectReason,
        /// The peer's value.
        theirs: u32,
        /// The value of this side.
        ours: u32,
    },
    /// The peer does not answer.
    #[error("the peer did not answer {attempts} times")]
    NoAnswer {
        /// How often it was asked.
        attempts: u32,
    },
    /// The peer settled on something that was not offered.
    #[error("the peer accepted {name} {accepted}, offered was {offered}")]
    Accept {
        /// The field.
        name: &'static str,
        /// What this side offered.
        offered: u32,
        /// What the peer stated.
        accepted: u32,
    },
    /// The peer refused the access.
    #[error("the peer refused the access: key, rights or bounds")]
    RemoteAccess,
    /// The peer found the request invalid.
    #[error("the peer found the request invalid")]
    InvalidRequest,
    /// Nothing came back until all retries were spent.
    #[error("the peer fell silent: retries are exhausted")]
    Silent,
}

impl From<Reject> for PeerError {
    fn from(reject: Reject) -> Self {
        Self::Rejected {
            reason: reject.reason,
            theirs: reject.ours,
            ours: reject.yours,
        }
    }
}

/// What went wrong, by who is at fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The caller is.
    #[error(transparent)]
    Caller(#[from] CallerError),
    /// The peer is.
    #[error(transparent)]
    Peer(#[from] PeerError),
    /// The device is.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl From<DmaError> for Error {
    fn from(error: DmaError) -> Self {
        Self::Device(error.into())
    }
}
