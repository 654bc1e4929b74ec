//! The behavioural endpoint: one NIC of the transport (`docs/transport.md`) as a state machine without I/O.
//!
//! It sends nothing by itself, reads no clock and allocates nothing in steady state: time is an argument in
//! nanoseconds, chance comes from a seed, payload stays in the host's memory. Methods come in four kinds:
//! `handle_*` takes what happens, verbs (`post_send`, `register`, ...) take what the host wants,
//! `poll_*` gives what comes out, the rest looks. After each of the first two kinds call
//! [`Endpoint::poll_transmit`] for every plane whose port is free, and wake the endpoint by
//! [`Endpoint::handle_timeout`] when [`Endpoint::poll_timeout`] says.
//!
//! One mechanism a file. A sender's packet: `stream` -> `spray` -> `segment`; what comes back:
//! `acknowledge` -> `loss` -> `windows`, and in silence `probe` -> `health` -> `fence`. A receiver's
//! packet: `receive` -> `path_sequence` -> `message_table` -> `ack_generator`.

mod ack_generator;
mod acknowledge;
mod admission;
mod black_hole;
pub mod config;
mod connection;
mod core;
mod counters;
mod delivery;
mod events;
mod fence;
mod handshake;
mod health;
mod keepalive;
mod log2;
mod loss;
mod loss_rate;
mod message_table;
mod not_ready;
mod occupancy;
mod packet;
mod path_sequence;
mod planted;
mod prefetch;
mod probe;
mod receive;
mod redraw;
mod region;
mod return_path;
mod rng;
mod segment;
mod settle;
mod setup;
mod share;
mod silence;
mod spray;
mod stream;
mod stream_set;
mod table;
mod tail;
mod telemetry;
mod timers;
mod transmit;
mod tx_path;
mod urgent;
mod ways;
mod windows;
mod wire_time;
mod work;

pub use config::{Config, ConfigError};
pub use connection::Established;
pub use counters::Counter;
pub use events::{Event, EventKind};
pub use health::{Health, HealthEvent, TRANSITIONS};
pub use occupancy::{Balance, Occupancy};
pub use packet::{Arrival, HEADER_LEN_MAX, INLINE_MAX, Memory, Packet, Payload, Transmit};
#[cfg(feature = "planted")]
pub use planted::Fault;
pub use settle::{AcceptError, MTU_MIN, Settled, check_accept, settle};
pub use setup::{CloseReason, ConnectionState};
pub use telemetry::{ConnectionTelemetry, PathCounts, PathTelemetry};
pub use work::{
    Completion, MESSAGE_LENGTH_MAX, PostError, ReceiveRequest, Region, Rights, Side, Status,
    WorkOperation, WorkRequest,
};

use self::connection::Connection;
use self::core::Core;
use self::path_sequence::PathSequence;
use self::region::Access;
use self::setup::{Listener, Setup};
use self::table::Connections;
use self::timers::TimerKind;
use crate::wire::{ConnectionId, Epoch, Key, Ordinal, PathId, Psn};
use std::collections::VecDeque;

/// One NIC.
#[derive(Debug)]
#[repr(C)]
pub struct Endpoint {
    connections: Connections,
    core: Core,
    /// Set-up by number of connection.
    setups: Vec<Option<Box<Setup>>>,
    listeners: Vec<Listener>,
    /// Connections that listeners have accepted and the host has not taken: at most `connections_max`.
    accepted: VecDeque<ConnectionId>,
    last_number: u32,
}

