//! Set-up and end of connections (T-4): HELLO, ACCEPT, REJECT and BYE, their repetition and their answers.
//!
//! What is settled on is in [`super::settle`]. A responder makes its connection before it answers; a question
//! that comes again gets the same answer and does nothing else. Answers leave by the plane that the question
//! came by; questions go by the next plane each time.

use super::Endpoint;
use super::connection::{Connection, Established};
use super::core::Core;
use super::counters::Counter;
use super::events::EventKind;
use super::settle::{Settled, check_accept, settle};
use super::setup::{CloseReason, ConnectionState, Listener, Peer, Setup};
use super::timers::{NEVER, Timer, TimerKey, TimerKind};
use super::work::{PostError, Status};
use crate::wire::{
    Accept, Bye, ConnectionId, Control, ControlBody, Hello, Incarnation, Offer, PathId,
    PlaneAddress, Reject, RejectReason, RemoteRegion,
};

/// The set-up of a number, apart from the endpoint's other state.
fn setup_mut(setups: &mut [Option<Box<Setup>>], number: u32) -> Option<&mut Setup> {
    setups.get_mut(number as usize)?.as_deref_mut()
}

impl Endpoint {
    /// Accepts connections to `service` from now on, and announces `regions` to each.
    pub fn listen(&mut self, service: u32, regions: &[RemoteRegion]) -> Result<(), PostError> {
        self.check_regions(regions)?;
        self.listeners
            .retain(|listener| listener.service != service);
        self.listeners.push(Listener {
            service,
            regions: regions.to_vec(),
        });
        Ok(())
    }

    /// Asks the peer whose ports are at `peer` (plane 0 first; one is enough) for a connection to `service`, and
    /// announces `regions` to it. [`Endpoint::connection_state`] tells how it goes.
    pub fn connect(
        &mut self,
        now: u64,
        peer: &[PlaneAddress],
        service: u32,
        regions: &[RemoteRegion],
    ) -> Result<ConnectionId, PostError> {
        self.check_regions(regions)?;
        let (found, expected) = (peer.len(), self.core.config.planes.len());
        if found == 0 || found > expected {
            return Err(PostError::Planes { found, expected });
        }
        let max = self.core.config.connections_max;
        let number = self.free_number().ok_or(PostError::Connections { max })?;
        let mut setup = self.setup(number, service, regions.to_vec());
        setup.transaction = self.core.rng.next() as u32;
        setup.initiator = true;
        setup.hello_to = peer.to_vec();
        self.insert_setup(setup);
        self.ask(number, now);
        Ok(ConnectionId::new(number))
    }

    /// The next connection that a listener has accepted.
    pub fn poll_accepted(&mut self) -> Option<ConnectionId> {
        self.accepted.pop_front()
    }

    /// Ends a connection: what is outstanding is flushed in order, the peer is told.
    pub fn close(&mut self, now: u64, connection: ConnectionId) -> Result<(), PostError> {
        let number = connection.value();
        match self.connection_state(connection) {
            None => return Err(PostError::Connection(connection)),
            Some(ConnectionState::Connecting) => {
                self.end_setup(number, ConnectionState::Closed(CloseReason::Local), now);
            }
            Some(ConnectionState::Established) => {
                if let Some(connection) = self.connections.get_mut(number) {
                    connection.end(&mut self.core, None, Status::Flushed);
                }
                self.say_bye(number, CloseReason::Local, now);
            }
            Some(ConnectionState::Closing(_) | ConnectionState::Closed(_)) => {}
        }
        self.say_byes(now);
        Ok(())
    }

    /// Forgets a connection that is over and frees its number. One that is not is closed without telling.
    pub fn release(&mut self, connection: ConnectionId) -> Result<(), PostError> {
        self.connection_state(connection)
            .ok_or(PostError::Connection(connection))?;
        if let Some(connection) = self.connections.get_mut(connection.value()) {
            connection.end(&mut self.core, None, Status::Flushed);
        }
        self.connections.remove(connection.value());
        self.core.forget(connection.value());
        self.setups[connection.value() as usize] = None;
        Ok(())
    }

    /// Memory that the peer has announced.
    pub fn remote_regions(&self, connection: ConnectionId) -> &[RemoteRegion] {
        self.setup_of(connection.value())
            .map_or(&[], |setup| &setup.regions)
    }

    /// What the two sides have settled on.
    pub fn settled(&self, connection: ConnectionId) -> Option<Settled> {
        self.connections
            .get(connection.value())
            .map(|connection| connection.settled)
    }

    fn check_regions(&self, regions: &[RemoteRegion]) -> Result<(), PostError> {
        let max = Offer::regions_max(self.core.config.planes.len());
        if regions.len() > max {
            return Err(PostError::Announced {
                found: regions.len(),
                max,
            });
        }
        Ok(())
    }

