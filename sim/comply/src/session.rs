//! What most tests do: connect ends, write patterns, wait, and let the witnesses judge.

use crate::case::{Context, Failure, Outcome, ensure};
use crate::impairment::Impairment;
use crate::referee::{Finding, Image, Order, balanced, plausible, slots_free, within_bounds};
use crate::world::{Nic, PathView, World};
use osprey_hls::endpoint::{
    CloseReason, Completion, ConnectionState, Counter, Endpoint, Event, PostError, Rights, Side,
    Status, WorkOperation, WorkRequest,
};
use osprey_hls::wire::{ConnectionId, RemoteRegion};
use std::time::{Duration, Instant};

/// The service that tests ask for; `osprey perf serve` answers it too.
pub const SERVICE: u32 = 0x7065_7266;
/// Bytes of every region that tests write.
pub const REGION_BYTES: usize = 4 << 20;
/// Virtual microseconds that a test may take.
const PATIENCE_US: f64 = 500_000.0;
/// The same where every cycle of an engine is simulated.
const ENGINE_PATIENCE_US: f64 = 12_000.0;
/// Real time that a test may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// Steps of virtual time between two looks at bounds and books.
const LOOK_EVERY_STEPS: u64 = 64;
/// Bytes that are read back at a time from an end elsewhere.
const READ_BYTES: usize = 1 << 20;

/// A connection from one end to another, and what its region must hold.
#[derive(Debug)]
pub struct Link {
    /// Sending end.
    pub from: usize,
    /// Receiving end.
    pub to: usize,
    /// Number at the sending end.
    pub connection: ConnectionId,
    /// Number at the receiving end, if that is here.
    pub accepted: Option<ConnectionId>,
    /// Memory at the receiving end.
    pub region: RemoteRegion,
    /// What it must hold.
    pub image: Image,
}

/// A test's world, its connections and its witnesses.
pub struct Session {
    /// The world.
    pub world: World,
    /// Connections.
    pub links: Vec<Link>,
    /// Witness of completions.
    pub order: Order,
    /// Completions of the receiving side, by end, as they came.
    pub received: Vec<(usize, Completion)>,
    /// Completions of the sending side that were not a success.
    pub failed: Vec<Completion>,
    /// Evidence records of end 0.
    pub events: Vec<Event>,
    next_id: u64,
    seed: u64,
    steps: u64,
}

/// Bytes that tell message and place.
pub fn pattern(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(next).collect()
}

impl Session {
    /// A world of these NICs, without connections.
    pub fn new(context: &Context, nics: &[Nic]) -> Result<Self, Failure> {
        let world = World::new(context, nics)?;
        Ok(Self {
            world,
            links: Vec::new(),
            order: Order::default(),
            received: Vec::new(),
            failed: Vec::new(),
            events: Vec::new(),
            next_id: 1,
            seed: context.seed,
            steps: 0,
        })
    }

    /// Two ends of default kind, connected.
    pub fn pair(context: &Context) -> Result<Self, Failure> {
        Self::connected(context, &[Nic::default(); 2])
    }

    /// Two ends, connected.
    pub fn connected(context: &Context, nics: &[Nic]) -> Result<Self, Failure> {
        let mut session = Self::new(context, nics)?;
        session.connect(0, 1)?;
        Ok(session)
    }

    /// Asks for a connection; [`Self::connect`] waits for it too.
    pub fn ask(
        &mut self,
        from: usize,
        to: usize,
    ) -> Result<(ConnectionId, Option<RemoteRegion>), Failure> {
        let mut region = None;
        if self.world.is_here(to) {
            let registered = self.world.register(to, REGION_BYTES, Rights::ALL);
            region = Some(registered.ok_or_else(|| Failure::Wrong("no region is free".into()))?);
            let regions: Vec<_> = region.into_iter().collect();
            refused(self.world.end(to).listen(SERVICE, &regions))?;
        }
        let mut peer = self.world.addresses(to);
        peer.truncate(self.world.addresses(from).len());
        let now = self.world.now_ns(from);
        let connection = refused(self.world.end(from).connect(now, &peer, SERVICE))?;
        Ok((connection, region))
    }