impl Endpoint {
    /// A NIC without connections.
    pub fn new(config: Config, seed: u64) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            core: Core::new(config, seed),
            connections: Connections::default(),
            setups: Vec::new(),
            listeners: Vec::new(),
            accepted: VecDeque::new(),
            last_number: 0,
        })
    }

    /// What it was made with.
    pub fn config(&self) -> &Config {
        &self.core.config
    }

    /// Lets peers use memory; the key is to be told to them.
    pub fn register(&mut self, region: Region) -> Result<Key, PostError> {
        self.core.regions.register(region, &mut self.core.rng)
    }

    /// Takes memory back: the key fails from the moment that this returns (T-6.6).
    pub fn deregister(&mut self, key: Key) -> Result<(), PostError> {
        self.core.regions.deregister(key)
    }

    /// A connection whose set-up both sides know already. Both call it.
    pub fn establish(
        &mut self,
        now: u64,
        established: Established,
    ) -> Result<ConnectionId, PostError> {
        let number = established.connection;
        let config = &self.core.config;
        let fits = (1..=config.connections_max).contains(&number.value())
            && established.peer_planes.len() == config.planes.len()
            && established.settled.is_within(config);
        if !fits || self.setup_of(number.value()).is_some() {
            return Err(PostError::Connection(number));
        }
        self.open_connection(now, &established);
        let setup = self.known_setup(&established);
        self.insert_setup(setup);
        Ok(number)
    }

    /// For tests: lets every path of a connection, both ways, start with this epoch and these numbers (T-6.5). The peer
    /// must do the same before anything is sent.
    ///
    /// # Panics
    /// When `psn` is no multiple of 2 W.
    pub fn preset_sequences(
        &mut self,
        connection: ConnectionId,
        epoch: Epoch,
        psn: Psn,
        ordinal: Ordinal,
    ) -> Result<(), PostError> {
        let found = self.connections.get_mut(connection.value());
        let found = found.ok_or(PostError::Connection(connection))?;
        let window = found.settled.window;
        assert_eq!(
            psn.value() % (2 * u32::from(window)),
            0,
            "a whole number of double laps"
        );
        for path in &mut found.tx {
            path.start_at(epoch, psn, ordinal);
        }
        found
            .rx
            .fill(PathSequence::starting_at(window, epoch, psn, ordinal));
        Ok(())
    }

    /// Asks for a transfer. A refused one takes no number, slot or credit. A request counts among
    /// `send_requests_max` until its completion is taken.
    pub fn post_send(
        &mut self,
        _now: u64,
        connection: ConnectionId,
        stream: u8,
        request: WorkRequest,
    ) -> Result<(), PostError> {
        let max = self.core.config.send_requests_max;
        let found = self.connections.get_mut(connection.value());
        let found = found.ok_or(PostError::Connection(connection))?;
        found.check_post(stream, &request, max, &self.core)?;
        found.streams[usize::from(stream)].post(request);
        found.refresh_stream(stream);
        found.wake(&mut self.core);
        Ok(())
    }

    /// Gives memory to the next SEND of the peer on a stream. A refused request takes no number. It counts among
    /// `receive_requests_max` until its completion is taken.
    pub fn post_receive(
        &mut self,
        _now: u64,
        connection: ConnectionId,
        stream: u8,
        request: ReceiveRequest,
    ) -> Result<(), PostError> {
        let max = self.core.config.receive_requests_max;
        let found = self.connections.get_mut(connection.value());
        let found = found.ok_or(PostError::Connection(connection))?;
        found.check_stream(stream)?;
        work::check_range(request.address, request.length)?;
        let half = &mut found.streams[usize::from(stream)];
        if half.receives.len() + half.untaken(Side::Receive) >= max as usize {
            return Err(PostError::Full { max });
        }
        half.receives.push_back(request);
        Ok(())
    }

    /// Takes a packet whose CRC was found right. In simulations that carry no
    /// bytes `payload` may be empty where the packet was sent with [`Payload::Memory`].
    pub fn handle_packet<M: Memory>(
        &mut self,
        now: u64,
        arrival: &Arrival,
        packet: &Packet,
        payload: &[u8],
        memory: &mut M,
    ) {
        if let Packet::Control(control) = packet {
            self.on_control(now, arrival.plane.into(), control);
            return;
        }
        let core = &mut self.core;
        let Some(connection) = self
            .connections
            .get_mut(packet.connection().value())
            .filter(|connection| !connection.ended)
        else {
            core.counters.bump(Counter::DropConnection);
            return;
        };
        if packet.incarnation() != connection.incarnation {
            core.counters.bump(Counter::DropIncarnation);
            return;
        }
        connection.heard_ns = now;
        match packet {
            Packet::Data(data) => connection.on_data(core, now, arrival, data, payload, memory),
            Packet::Ack(ack) => connection.on_ack(core, now, ack),
            Packet::Nack(nack) => connection.on_nack(core, now, nack),
            Packet::Probe(probe) => connection.on_probe(core, now, arrival, probe),
            Packet::Control(_) => {}
        }
        if !self.core.ended.is_empty() {
            self.say_byes(now);
        }
    }

    /// The link of a plane went up or down.
    pub fn handle_link(&mut self, now: u64, plane: u8, up: bool) {
        let Some(queues) = self.core.planes.get_mut(usize::from(plane)) else {
            return;
        };
        if std::mem::replace(&mut queues.link_up, up) == up {
            return;
        }
        let kind = if up {
            EventKind::LinkUp
        } else {
            EventKind::LinkDown
        };
        self.core
            .event(now, ConnectionId::CONTROL, PathId(0), kind, plane.into());
        for connection in self.connections.iter_mut() {
            connection.on_link(&mut self.core, plane.into(), up, now);
        }
        self.say_byes(now);
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: u64) {
        while let Some((at, key)) = self.core.timers.pop_due(now) {
            if key.kind == TimerKind::Setup {
                self.on_setup_timer(at, key, now);
            } else if let Some(connection) = self.connections.get_mut(key.connection) {
                connection.on_timer(&mut self.core, at, key, now);
            }
        }
        self.say_byes(now);
    }

    /// When to call [`Self::handle_timeout`] at the latest; it may be earlier than needed.
    pub fn poll_timeout(&self) -> Option<u64> {
        self.core.timers.next()
    }

    /// The next request that is done, or message that has arrived. Look after [`Self::poll_transmit`] too: a packet that
    /// was to be sent again may prove to have arrived.
    pub fn poll_completion(&mut self) -> Option<Completion> {
        let completion = self.core.completions.pop_front()?;
        if let Some(connection) = self.connections.get_mut(completion.connection.value()) {
            connection.on_taken(&completion);
        }
        Some(completion)
    }

    /// The next record of evidence.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.core.events.pop()
    }
}