    fn setup(&mut self, number: u32, service: u32, regions: Vec<RemoteRegion>) -> Setup {
        Setup {
            number,
            state: ConnectionState::Connecting,
            initiator: false,
            transaction: 0,
            offer: Offer {
                incarnation: Incarnation(self.core.rng.next() as u16),
                connection: ConnectionId::new(number),
                ..self.core.offer(service, regions)
            },
            hello_to: Vec::new(),
            peer: None,
            regions: Vec::new(),
            attempts: 0,
            timer: Timer::new(),
        }
    }

    /// Sends HELLO or BYE once more, by the next plane, or gives up (T-4.2, T-4.7).
    pub(super) fn ask(&mut self, number: u32, now: u64) {
        let handshake = self.core.config.handshake;
        let Some(setup) = setup_mut(&mut self.setups, number) else {
            return;
        };
        let attempts = setup.attempts;
        if attempts >= handshake.attempts_max {
            let state = match setup.state {
                ConnectionState::Closing(reason) => ConnectionState::Closed(reason),
                _ => ConnectionState::Closed(CloseReason::NoAnswer(attempts)),
            };
            self.end_setup(number, state, now);
            return;
        }
        setup.attempts += 1;
        let ports = setup
            .peer
            .as_ref()
            .map_or(&setup.hello_to, |peer| &peer.planes);
        let plane = attempts as usize % ports.len();
        let to = ports[plane];
        let body = match (&setup.state, &setup.peer) {
            (ConnectionState::Closing(_), Some(peer)) => ControlBody::Bye(Bye {
                answer: false,
                connection: peer.connection,
                incarnation: peer.incarnation,
                address: self.core.config.planes[plane],
            }),
            _ => ControlBody::Hello(setup.offer.clone()),
        };
        let key = TimerKey {
            kind: TimerKind::Setup,
            index: 0,
            connection: number,
        };
        self.core
            .timers
            .set(&mut setup.timer, now + handshake.retry_ns, key);
        self.core
            .control(plane, to, Control::new(setup.transaction, body));
    }

    /// Takes a CONTROL packet.
    pub(super) fn on_control(&mut self, now: u64, plane: usize, control: &Control) {
        if plane >= self.core.config.planes.len() {
            self.core.counters.bump(Counter::DropPath);
            return;
        }
        self.core.counters.bump(Counter::ReceivedControl);
        let transaction = control.transaction;
        match &control.body {
            ControlBody::Hello(hello) => self.on_hello(now, plane, transaction, hello),
            ControlBody::Accept(accept) => self.on_accept(now, plane, transaction, accept),
            ControlBody::Reject(reject) => self.on_reject(now, transaction, *reject),
            ControlBody::Bye(bye) => self.on_bye(now, plane, transaction, bye),
        }
    }

    fn on_hello(&mut self, now: u64, plane: usize, transaction: u32, hello: &Hello) {
        let Some(back) = hello.planes.get(plane).or(hello.planes.first()).copied() else {
            return; // Nobody to answer.
        };
        let same_peer = |setup: &&Setup| {
            let peer = setup.peer.as_ref();
            !setup.initiator
                && setup.state == ConnectionState::Established
                && peer
                    .is_some_and(|p| p.connection == hello.connection && p.planes == hello.planes)
        };
        if let Some(older) = self.find_setup(same_peer) {
            if older.transaction == transaction {
                let answer = Control::new(transaction, ControlBody::Accept(older.offer.clone()));
                self.core.control(plane, back, answer);
                return;
            }
            self.end_service(older.number, CloseReason::Peer, now);
        }
        let body = match self.grant(transaction, hello, now) {
            Ok(accept) => ControlBody::Accept(accept),
            Err(reject) => ControlBody::Reject(reject),
        };
        self.core
            .control(plane, back, Control::new(transaction, body));
    }

    /// Makes a connection for a HELLO, ready before it is announced (T-4.4), or says why not.
    fn grant(&mut self, transaction: u32, hello: &Hello, now: u64) -> Result<Accept, Reject> {
        let listener = self
            .listeners
            .iter()
            .find(|l| l.service == hello.service)
            .cloned();
        let yours = hello.service;
        let listener = listener.ok_or(Reject {
            reason: RejectReason::Service,
            ours: 0,
            yours,
        })?;
        let settled = settle(&self.core.offer(hello.service, Vec::new()), hello)?;
        let ours = self.core.config.connections_max;
        let number = self.free_number().ok_or(Reject {
            reason: RejectReason::NoConnection,
            ours,
            yours: 1,
        })?;
        let mut setup = self.setup(number, hello.service, listener.regions);
        settled.state(&mut setup.offer);
        setup.transaction = transaction;
        setup.regions.clone_from(&hello.regions);
        setup.peer = Some(Peer::of(hello));
        let accept = setup.offer.clone();
        self.insert_setup(setup);
        self.put_into_service(number, settled, now);
        self.accepted.push_back(ConnectionId::new(number));
        Ok(accept)
    }