    /// Connects `from` to `to`; the link's number.
    pub fn connect(&mut self, from: usize, to: usize) -> Result<usize, Failure> {
        let (connection, region) = self.ask(from, to)?;
        let mut accepted = None;
        let here = self.world.is_here(to);
        self.until("set-up", |session| {
            if here && accepted.is_none() {
                accepted = session.world.end(to).poll_accepted();
            }
            let state = session.world.end(from).connection_state(connection);
            let over = matches!(state, Some(ConnectionState::Closed(_)));
            over || (state == Some(ConnectionState::Established) && (accepted.is_some() || !here))
        })?;
        if let Some(ConnectionState::Closed(reason)) =
            self.world.end(from).connection_state(connection)
        {
            return Err(Failure::Wrong(format!(
                "the connection was not accepted: {reason:?}"
            )));
        }
        let announced = self
            .world
            .end(from)
            .remote_regions(connection)
            .first()
            .copied();
        let region = region
            .or(announced)
            .ok_or_else(|| Failure::Wrong("the peer announces no memory".into()))?;
        let image = Image::new(REGION_BYTES);
        self.links.push(Link {
            from,
            to,
            connection,
            accepted,
            region,
            image,
        });
        let link = self.links.len() - 1;
        if !here {
            self.clear(link)?;
        }
        Ok(link)
    }

    /// Zeros in the memory of an end elsewhere, which others may have written.
    fn clear(&mut self, link: usize) -> Outcome {
        let zeros = vec![0; REGION_BYTES];
        let operation = self.write_operation(link, 0, &zeros)?;
        self.post(link, 0, operation)?;
        self.wait()
    }

    /// Why a connection ended, when it has.
    pub fn close_reason(&mut self, end: usize, connection: ConnectionId) -> Option<CloseReason> {
        match self.world.end(end).connection_state(connection) {
            Some(ConnectionState::Closed(reason) | ConnectionState::Closing(reason)) => {
                Some(reason)
            }
            _ => None,
        }
    }

    fn write_operation(
        &mut self,
        link: usize,
        offset: usize,
        bytes: &[u8],
    ) -> Result<WorkOperation, Failure> {
        let Link { from, region, .. } = self.links[link];
        let memory = self.world.memory(from);
        let local = memory.allocate(bytes.len());
        memory
            .write(local, bytes)
            .map_err(|error| Failure::Wrong(error.to_string()))?;
        let (remote, key) = (region.address + offset as u64, region.key);
        Ok(WorkOperation::Write {
            local,
            length: bytes.len() as u32,
            remote,
            key,
        })
    }

    /// Posts anything; waits while the queue is full.
    pub fn post(
        &mut self,
        link: usize,
        stream: u8,
        operation: WorkOperation,
    ) -> Result<u64, Failure> {
        let Link {
            from, connection, ..
        } = self.links[link];
        let id = self.next_id;
        self.next_id += 1;
        loop {
            let now = self.world.now_ns(from);
            match self.world.end(from).post_send(
                now,
                connection,
                stream,
                WorkRequest { id, operation },
            ) {
                Ok(()) => break,
                Err(PostError::Full { .. }) => self.step()?,
                Err(error) => {
                    return Err(Failure::Wrong(format!("a request was refused: {error}")));
                }
            }
        }
        self.order.posted((from, connection.value(), stream), id);
        Ok(id)
    }

    /// A stream that the connection has: of one with fewer streams than the test spreads its work over, they share.
    pub fn folded(&mut self, link: usize, stream: u8) -> u8 {
        let Link {
            from, connection, ..
        } = self.links[link];
        let settled = self.world.end(from).settled(connection);
        let streams = settled.map_or(1, |settled| settled.streams.max(1));
        (u16::from(stream) % streams) as u8
    }

    /// Posts a WRITE of a pattern.
    pub fn write(
        &mut self,
        link: usize,
        stream: u8,
        offset: usize,
        length: usize,
    ) -> Result<u64, Failure> {
        let bytes = pattern(self.seed ^ self.next_id, length);
        self.links[link].image.write(offset, &bytes);
        let operation = self.write_operation(link, offset, &bytes)?;
        let stream = self.folded(link, stream);
        self.post(link, stream, operation)
    }

