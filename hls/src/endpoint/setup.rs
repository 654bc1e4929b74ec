//! What set-up knows of a connection: its number, what was offered, who the peer is, where it stands (T-4).
//!
//! It lives from `connect` or the peer's HELLO until `release`, longer than the state that carries packets.
//! What is said and when is in [`super::handshake`].

use super::settle::AcceptError;
use super::timers::Timer;
use super::work::Status;
use crate::wire::{ConnectionId, Incarnation, Offer, PlaneAddress, Reject, RemoteRegion};

/// Why a connection is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CloseReason {
    /// The host closed it.
    #[error("this side closed the connection")]
    Local,
    /// The peer closed it, or began it anew.
    #[error("the peer closed the connection, or began it anew")]
    Peer,
    /// It failed in service.
    #[error("the connection failed: {0}")]
    Failed(Status),
    /// The peer refused it; both values are named.
    #[error("the peer refuses: {:?}, it has {}, offered was {}", .0.reason, .0.ours, .0.yours)]
    Rejected(Reject),
    /// The peer accepted what was not offered.
    #[error(transparent)]
    Accept(AcceptError),
    /// The peer did not answer so many HELLOs.
    #[error("the peer did not answer {0} times")]
    NoAnswer(u32),
}

/// Where a connection stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionState {
    /// A HELLO waits for its answer.
    Connecting,
    /// Packets flow.
    Established,
    /// It is over; the peer is being told.
    Closing(CloseReason),
    /// It is over.
    Closed(CloseReason),
}

/// The peer's side of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Peer {
    pub connection: ConnectionId,
    pub incarnation: Incarnation,
    pub planes: Vec<PlaneAddress>,
}

impl Peer {
    pub(super) fn of(offer: &Offer) -> Self {
        Self {
            connection: offer.connection,
            incarnation: offer.incarnation,
            planes: offer.planes.clone(),
        }
    }
}

/// One connection's set-up.
#[derive(Debug)]
pub(super) struct Setup {
    pub number: u32,
    pub state: ConnectionState,
    pub initiator: bool,
    /// Joins answers to questions: of the HELLO, later of our BYE.
    pub transaction: u32,
    /// What this side offers; once settled, what it has stated.
    pub offer: Offer,
    /// Where HELLO goes.
    pub hello_to: Vec<PlaneAddress>,
    pub peer: Option<Peer>,
    /// Memory that the peer has announced.
    pub regions: Vec<RemoteRegion>,
    /// HELLOs or BYEs sent.
    pub attempts: u32,
    pub timer: Timer,
}

/// Waits for connections to a service.
#[derive(Debug, Clone)]
pub(super) struct Listener {
    pub service: u32,
    pub regions: Vec<RemoteRegion>,
}
