//! What the connections of an endpoint share: ports, timers, counters, evidence, memory keys.
//!
//! It stands apart from the connections so that a mechanism can hold one connection and this at a time.

use super::config::Config;
use super::counters::{Counter, Counters};
use super::events::{Event, EventKind, Events};
use super::region::Regions;
use super::rng::Rng;
use super::share::Share;
use super::timers::Timers;
use super::urgent::Urgent;
use super::work::Completion;
use super::work::Status;
use crate::wire::{ConnectionId, Control, PathId, PlaneAddress};
use std::collections::VecDeque;

/// Most answers that wait for a plane. What finds the queue full is dropped and counted: all of it is
/// repeated by whoever needs it.
pub(super) const URGENT_MAX: usize = 4096;

/// Most CONTROL packets that wait for a plane.
pub(super) const CONTROL_MAX: usize = 1024;

/// What waits for one plane.
#[derive(Debug, Default)]
pub(super) struct PlaneQueues {
    /// Connections with an ACK that is due; each at most once.
    pub acks: VecDeque<u32>,
    /// NACKs, fences and their answers.
    pub urgent: VecDeque<Urgent>,
    /// Set-up, and where it goes.
    pub control: VecDeque<(PlaneAddress, Control)>,
    /// Connections that can send, in turn; each at most once.
    pub turn: VecDeque<u32>,
    pub link_up: bool,
}

/// Shared state. What every packet needs comes first: it shares few cache lines.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Core {
    pub planes: Vec<PlaneQueues>,
    pub timers: Timers,
    /// One for each request at most; requests are bounded by stream.
    pub completions: VecDeque<Completion>,
    /// Connections that have failed and whose peers are to be told; emptied before each call returns.
    pub ended: Vec<(u32, Status)>,
    pub share: Share,
    pub regions: Regions,
    pub rng: Rng,
    pub counters: Counters,
    pub config: Config,
    pub events: Events,
}

impl Core {
    pub(super) fn new(config: Config, seed: u64) -> Self {
        let planes = config.planes.len();
        let queues = |_| PlaneQueues {
            link_up: true,
            ..PlaneQueues::default()
        };
        Self {
            rng: Rng::new(seed),
            counters: Counters::new(),
            events: Events::new(config.events_max),
            timers: Timers::default(),
            planes: (0..planes).map(queues).collect(),
            share: Share::new(
                config.share,
                config.packet_time_ns(),
                config.packet_wire_bytes,
                planes,
            ),
            regions: Regions::default(),
            completions: VecDeque::new(),
            ended: Vec::new(),
            config,
        }
    }

    /// Records evidence.
    pub(super) fn event(
        &mut self,
        now: u64,
        connection: ConnectionId,
        path: PathId,
        kind: EventKind,
        value: u64,
    ) {
        let event = Event {
            time_ns: now,
            connection,
            path,
            kind,
            value,
        };
        if !self.events.push(event) {
            self.counters.bump(Counter::EventsLost);
        }
    }

    /// Takes a connection out of all queues, so that the next one of its number starts with none.
    pub(super) fn forget(&mut self, number: u32) {
        for queues in &mut self.planes {
            queues.acks.retain(|queued| *queued != number);
            queues.turn.retain(|queued| *queued != number);
            queues.urgent.retain(|urgent| urgent.connection() != number);
        }
    }

    /// Queues an answer for a plane.
    pub(super) fn urgent(&mut self, plane: usize, urgent: Urgent) {
        let queue = &mut self.planes[plane].urgent;
        if queue.len() < URGENT_MAX {
            queue.push_back(urgent);
        } else {
            self.counters.bump(Counter::DropQueueFull);
        }
    }
}