impl Connection {
    fn check_stream(&self, stream: u8) -> Result<(), PostError> {
        if self.ended {
            return Err(PostError::NotEstablished(self.number));
        }
        let streams = self.settled.streams;
        if u16::from(stream) >= streams {
            return Err(PostError::Stream { stream, streams });
        }
        Ok(())
    }

    fn check_post(
        &self,
        stream: u8,
        request: &WorkRequest,
        max: u32,
        core: &Core,
    ) -> Result<(), PostError> {
        self.check_stream(stream)?;
        request.check()?;
        let (address, length) = (request.operation.local(), request.operation.length());
        if let Some(key) = request.operation.local_key()
            && core
                .regions
                .check(key, Access::Answer, address, length)
                .is_err()
        {
            return Err(PostError::LocalKey {
                key,
                address,
                length,
            });
        }
        let half = &self.streams[usize::from(stream)];
        let full = half.requests() + half.untaken(Side::Send) >= max as usize;
        if full && !self.planted.is(planted::Fault::TakesAnyNumber) {
            return Err(PostError::Full { max });
        }
        Ok(())
    }

    /// The host has taken a completion.
    fn on_taken(&mut self, completion: &Completion) {
        if let Some(half) = self.streams.get_mut(usize::from(completion.stream)) {
            let untaken = &mut half.untaken[completion.side as usize];
            *untaken = untaken.saturating_sub(1);
        }
    }

    /// Hands a completion to the host.
    fn complete(&mut self, core: &mut Core, completion: Completion) {
        self.streams[usize::from(completion.stream)].untaken[completion.side as usize] += 1;
        core.completions.push_back(completion);
        if self.planted.is(planted::Fault::CompletesTwice) {
            core.completions.push_back(completion);
        }
        let count = core.completions.len();
        if count > 1 && self.planted.is(planted::Fault::CompletesOutOfOrder) {
            core.completions.swap(count - 1, count - 2);
        }
    }

    fn on_timer(&mut self, core: &mut Core, at: u64, key: timers::TimerKey, now: u64) {
        let index = usize::from(key.index);
        match key.kind {
            TimerKind::Path => {
                let Some(path) = self.tx.get_mut(index) else {
                    return;
                };
                if path.timer.fire(at, now, key, &mut core.timers) && !self.ended {
                    self.on_path_timer(core, index, now);
                }
            }
            TimerKind::Setup => {}
            TimerKind::Pace => {
                if self.windows.pace_timer.fire(at, now, key, &mut core.timers) {
                    self.windows.paced = false;
                    self.wake(core);
                }
            }
            TimerKind::Keepalive => {
                if self.keepalive.fire(at, now, key, &mut core.timers) && !self.ended {
                    self.on_keepalive_timer(core, now);
                }
            }
            TimerKind::Hold => {
                let Some(stream) = self.streams.get_mut(index) else {
                    return;
                };
                if stream.hold_timer.fire(at, now, key, &mut core.timers) && !self.ended {
                    self.on_hold_timer(core, key.index);
                }
            }
            TimerKind::Ack => {
                let Some(plane) = self.planes.get_mut(index) else {
                    return;
                };
                if plane.ack_timer.fire(at, now, key, &mut core.timers) {
                    self.queue_ack(core, index);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
