//! A connection: the state of both directions, and the bookkeeping that its mechanisms share.
//!
//! Mechanisms are `impl Connection` blocks in files of their own; this file holds what more than one of them
//! needs: numbers of paths, which paths may take packets, and the turn at the planes. It decides nothing
//! about losses, health or windows.

use super::config::{Config, PLANES_MAX};
use super::core::Core;
use super::log2::log2;
use super::loss_rate::LossRate;
use super::path_sequence::PathSequence;
use super::planted::{Fault, Planted};
use super::return_path::{AckPlane, ReturnMask};
use super::rng::Rng;
use super::settle::Settled;
use super::share::ShareTag;
use super::silence::Slots;
use super::stream::Stream;
use super::stream_set::StreamSet;
use super::timers::Timer;
use super::tx_path::{TxPath, Unacked};
use super::ways::LeastWay;
use super::windows::Windows;
use crate::wire::{ConnectionId, Incarnation, PathId, PlaneAddress};
use arrayvec::ArrayVec;
use std::collections::VecDeque;

/// A connection whose set-up is already known: what both sides would have told each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Established {
    /// Number at this endpoint, 1 to `connections_max`.
    pub connection: ConnectionId,
    /// Incarnation that packets to this endpoint bear.
    pub incarnation: Incarnation,
    /// Number at the peer.
    pub peer_connection: ConnectionId,
    /// Incarnation that packets to the peer bear.
    pub peer_incarnation: Incarnation,
    /// The peer's ports, plane 0 first; as many as ours.
    pub peer_planes: Vec<PlaneAddress>,
    /// What both sides do.
    pub settled: Settled,
}

/// With packets in flight on more paths a connection still has its part of the receiver's line: many may be lost.
const ENDING_PATHS_MAX: u32 = 4;

/// A connection's state for one plane.
#[derive(Debug)]
pub(super) struct ConnectionPlane {
    /// Paths that may take new packets.
    pub open: u16,
    /// Paths that have something to send again and may.
    pub resend: u16,
    /// Paths that have probes to send.
    pub probe: u16,
    /// Paths with packets in flight.
    pub waiting: u16,
    /// Whether the connection stands in the plane's turn.
    pub queued: bool,
    /// The path that was chosen last.
    pub last: u8,
    /// What is to be acknowledged.
    pub ack: AckPlane,
    pub ack_timer: Timer,
    /// See [`super::ways`].
    pub least_way: LeastWay,
    /// Return paths on which ACKs came lately.
    pub return_mask: ReturnMask,
    /// What the peer said of the return paths that we use.
    pub peer_return_mask: u16,
}

/// What is needed of a sender's path where nothing else of it is: by the choice among paths, and by ACKs that
/// travel on it. Those of a plane lie in one cache line.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathMark {
    /// See [`super::spray`].
    pub score: i16,
    /// UDP source port.
    pub entropy: u16,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub number: ConnectionId,
    pub incarnation: Incarnation,
    pub peer: ConnectionId,
    pub peer_incarnation: Incarnation,
    pub peer_planes: ArrayVec<PlaneAddress, PLANES_MAX>,
    pub settled: Settled,
    /// Everything was flushed: it neither sends nor takes anything any more.
    pub ended: bool,
    pub windows: Windows,
    /// Sender's paths, plane by plane.
    pub tx: Vec<TxPath>,
    /// Scores and entropies of the sender's paths.
    pub marks: Vec<PathMark>,
    /// Receiver's paths.
    pub rx: Vec<PathSequence>,
    pub planes: ArrayVec<ConnectionPlane, PLANES_MAX>,
    pub streams: Vec<Stream>,
    /// The stream whose turn it is.
    pub stream_turn: u8,
    /// Streams that can give a packet.
    pub streams_ready: StreamSet,
    /// Packets that a fence has freed.
    pub freed: VecDeque<Unacked>,
    /// Tag of the receiver's share.
    pub share_tag: ShareTag,
    pub last_redraw_ns: u64,
    /// The path over which the last FENCE went.
    pub fence_via: u8,
    /// When what has been echoed was sent, on any path.
    pub echoed: Slots,
    /// When the last packet left.
    pub last_sent_ns: u64,
    /// DATA packets lost in a row, on all paths.
    pub barren: u32,
    /// Whether an ACK has come.
    pub heard: bool,
    /// When the last packet came from the peer.
    pub heard_ns: u64,
    /// See [`super::keepalive`].
    pub keepalive: Timer,
    pub loss_rate: LossRate,
    /// What is wrong with it on purpose.
    pub planted: Planted,
}