    /// One step of the world; completions go to their witnesses. In virtual time those of bounds and conservation look in
    /// now and then.
    pub fn step(&mut self) -> Outcome {
        self.world.step()?;
        self.steps += 1;
        if self.world.target.is_virtual() && self.steps % LOOK_EVERY_STEPS == 0 {
            self.look()?;
        }
        let ends = self
            .links
            .iter()
            .flat_map(|link| [link.from, link.to])
            .max()
            .unwrap_or(0);
        for end in (0..=ends)
            .filter(|end| self.world.is_here(*end))
            .collect::<Vec<_>>()
        {
            while let Some(completion) = self.world.end(end).poll_completion() {
                self.take(end, completion);
            }
        }
        if let Some(endpoint) = self.world.end(0).behavioural() {
            self.events
                .extend(std::iter::from_fn(|| endpoint.poll_event()));
        }
        found(self.order.finding())
    }

    /// Bounded state and balanced books, at both ends of every link.
    fn look(&mut self) -> Outcome {
        for link in &self.links {
            let ends = [(link.from, Some(link.connection)), (link.to, link.accepted)];
            for (end, connection) in ends {
                let Some(endpoint) = self.world.end(end).behavioural() else {
                    continue;
                };
                found(within_bounds(endpoint))?;
                found(connection.and_then(|connection| balanced(endpoint, connection)))?;
            }
        }
        Ok(())
    }

    fn take(&mut self, end: usize, completion: Completion) {
        if completion.side != Side::Send {
            self.received.push((end, completion));
            return;
        }
        self.order.completed(
            (end, completion.connection.value(), completion.stream),
            completion.id,
        );
        if completion.status != Status::Ok {
            self.failed.push(completion);
        }
    }

    /// Steps until something holds; it must within the patience of the target.
    pub fn until(&mut self, what: &str, mut done: impl FnMut(&mut Self) -> bool) -> Outcome {
        let (begun, begun_us) = (Instant::now(), self.world.now_us());
        while !done(self) {
            self.step()?;
            let late = match (self.world.target.is_virtual(), self.world.target.engine()) {
                (false, _) => begun.elapsed() > PATIENCE,
                (true, None) => self.world.now_us() - begun_us > PATIENCE_US,
                (true, Some(_)) => self.world.now_us() - begun_us > ENGINE_PATIENCE_US,
            };
            ensure(!late, || {
                format!("{what}: not within the time that a test may take")
            })?;
        }
        Ok(())
    }

    /// Steps for some microseconds.
    pub fn run_for_us(&mut self, us: f64) -> Outcome {
        let end = self.world.now_us() + us;
        self.until("time", |session| session.world.now_us() >= end)
    }

    /// Waits until every request has ended; all must have ended well.
    pub fn wait(&mut self) -> Outcome {
        self.until("completions", |session| session.order.open() == 0)?;
        ensure(self.failed.is_empty(), || {
            format!("a request ended with {:?}", self.failed[0].status)
        })
    }

    /// All of `count` requests have failed, for this reason. An endpoint's first one bears it and the others are flushed; an
    /// engine flushes all of them and says it of the connection (T-5.3).
    pub fn failed_with(&mut self, context: &mut Context, status: Status, count: usize) -> Outcome {
        let ended: Vec<Status> = self.failed.iter().map(|failed| failed.status).collect();
        let Link {
            from, connection, ..
        } = self.links[0];
        let reason = self.close_reason(from, connection);
        context.note("statuses", format!("{ended:?}"));
        context.note("the connection", format!("{reason:?}"));
        let mut due = vec![Status::Flushed; count];
        if context.target.engine() != Some(from) {
            due[0] = status;
        }
        let right = ended == due && reason == Some(CloseReason::Failed(status));
        ensure(right, || {
            format!(
                "requests ended with {ended:?}, the connection with {reason:?}; due was {status:?}"
            )
        })
    }

    /// Waits, then asks every witness.
    pub fn finish(&mut self) -> Outcome {
        self.wait()?;
        self.judge()
    }

    /// Memory, order, exactly once, conservation.
    pub fn judge(&mut self) -> Outcome {
        found(self.order.finding())?;
        for link in 0..self.links.len() {
            self.judge_memory(link)?;
            let Link {
                from,
                to,
                connection,
                accepted,
                ..
            } = self.links[link];
            found(self.world.end(from).at_rest(connection))?;
            if let (Some(accepted), Some(endpoint)) = (accepted, self.here(to)) {
                found(slots_free(endpoint, accepted))?;
            }
            for end in [from, to] {
                found(self.here(end).and_then(|endpoint| plausible(endpoint)))?;
            }
        }
        found(self.world.violations().into_iter().next())?;
        self.judge_placements()
    }