    /// Starts a connection whose peer is known.
    fn put_into_service(&mut self, number: u32, settled: Settled, now: u64) {
        let Some(setup) = setup_mut(&mut self.setups, number) else {
            return;
        };
        let Some(peer) = &setup.peer else {
            debug_assert!(false, "the peer is known before service begins");
            return;
        };
        let established = Established {
            connection: setup.offer.connection,
            incarnation: setup.offer.incarnation,
            peer_connection: peer.connection,
            peer_incarnation: peer.incarnation,
            peer_planes: peer.planes.clone(),
            settled,
        };
        setup.state = ConnectionState::Established;
        setup.timer.deadline = NEVER;
        self.open_connection(now, &established);
        let kind = EventKind::ConnectionEstablished;
        self.core
            .event(now, established.connection, PathId(0), kind, 0);
    }

    /// A connection begins.
    pub(super) fn open_connection(&mut self, now: u64, established: &Established) {
        let core = &mut self.core;
        let mut connection = Connection::new(established, &core.config, &mut core.rng);
        connection.heard_ns = now;
        connection.set_keepalive(core, now);
        self.connections.insert(connection);
    }

    fn on_accept(&mut self, now: u64, plane: usize, transaction: u32, accept: &Accept) {
        let asked = |setup: &&mut Box<Setup>| setup.initiator && setup.transaction == transaction;
        let Some(setup) = self.setups.iter_mut().flatten().find(asked) else {
            self.refuse_accept(plane, transaction, accept);
            return;
        };
        let number = setup.number;
        match setup.state {
            ConnectionState::Connecting => {}
            ConnectionState::Established => return,
            _ => {
                self.refuse_accept(plane, transaction, accept);
                return;
            }
        }
        match check_accept(&setup.offer, accept) {
            Ok(settled) => {
                setup.peer = Some(Peer::of(accept));
                setup.regions.clone_from(&accept.regions);
                self.put_into_service(number, settled, now);
            }
            Err(fault) => {
                let state = ConnectionState::Closed(CloseReason::Accept(fault));
                self.end_setup(number, state, now);
                self.refuse_accept(plane, transaction, accept);
            }
        }
    }

    /// Ends the connection that an unwanted ACCEPT has left half open at the peer (T-4.6).
    fn refuse_accept(&mut self, plane: usize, transaction: u32, accept: &Accept) {
        if let Some(to) = accept.planes.get(plane).or(accept.planes.first()).copied() {
            let bye = Bye {
                answer: false,
                connection: accept.connection,
                incarnation: accept.incarnation,
                address: self.core.config.planes[plane],
            };
            self.core
                .control(plane, to, Control::new(transaction, ControlBody::Bye(bye)));
        }
    }

    fn on_reject(&mut self, now: u64, transaction: u32, reject: Reject) {
        let asked = |setup: &&Setup| {
            setup.initiator
                && setup.transaction == transaction
                && setup.state == ConnectionState::Connecting
        };
        if let Some(number) = self.find_setup(asked).map(|s| s.number) {
            let state = ConnectionState::Closed(CloseReason::Rejected(reject));
            self.end_setup(number, state, now);
        }
    }

    fn on_bye(&mut self, now: u64, plane: usize, transaction: u32, bye: &Bye) {
        if bye.answer {
            let ours = |setup: &&Setup| {
                setup.transaction == transaction
                    && matches!(setup.state, ConnectionState::Closing(_))
            };
            if let Some(setup) = self.find_setup(ours)
                && let ConnectionState::Closing(reason) = setup.state
            {
                self.end_setup(setup.number, ConnectionState::Closed(reason), now);
            }
            return;
        }
        let number = bye.connection.value();
        let (mut connection, mut incarnation) = (ConnectionId::CONTROL, Incarnation(0));
        if let Some(setup) = self.setup_of(number)
            && setup.offer.incarnation == bye.incarnation
        {
            if let Some(peer) = &setup.peer {
                (connection, incarnation) = (peer.connection, peer.incarnation);
            }
            self.end_service(number, CloseReason::Peer, now);
        }
        let address = self.core.config.planes[plane];
        let answer = Bye {
            answer: true,
            connection,
            incarnation,
            address,
        };
        self.core.control(
            plane,
            bye.address,
            Control::new(transaction, ControlBody::Bye(answer)),
        );
    }

