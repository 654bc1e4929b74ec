//! How full everything is that has a bound, and whether every packet that was given to a path is somewhere.
//!
//! For witnesses, which hold it against T-2.6, T-2.9 and the configuration; nothing of the transport reads it.

use super::Endpoint;
use super::admission::ANSWERS_PER_SLOT;
use super::connection::Connection;
use super::core::{CONTROL_MAX, Core, URGENT_MAX};
use super::tx_path::LOG_ENTRIES_PER_PSN;
use super::work::Side;
use crate::wire::ConnectionId;

/// Entries of a path's log beyond those of its packets: probes of one outage, to the end of the back-off.
const LOG_ENTRIES_OF_PROBES: usize = 64;

/// The fullest of all structures of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupancy {
    /// What it is.
    pub name: &'static str,
    /// Entries in use.
    pub used: usize,
    /// Most that there may be.
    pub bound: usize,
}

/// Where the packets of a connection are that have been given to a path and have not arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Balance {
    /// By the books of the open messages and answers.
    pub outstanding: usize,
    /// In the paths' logs: on their way.
    pub logged: usize,
    /// Lost, waiting to be sent again.
    pub resends: usize,
    /// Set aside since their receiver was not ready.
    pub held: usize,
    /// Freed by a fence.
    pub freed: usize,
    /// Packets in flight that the connection's window counts, and those that it should: of paths that count.
    pub counted: [usize; 2],
    /// Messages, answers and slots in use.
    pub open: [usize; 3],
}

macro_rules! kinds {
    ($(($kind:ident, $name:literal),)*) => {
        /// What has a bound.
        #[derive(Debug, Clone, Copy)]
        enum Kind {
            $($kind,)*
        }

        /// Empty, of each kind.
        const EMPTY: [Occupancy; [$($name),*].len()] = [$(Occupancy { name: $name, used: 0, bound: i64::MAX as usize },)*];
    };
}

kinds! {
    (AnswersOfAPlane, "answers of a plane"),
    (ControlOfAPlane, "CONTROL of a plane"),
    (ConnectionsToAcknowledge, "connections to acknowledge"),
    (ConnectionsInTurn, "connections in turn"),
    (EvidenceRecords, "evidence records"),
    (AcceptedConnections, "accepted connections"),
    (PsnsOfAPath, "PSNs of a path"),
    (PacketsInFlightOnAPath, "packets in flight on a path"),
    (LogOfAPath, "log of a path"),
    (PacketsOfAPathToSendAgain, "packets of a path to send again"),
    (FreedPackets, "freed packets"),
    (OpenMessages, "open messages"),
    (OpenAnswers, "open answers"),
    (MessageSlots, "message slots"),
    (SendRequests, "send requests"),
    (ReceiveRequests, "receive requests"),
    (Immediates, "immediates"),
}

/// Collects the fullest of each kind.
struct Fullest([Occupancy; EMPTY.len()]);

impl Fullest {
    fn note(&mut self, kind: Kind, used: usize, bound: usize) {
        let found = &mut self.0[kind as usize];
        let room = |used: usize, bound: usize| (bound as i64) - (used as i64);
        if room(used, bound) < room(found.used, found.bound) {
            (found.used, found.bound) = (used, bound);
        }
    }
}

impl Endpoint {
    /// The fullest structure of each kind; one that is nowhere has no bound. Looks at everything there is: not for every packet.
    pub fn occupancy(&self) -> impl IntoIterator<Item = Occupancy> + use<> {
        let mut fullest = Fullest(EMPTY);
        let most = self.core.config.connections_max as usize;
        for plane in &self.core.planes {
            fullest.note(Kind::AnswersOfAPlane, plane.urgent.len(), URGENT_MAX);
            fullest.note(Kind::ControlOfAPlane, plane.control.len(), CONTROL_MAX);
            fullest.note(Kind::ConnectionsToAcknowledge, plane.acks.len(), most);
            fullest.note(Kind::ConnectionsInTurn, plane.turn.len(), most);
        }
        let events = self.core.config.events_max;
        fullest.note(Kind::EvidenceRecords, self.core.events.len(), events);
        fullest.note(Kind::AcceptedConnections, self.accepted.len(), most);
        for connection in self.connections.iter() {
            connection.occupancy(&self.core, &mut fullest);
        }
        fullest.0
    }

    /// Where a connection's packets are, if it is there and in service.
    pub fn balance(&self, connection: ConnectionId) -> Option<Balance> {
        let connection = self.connections.get(connection.value())?;
        (!connection.ended).then(|| connection.balance())
    }
}

impl Connection {
    fn occupancy(&self, core: &Core, fullest: &mut Fullest) {
        let window = usize::from(self.settled.window);
        for path in &self.tx {
            let sequence = path.next_psn.distance_from(path.cumulative) as usize;
            let logs = window * LOG_ENTRIES_PER_PSN + LOG_ENTRIES_OF_PROBES;
            fullest.note(Kind::PsnsOfAPath, sequence, window);
            fullest.note(Kind::PacketsInFlightOnAPath, path.in_flight.into(), window);
            fullest.note(Kind::LogOfAPath, path.log.len(), logs);
            let again = path.resend.len() + path.held.len();
            fullest.note(Kind::PacketsOfAPathToSendAgain, again, window);
        }
        fullest.note(Kind::FreedPackets, self.freed.len(), window * self.tx.len());
        let slots = usize::from(self.settled.slots);
        let config = &core.config;
        let (send, receive) = (config.send_requests_max, config.receive_requests_max);
        let (send, receive) = (send as usize, receive as usize);
        for stream in &self.streams {
            let [messages, answers, _] = stream.outstanding();
            fullest.note(Kind::OpenMessages, messages, slots);
            // Requests are refused by the answers that are open; those in the slots by then still get one.
            let answers_max = slots * (ANSWERS_PER_SLOT + 1);
            fullest.note(Kind::OpenAnswers, answers, answers_max);
            fullest.note(Kind::MessageSlots, stream.incoming.len(), slots);
            let sends = stream.requests() + stream.untaken(Side::Send);
            fullest.note(Kind::SendRequests, sends, send);
            let receives = stream.receives.len() + stream.untaken(Side::Receive);
            fullest.note(Kind::ReceiveRequests, receives, receive);
            let immediates = stream.untaken(Side::WriteImm);
            fullest.note(Kind::Immediates, immediates, receive + slots);
        }
    }

    fn balance(&self) -> Balance {
        let mut balance = Balance::default();
        for path in &self.tx {
            balance.logged += path.log.iter().filter(|entry| !entry.probe).count();
            balance.resends += path.resend.len();
            balance.held += path.held.len();
            let counted = if path.counted { path.in_flight } else { 0 };
            balance.counted[1] += usize::from(counted);
        }
        balance.counted[0] = self.windows.in_flight as usize;
        balance.freed = self.freed.len();
        for stream in &self.streams {
            let [messages, answers, packets] = stream.outstanding();
            balance.outstanding += packets;
            balance.open[0] += messages;
            balance.open[1] += answers;
            balance.open[2] += stream.incoming.len();
        }
        balance
    }
}