    /// The endpoint of an end, if it is here and is one.
    fn here(&mut self, end: usize) -> Option<&mut Endpoint> {
        let here = self.world.is_here(end);
        here.then(|| self.world.end(end).behavioural()).flatten()
    }

    /// Every byte of every message was placed once.
    fn judge_placements(&mut self) -> Outcome {
        for end in self.links.iter().map(|link| link.to).collect::<Vec<_>>() {
            if !self.world.is_here(end) {
                continue;
            }
            let links = self.links.iter().filter(|link| link.to == end);
            let written: u64 = links.map(|link| link.image.written()).sum();
            let memory = self.world.memory(end);
            let (placed, missed) = (memory.placed(), memory.missed());
            ensure(missed == 0, || {
                format!("end {end} reached {missed} times for memory that no region holds")
            })?;
            ensure(placed == written, || {
                format!("end {end} placed {placed} bytes of messages of {written}")
            })?;
        }
        Ok(())
    }

    /// The region of a link, compared; one that is elsewhere is read.
    pub fn judge_memory(&mut self, link: usize) -> Outcome {
        let Link { to, region, .. } = self.links[link];
        if self.world.is_here(to) {
            let held = self.world.memory(to).read(region.address, REGION_BYTES);
            let held = held.map_err(|error| Failure::Wrong(error.to_string()))?;
            return found(self.links[link].image.compare(&held));
        }
        let held = self.read_back(link)?;
        found(self.links[link].image.compare(&held))
    }

    fn read_back(&mut self, link: usize) -> Result<Vec<u8>, Failure> {
        let Link { from, region, .. } = self.links[link];
        let own = self.world.register(
            from,
            READ_BYTES,
            Rights {
                write: true,
                ..Rights::default()
            },
        );
        let own = own.ok_or_else(|| Failure::Wrong("no region is free".into()))?;
        let mut held = Vec::new();
        while held.len() < REGION_BYTES {
            let operation = WorkOperation::Read {
                local: own.address,
                local_key: own.key,
                length: READ_BYTES as u32,
                remote: region.address + held.len() as u64,
                key: region.key,
            };
            self.post(link, 0, operation)?;
            self.wait()?;
            let part = self.world.memory(from).read(own.address, READ_BYTES);
            held.extend(part.map_err(|error| Failure::Wrong(error.to_string()))?);
        }
        Ok(held)
    }

    /// A counter of an end that is here; a test that needs one which the end has not is skipped.
    pub fn counter(&mut self, end: usize, counter: Counter) -> Result<u64, Failure> {
        let count = self.world.end(end).counter(counter);
        count.ok_or_else(|| Failure::Skip(format!("the engine does not count {counter:?}")))
    }

    /// Windows of the first link's paths together, packets x 2^10.
    pub fn windows(&mut self) -> u64 {
        let paths = self.paths(0).into_iter();
        paths
            .filter_map(|path| path.window_q10)
            .map(u64::from)
            .sum()
    }

    /// What the sender of a link says of each of its paths.
    pub fn paths(&mut self, link: usize) -> Vec<PathView> {
        let Link {
            from, connection, ..
        } = self.links[link];
        self.world.end(from).paths(connection)
    }
}

impl Drop for Session {
    /// An end elsewhere goes on to the next test: it is told that this connection is over.
    fn drop(&mut self) {
        if !self.world.target.is_mixed() {
            return;
        }
        for link in 0..self.links.len() {
            let Link {
                from, connection, ..
            } = self.links[link];
            for plane in 0..2 {
                self.world
                    .impair(0, plane, |way| *way = Impairment::default());
                self.world
                    .impair(1, plane, |way| *way = Impairment::default());
            }
            let now = self.world.now_ns(from);
            // Whether BYE arrives is not this test's question any more.
            let _ = self.world.end(from).close(now, connection);
            for _ in 0..50 {
                let _ = self.world.step();
            }
        }
    }
}

/// `Err` with a witness's finding.
pub fn found(finding: Finding) -> Outcome {
    finding.map_or(Ok(()), |text| Err(Failure::Wrong(text)))
}

/// `Err` with an endpoint's refusal.
pub fn refused<T>(result: Result<T, PostError>) -> Result<T, Failure> {
    result.map_err(|error| Failure::Wrong(format!("refused: {error}")))
}