    /// The peer has ended a connection: flushes it, tells nobody.
    fn end_service(&mut self, number: u32, reason: CloseReason, now: u64) {
        if let Some(connection) = self.connections.get_mut(number) {
            connection.end(&mut self.core, None, Status::Flushed);
        }
        let reason = match self.setup_of(number).map(|setup| setup.state) {
            Some(ConnectionState::Closed(_)) | None => return,
            Some(ConnectionState::Closing(earlier)) => earlier,
            Some(_) => reason,
        };
        self.end_setup(number, ConnectionState::Closed(reason), now);
    }

    fn end_setup(&mut self, number: u32, state: ConnectionState, now: u64) {
        let Some(setup) = setup_mut(&mut self.setups, number) else {
            return;
        };
        setup.state = state;
        setup.timer.deadline = NEVER;
        let connection = ConnectionId::new(number);
        self.core
            .event(now, connection, PathId(0), EventKind::ConnectionClosed, 0);
    }

    /// Tells the peers of connections that have failed.
    pub(super) fn say_byes(&mut self, now: u64) {
        while let Some((number, status)) = self.core.ended.pop() {
            self.say_bye(number, CloseReason::Failed(status), now);
        }
    }

    fn say_bye(&mut self, number: u32, reason: CloseReason, now: u64) {
        let transaction = self.core.rng.next() as u32;
        let Some(setup) = setup_mut(&mut self.setups, number) else {
            return;
        };
        if setup.state != ConnectionState::Established {
            return;
        }
        setup.state = ConnectionState::Closing(reason);
        (setup.transaction, setup.attempts) = (transaction, 0);
        self.ask(number, now);
    }

    fn find_setup(&self, wanted: impl Fn(&&Setup) -> bool) -> Option<&Setup> {
        self.setups
            .iter()
            .flatten()
            .map(|setup| &**setup)
            .find(wanted)
    }

    pub(super) fn setup_of(&self, number: u32) -> Option<&Setup> {
        self.setups.get(number as usize)?.as_deref()
    }

    pub(super) fn insert_setup(&mut self, setup: Setup) {
        let number = setup.number as usize;
        if self.setups.len() <= number {
            self.setups.resize_with(number + 1, || None);
        }
        self.setups[number] = Some(Box::new(setup));
    }

    /// The next number that no connection has, so that numbers are not used again at once.
    fn free_number(&mut self) -> Option<u32> {
        let max = self.core.config.connections_max;
        let last = self.last_number;
        let number = (1..=max)
            .map(|step| (last + step - 1) % max + 1)
            .find(|number| self.setup_of(*number).is_none())?;
        self.last_number = number;
        Some(number)
    }

    /// The timer of a set-up has come.
    pub(super) fn on_setup_timer(&mut self, at: u64, key: TimerKey, now: u64) {
        let Some(setup) = self
            .setups
            .get_mut(key.connection as usize)
            .and_then(Option::as_mut)
        else {
            return;
        };
        if setup.timer.fire(at, now, key, &mut self.core.timers) {
            self.ask(key.connection, now);
        }
    }

    /// Set-up of a connection that both sides knew already.
    pub(super) fn known_setup(&mut self, established: &Established) -> Setup {
        let mut setup = self.setup(established.connection.value(), 0, Vec::new());
        setup.state = ConnectionState::Established;
        setup.offer.incarnation = established.incarnation;
        established.settled.state(&mut setup.offer);
        setup.peer = Some(Peer {
            connection: established.peer_connection,
            incarnation: established.peer_incarnation,
            planes: established.peer_planes.clone(),
        });
        setup
    }
}

impl Core {
    /// What this NIC can do.
    fn offer(&self, service: u32, regions: Vec<RemoteRegion>) -> Offer {
        let config = &self.config;
        Offer {
            version_min: config.handshake.version_min,
            version_max: config.handshake.version_max,
            features: config.handshake.features,
            mtu: config.mtu,
            paths_per_plane: config.paths_per_plane,
            window: config.window,
            streams: config.streams,
            slots: config.slots,
            incarnation: Incarnation(0),
            connection: ConnectionId::CONTROL,
            service,
            planes: config.planes.clone(),
            regions,
        }
    }

    /// Queues a CONTROL packet. What finds the queue full is dropped and counted: questions are repeated.
    fn control(&mut self, plane: usize, to: PlaneAddress, control: Control) {
        let queue = &mut self.planes[plane].control;
        if queue.len() < super::core::CONTROL_MAX {
            queue.push_back((to, control));
        } else {
            self.counters.bump(Counter::DropQueueFull);
        }
    }
}