impl Connection {
    pub(super) fn new(established: &Established, config: &Config, rng: &mut Rng) -> Self {
        let settled = established.settled;
        let paths = usize::from(settled.planes) * usize::from(settled.paths_per_plane);
        let windows = Windows::new(config, &settled);
        let tx_path = |_| {
            let first = windows.start_q10();
            TxPath::new(settled.window, first, config.base_rtt_ns)
        };
        let mut connection = Self {
            number: established.connection,
            incarnation: established.incarnation,
            peer: established.peer_connection,
            peer_incarnation: established.peer_incarnation,
            peer_planes: established.peer_planes.iter().copied().collect(),
            settled,
            ended: false,
            tx: (0..paths).map(tx_path).collect(),
            windows,
            marks: (0..paths)
                .map(|_| PathMark {
                    score: 0,
                    entropy: rng.entropy(),
                })
                .collect(),
            rx: (0..paths)
                .map(|_| PathSequence::new(settled.window))
                .collect(),
            planes: (0..settled.planes)
                .map(|_| ConnectionPlane::new())
                .collect(),
            streams: (0..settled.streams).map(|_| Stream::new()).collect(),
            stream_turn: 0,
            streams_ready: StreamSet::default(),
            freed: VecDeque::new(),
            share_tag: ShareTag::default(),
            last_redraw_ns: 0,
            fence_via: 0,
            echoed: Slots::default(),
            last_sent_ns: 0,
            barren: 0,
            heard: false,
            heard_ns: 0,
            keepalive: Timer::new(),
            loss_rate: LossRate::default(),
            planted: Planted::default(),
        };
        for path in 0..paths {
            connection.refresh(path);
        }
        connection
    }

    /// Paths of a plane.
    pub(super) fn per_plane(&self) -> usize {
        self.settled.paths_per_plane.into()
    }

    /// The plane of a path.
    pub(super) fn plane_of(&self, path: usize) -> usize {
        path / self.per_plane()
    }

    /// The bit of a path in its plane's masks.
    fn bit_of(&self, path: usize) -> u16 {
        1 << (path % self.per_plane())
    }

    /// Distance of two planes' path numbers on the wire (T-1.2).
    fn stride(&self) -> usize {
        if self.settled.paths_per_plane <= 8 {
            8
        } else {
            16
        }
    }

    /// The number of a path on the wire.
    pub(super) fn path_id(&self, path: usize) -> PathId {
        let (plane, k) = (path / self.per_plane(), path % self.per_plane());
        PathId((plane * self.stride() + k) as u8)
    }

    /// The path of a number on the wire, if there is one.
    pub(super) fn path_index(&self, id: PathId) -> Option<usize> {
        let (plane, k) = (
            usize::from(id.0) / self.stride(),
            usize::from(id.0) % self.stride(),
        );
        (plane < self.planes.len() && k < self.per_plane()).then(|| plane * self.per_plane() + k)
    }

    /// Computes anew what the spray must know of a path. To be called after every change of it.
    pub(super) fn refresh(&mut self, path: usize) {
        let (plane, bit) = (self.plane_of(path), self.bit_of(path));
        let state = &self.tx[path];
        let in_flight = u32::from(state.in_flight);
        let set = |mask: &mut u16, on: bool| *mask = if on { *mask | bit } else { *mask & !bit };
        let masks = &mut self.planes[plane];
        let endless = self.planted.is(Fault::IgnoresWindow) && state.has_log_room();
        let live = state.health.is_live();
        set(
            &mut masks.open,
            state.health == super::Health::Good
                && state.resend.is_empty()
                && !state.draining
                && (endless
                    || (in_flight == 0 || state.window_q10 > in_flight << 10)
                        && state.has_sequence_room()),
        );
        set(
            &mut masks.resend,
            live && !state.resend.is_empty()
                && in_flight << 10 < state.window_q10 + (1 << 10)
                && state.has_log_room(),
        );
        set(&mut masks.probe, state.probes_due > 0);
        set(&mut masks.waiting, in_flight > 0);
        let way_ns = self.windows.base_rtt_ns.saturating_add(state.queue.mean_ns);
        self.marks[path].score =
            log2(state.window_q10) - log2(way_ns) * 3 / 4 - log2(in_flight + 1);
    }

    /// Whether the connection has something that may leave by a plane now.
    pub(super) fn can_send(&self, plane: usize) -> bool {
        let masks = &self.planes[plane];
        !self.ended
            && (masks.probe != 0
                || self.windows.has_room()
                    && (masks.resend != 0 || masks.open != 0 && self.has_new()))
    }

    /// Whether nothing is left but a few packets on their way: the receiver's line is for others (T-2.12).
    pub(super) fn is_ending(&self) -> bool {
        let out = self
            .planes
            .iter()
            .map(|plane| plane.waiting.count_ones())
            .sum::<u32>();
        !self.has_new()
            && out <= ENDING_PATHS_MAX
            && self.planes.iter().all(|plane| plane.resend == 0)
    }

    /// Whether there are packets that have no path yet.
    pub(super) fn has_new(&self) -> bool {
        !self.streams_ready.is_empty() || !self.freed.is_empty()
    }

    /// Puts the connection into the turn of every plane by which it can send.
    pub(super) fn wake(&mut self, core: &mut Core) {
        for plane in 0..self.planes.len() {
            if !self.planes[plane].queued && self.can_send(plane) {
                self.planes[plane].queued = true;
                core.planes[plane].turn.push_back(self.number.value());
            }
        }
    }
}

impl ConnectionPlane {
    fn new() -> Self {
        Self {
            open: 0,
            resend: 0,
            probe: 0,
            waiting: 0,
            queued: false,
            last: 0,
            ack: AckPlane::default(),
            ack_timer: Timer::new(),
            least_way: LeastWay::default(),
            return_mask: ReturnMask::default(),
            peer_return_mask: 0,
        }
    }
}
