//! Set-up and end of connections (T-4): HELLO, ACCEPT, REJECT, BYE, their repetition and their answers.

use super::completion_queue::{CompletionQueue, SendQueue};
use super::connection::{Connection, Peer, Retry, activate, deactivate};
use super::{
    CallerError, CloseReason, ConnectionHandle, ConnectionState, Context, Error, MemoryRegion,
    ProtectionDomain, Settled,
};
use crate::device::{Device, time, write};
use osprey_hls::endpoint::{check_accept, settle};
use osprey_hls::regs::control;
use osprey_hls::wire::{
    Accept, Bye, ConnectionId, Control, ControlBody, Hello, Incarnation, Offer, PlaneAddress,
    Reject, RejectReason, RemoteRegion, VERSION,
};
use rand::Rng;

/// Waits for connections to a service.
#[derive(Debug, Clone)]
pub(super) struct Listener {
    service: u32,
    domain: ProtectionDomain,
    regions: Vec<RemoteRegion>,
}

impl Context {
    /// Asks the peer whose ports are at `peer` (plane 0 first; one is enough) for a connection to
    /// `service`, and announces `regions` to it. [`Self::state`] tells how it goes.
    pub fn connect<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        domain: ProtectionDomain,
        peer: &[PlaneAddress],
        service: u32,
        regions: &[MemoryRegion],
    ) -> Result<ConnectionHandle, Error> {
        let expected = self.config.planes.len();
        if peer.is_empty() || peer.len() > expected {
            return Err(CallerError::Planes {
                found: peer.len(),
                expected,
            }
            .into());
        }
        let regions = self.announced(regions)?;
        let transaction = self.rng.random();
        let mut connection = self.new_connection(device, domain, transaction, service, regions)?;
        connection.initiator = true;
        connection.hello_to = peer.to_vec();
        connection.retry = Some(Retry {
            attempts: 0,
            due: time(device),
        });
        let handle = connection.handle;
        self.connections.insert(connection);
        self.progress(device)?;
        Ok(handle)
    }

    /// Accepts connections to `service` from now on, and announces `regions` to each.
    pub fn listen(
        &mut self,
        domain: ProtectionDomain,
        service: u32,
        regions: &[MemoryRegion],
    ) -> Result<(), Error> {
        let regions = self.announced(regions)?;
        self.listeners
            .retain(|listener| listener.service != service);
        self.listeners.push(Listener {
            service,
            domain,
            regions,
        });
        Ok(())
    }

    /// The next connection that a listener has accepted.
    pub fn accept(&mut self) -> Option<ConnectionHandle> {
        self.accepted.pop_front()
    }

    /// Ends a connection: what is outstanding is flushed, the peer is told.
    pub fn close<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        handle: ConnectionHandle,
    ) -> Result<(), Error> {
        let connection = self.connections.get_mut(handle)?;
        match connection.state {
            ConnectionState::Established => {
                deactivate(device, connection.number)?;
                connection.send.flush();
                connection.state = ConnectionState::Closing(CloseReason::Local);
                connection.transaction = self.rng.random();
                connection.retry = Some(Retry {
                    attempts: 0,
                    due: time(device),
                });
                self.progress(device)
            }
            ConnectionState::Connecting => {
                connection.close(CloseReason::Local);
                Ok(())
            }
            ConnectionState::Closing(_) | ConnectionState::Closed(_) => Ok(()),
        }
    }

    /// Forgets a closed connection and frees its number and rings.
    pub fn release<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        handle: ConnectionHandle,
    ) -> Result<(), Error> {
        if !matches!(
            self.connections.get(handle)?.state,
            ConnectionState::Closed(_)
        ) {
            self.close(device, handle)?;
        }
        let connection = self.connections.remove(handle)?;
        connection.send.release(device);
        connection.completions.release(device);
        Ok(())
    }

    /// Moves set-up along: takes messages, answers them, repeats what is due. Call it often.
    pub fn progress<D: Device + ?Sized>(&mut self, device: &mut D) -> Result<(), Error> {
        for (plane, message) in self.control.poll(device)? {
            if usize::from(plane) < self.config.planes.len() {
                self.handle_message(device, plane, message)?;
            }
        }
        if self
            .connections
            .iter()
            .any(|connection| connection.retry.is_some())
        {
            let now = time(device);
            self.handle_timers(now);
        }
        self.control.flush(device, &self.config);
        Ok(())
    }

    fn announced(&self, regions: &[MemoryRegion]) -> Result<Vec<RemoteRegion>, CallerError> {
        let (found, max) = (regions.len(), Offer::regions_max(self.config.planes.len()));
        if found > max {
            return Err(CallerError::Regions { found, max });
        }
        Ok(regions.iter().map(MemoryRegion::remote).collect())
    }

    /// What this side can do.
    fn offer(&self, service: u32, regions: Vec<RemoteRegion>) -> Offer {
        Offer {
            version_min: VERSION,
            version_max: VERSION,
            features: 0,
            mtu: self.config.mtu,
            paths_per_plane: self.config.paths_per_plane,
            window: self.capabilities.window,
            streams: 1,
            slots: self.capabilities.slots,
            incarnation: Incarnation(0),
            connection: ConnectionId::CONTROL,
            service,
            planes: self.config.planes.clone(),
            regions,
        }
    }

    fn new_connection<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        domain: ProtectionDomain,
        transaction: u32,
        service: u32,
        regions: Vec<RemoteRegion>,
    ) -> Result<Connection, Error> {
        let log2 = self.config.log2_send_ring;
        let mut offer = self.offer(service, regions);
        let handle = self.connections.reserve()?;
        let number = ConnectionId::new(handle.number());
        (offer.connection, offer.incarnation) = (number, Incarnation(self.rng.random()));
        // One completion a request and one error: twice the send ring cannot overflow.
        let rings = SendQueue::new(device, log2).and_then(|send| {
            Ok((
                send,
                CompletionQueue::new(device, number.value(), log2 + 1)?,
            ))
        });
        let (send, completions) = rings.inspect_err(|_| self.connections.unreserve(handle))?;
        Ok(Connection {
            handle,
            number,
            domain,
            state: ConnectionState::Connecting,
            transaction,
            offer,
            initiator: false,
            settled: None,
            peer: None,
            hello_to: Vec::new(),
            retry: None,
            send,
            completions,
        })
    }

    fn handle_message<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        plane: u8,
        message: Control,
    ) -> Result<(), Error> {
        match message.body {
            ControlBody::Hello(hello) => {
                self.handle_hello(device, plane, message.transaction, &hello)
            }
            ControlBody::Accept(accept) => {
                self.handle_accept(device, plane, message.transaction, &accept)
            }
            ControlBody::Reject(reject) => {
                self.handle_reject(message.transaction, reject);
                Ok(())
            }
            ControlBody::Bye(bye) => self.handle_bye(device, plane, message.transaction, &bye),
        }
    }

    fn handle_hello<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        plane: u8,
        transaction: u32,
        hello: &Hello,
    ) -> Result<(), Error> {
        let Some(back) = hello
            .planes
            .get(usize::from(plane))
            .or(hello.planes.first())
            .copied()
        else {
            return Ok(()); // Nobody to answer.
        };
        let same_peer = |connection: &&mut Connection| {
            let peer = connection.peer.as_ref();
            !connection.initiator
                && !matches!(connection.state, ConnectionState::Closed(_))
                && peer
                    .is_some_and(|p| p.connection == hello.connection && p.planes == hello.planes)
        };
        if let Some(older) = self.connections.iter_mut().find(same_peer) {
            if older.transaction == transaction {
                let answer = ControlBody::Accept(older.offer.clone());
                self.control
                    .send(plane, back, Control::new(transaction, answer));
                return Ok(());
            }
            deactivate(device, older.number)?;
            older.close(CloseReason::Peer);
        }
        match self.grant(device, transaction, hello)? {
            Ok(accept) => self.control.send(
                plane,
                back,
                Control::new(transaction, ControlBody::Accept(accept)),
            ),
            Err(reject) => self.control.send(
                plane,
                back,
                Control::new(transaction, ControlBody::Reject(reject)),
            ),
        }
        Ok(())
    }

    /// Makes a connection for a HELLO, ready before it is announced (T-4.4), or says why not.
    fn grant<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        transaction: u32,
        hello: &Hello,
    ) -> Result<Result<Accept, Reject>, Error> {
        let Some(listener) = self
            .listeners
            .iter()
            .find(|l| l.service == hello.service)
            .cloned()
        else {
            return Ok(Err(Reject {
                reason: RejectReason::Service,
                ours: 0,
                yours: hello.service,
            }));
        };
        let settled = match settle(&self.offer(hello.service, Vec::new()), hello) {
            Ok(settled) => settled,
            Err(reject) => return Ok(Err(reject)),
        };
        let made = self.new_connection(
            device,
            listener.domain,
            transaction,
            hello.service,
            listener.regions,
        );
        let mut connection = match made {
            Ok(connection) => connection,
            Err(Error::Caller(CallerError::NoConnection)) => {
                let ours = self.capabilities.connections - 1;
                return Ok(Err(Reject {
                    reason: RejectReason::NoConnection,
                    ours,
                    yours: 1,
                }));
            }
            Err(error) => return Err(error),
        };
        settled.state(&mut connection.offer);
        connection.peer = Some(Peer::of(hello));
        let accept = connection.offer.clone();
        let handle = connection.handle;
        self.establish(device, connection, settled)?;
        self.accepted.push_back(handle);
        Ok(Ok(accept))
    }

    /// Puts a connection whose peer is known into service.
    fn establish<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        mut connection: Connection,
        settled: Settled,
    ) -> Result<(), Error> {
        connection.settled = Some(settled);
        connection.state = ConnectionState::Established;
        connection.retry = None;
        let end = self.connections.end().max(connection.number.value() + 1);
        write(device, &control::CONNECTIONS_IN_USE, end);
        activate(device, &connection, &self.config, &mut self.rng)?;
        self.connections.insert(connection);
        Ok(())
    }

    fn handle_accept<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        plane: u8,
        transaction: u32,
        accept: &Accept,
    ) -> Result<(), Error> {
        let asked = |c: &&mut Connection| c.initiator && c.transaction == transaction;
        let found = self
            .connections
            .iter_mut()
            .find(asked)
            .map(|c| (c.handle, c.state));
        let Some((handle, ConnectionState::Connecting)) = found else {
            if !matches!(found, Some((_, ConnectionState::Established))) {
                self.refuse_accept(plane, transaction, accept);
            }
            return Ok(());
        };
        let mut connection = self.connections.take(handle)?;
        match check_accept(&connection.offer, accept) {
            Ok(settled) => {
                connection.peer = Some(Peer::of(accept));
                self.establish(device, connection, settled)
            }
            Err(fault) => {
                connection.close(CloseReason::Accept(fault));
                self.connections.insert(connection);
                self.refuse_accept(plane, transaction, accept);
                Ok(())
            }
        }
    }

    /// Ends the connection that an unwanted ACCEPT has left half open at the peer (T-4.6).
    fn refuse_accept(&mut self, plane: u8, transaction: u32, accept: &Accept) {
        if let Some(to) = accept
            .planes
            .get(usize::from(plane))
            .or(accept.planes.first())
        {
            let bye = self.bye(plane, false, accept.connection, accept.incarnation);
            self.control
                .send(plane, *to, Control::new(transaction, bye));
        }
    }

    fn bye(
        &self,
        plane: u8,
        answer: bool,
        connection: ConnectionId,
        incarnation: Incarnation,
    ) -> ControlBody {
        let address = self.config.planes[usize::from(plane)];
        ControlBody::Bye(Bye {
            answer,
            connection,
            incarnation,
            address,
        })
    }

    fn handle_reject(&mut self, transaction: u32, reject: Reject) {
        let asked = |c: &&mut Connection| {
            c.initiator && c.transaction == transaction && c.state == ConnectionState::Connecting
        };
        if let Some(connection) = self.connections.iter_mut().find(asked) {
            connection.close(CloseReason::Rejected(reject));
        }
    }

    fn handle_bye<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        plane: u8,
        transaction: u32,
        bye: &Bye,
    ) -> Result<(), Error> {
        if bye.answer {
            let ours = |c: &&mut Connection| {
                c.transaction == transaction && matches!(c.state, ConnectionState::Closing(_))
            };
            if let Some(connection) = self.connections.iter_mut().find(ours) {
                connection.close(CloseReason::Local);
            }
            return Ok(());
        }
        let mut back = (ConnectionId::CONTROL, Incarnation(0));
        if let Some(connection) = self.connections.by_number(bye.connection)
            && connection.offer.incarnation == bye.incarnation
        {
            if let Some(peer) = &connection.peer {
                back = (peer.connection, peer.incarnation);
            }
            if !matches!(connection.state, ConnectionState::Closed(_)) {
                deactivate(device, connection.number)?;
                connection.close(CloseReason::Peer);
            }
        }
        let answer = self.bye(plane, true, back.0, back.1);
        self.control
            .send(plane, bye.address, Control::new(transaction, answer));
        Ok(())
    }

    /// Sends what is due at `now`, or gives it up.
    fn handle_timers(&mut self, now: u32) {
        let (interval, most) = (self.config.retry_interval, self.config.retry_attempts);
        let mut due = Vec::new();
        for connection in self.connections.iter_mut() {
            let Some(retry) = &mut connection.retry else {
                continue;
            };
            if (now.wrapping_sub(retry.due) as i32) < 0 {
                continue;
            }
            if retry.attempts == most {
                let reason = match connection.state {
                    ConnectionState::Closing(reason) => reason,
                    _ => CloseReason::NoAnswer(most),
                };
                connection.close(reason);
                continue;
            }
            due.push((connection.handle, retry.attempts));
            *retry = Retry {
                attempts: retry.attempts + 1,
                due: now.wrapping_add(interval),
            };
        }
        for (handle, attempt) in due {
            self.repeat(handle, attempt);
        }
    }

    /// Sends HELLO or BYE for the time `attempt`, each time by the next plane (T-4.2).
    fn repeat(&mut self, handle: ConnectionHandle, attempt: u32) {
        let Ok(connection) = self.connections.get(handle) else {
            return;
        };
        let transaction = connection.transaction;
        let ports = match &connection.peer {
            Some(peer) => &peer.planes,
            None => &connection.hello_to,
        };
        let plane = attempt as usize % ports.len();
        let to = ports[plane];
        let body = match (&connection.state, &connection.peer) {
            (ConnectionState::Closing(_), Some(peer)) => {
                self.bye(plane as u8, false, peer.connection, peer.incarnation)
            }
            _ => ControlBody::Hello(connection.offer.clone()),
        };
        self.control
            .send(plane as u8, to, Control::new(transaction, body));
    }
}
