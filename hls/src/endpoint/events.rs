//! The evidence ring (T-2.13): what happened, when, to which path.
//!
//! Bounded by `Config::events_max`; what finds it full is counted ([`super::Counter::EventsLost`]), and the
//! oldest records are kept, since they are nearest to the cause.

use super::health::Health;
use crate::wire::{ConnectionId, PathId};
use std::collections::VecDeque;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A path's health changed; value: unanswered probes.
    Health {
        /// What it was.
        from: Health,
        /// What it is.
        to: Health,
    },
    /// A FENCE was asked for; value: the attempt, from 0.
    Fence,
    /// A path's probe timer expired; value: nanoseconds since its last news.
    Timeout,
    /// A path drew a new entropy; value: the entropy.
    Redraw,
    /// The peer grants another share; value: the share.
    Share,
    /// The peer was not ready for a message; value: the wait in nanoseconds.
    NotReady,
    /// The peer refused a packet; value: reason of the NACK.
    Refused,
    /// A packet was refused; value: reason of the NACK.
    Refusal,
    /// A connection was put into service; value: 0.
    ConnectionEstablished,
    /// A connection failed; value: 0.
    ConnectionFailed,
    /// A connection is over: see its state; value: 0.
    ConnectionClosed,
    /// The link of a plane went down; path: the plane's first; value: the plane.
    LinkDown,
    /// The link of a plane came up.
    LinkUp,
}

/// A record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub time_ns: u64,
    /// The connection, or 0.
    pub connection: ConnectionId,
    /// The path, or 0.
    pub path: PathId,
    /// What happened.
    pub kind: EventKind,
    /// See [`EventKind`].
    pub value: u64,
}

/// The ring.
#[derive(Debug)]
pub(super) struct Events {
    ring: VecDeque<Event>,
    max: usize,
}

impl Events {
    pub(super) fn new(max: usize) -> Self {
        Self {
            ring: VecDeque::with_capacity(max),
            max,
        }
    }

    /// Whether there was room.
    pub(super) fn push(&mut self, event: Event) -> bool {
        let room = self.ring.len() < self.max;
        if room {
            self.ring.push_back(event);
        }
        room
    }

    pub(super) fn len(&self) -> usize {
        self.ring.len()
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        self.ring.pop_front()
    }
}
