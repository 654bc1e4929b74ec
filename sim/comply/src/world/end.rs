//! What a test may ask of one end, whichever implementation it is: an endpoint does all of it, an engine behind the host
//! library most. What only an endpoint shows is reached through [`End::behavioural`].

use super::PathView;
use crate::referee::{self, Finding};
use osprey_hls::endpoint::{
    Completion, ConnectionState, Counter, Endpoint, PathTelemetry, PostError, Region, Settled,
    WorkRequest,
};
use osprey_hls::wire::{ConnectionId, Key, PathId, PlaneAddress, RemoteRegion};
use osprey_host::udp::Buffers;
use osprey_host::verbs::CallerError;

/// One end. Methods are those of [`Endpoint`]; times are nanoseconds.
pub trait End {
    /// Lets peers use memory.
    fn register(&mut self, region: Region) -> Result<Key, PostError>;
    /// Accepts connections to `service`, and announces `regions`.
    fn listen(&mut self, service: u32, regions: &[RemoteRegion]) -> Result<(), PostError>;
    /// Asks for a connection to `service`.
    fn connect(
        &mut self,
        now: u64,
        peer: &[PlaneAddress],
        service: u32,
    ) -> Result<ConnectionId, PostError>;
    /// The next connection that was accepted.
    fn poll_accepted(&mut self) -> Option<ConnectionId>;
    /// State of a connection.
    fn connection_state(&self, connection: ConnectionId) -> Option<ConnectionState>;
    /// What both sides have settled on.
    fn settled(&self, connection: ConnectionId) -> Option<Settled>;
    /// Memory that the peer has announced.
    fn remote_regions(&self, connection: ConnectionId) -> Vec<RemoteRegion>;
    /// Ends a connection.
    fn close(&mut self, now: u64, connection: ConnectionId) -> Result<(), PostError>;
    /// Forgets a connection that is over.
    fn release(&mut self, connection: ConnectionId) -> Result<(), PostError>;
    /// Posts a request.
    fn post_send(
        &mut self,
        now: u64,
        connection: ConnectionId,
        stream: u8,
        request: WorkRequest,
    ) -> Result<(), PostError>;
    /// The next completion.
    fn poll_completion(&mut self) -> Option<Completion>;
    /// A running count, of an end that counts this.
    fn counter(&mut self, counter: Counter) -> Option<u64>;
    /// What the sender of a connection says of each of its paths.
    fn paths(&mut self, connection: ConnectionId) -> Vec<PathView>;
    /// What is still under way when all is done, though nothing should be.
    fn at_rest(&mut self, connection: ConnectionId) -> Finding;
    /// The endpoint itself, where the end is one.
    fn behavioural(&mut self) -> Option<&mut Endpoint>;
}

/// The memory of an end.
pub trait Store {
    /// A new buffer of zeros; its address.
    fn allocate(&mut self, length: usize) -> u64;
    /// Copies out of a buffer.
    fn read(&self, address: u64, length: usize) -> Result<Vec<u8>, CallerError>;
    /// Copies into a buffer.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), CallerError>;
    /// Bytes that the transport has placed, each as often as it was.
    fn placed(&self) -> u64;
    /// Accesses by the transport that hit no buffer.
    fn missed(&self) -> u64;
}

impl End for Endpoint {
    fn register(&mut self, region: Region) -> Result<Key, PostError> {
        self.register(region)
    }

    fn listen(&mut self, service: u32, regions: &[RemoteRegion]) -> Result<(), PostError> {
        self.listen(service, regions)
    }

    fn connect(
        &mut self,
        now: u64,
        peer: &[PlaneAddress],
        service: u32,
    ) -> Result<ConnectionId, PostError> {
        self.connect(now, peer, service, &[])
    }

    fn poll_accepted(&mut self) -> Option<ConnectionId> {
        self.poll_accepted()
    }

    fn connection_state(&self, connection: ConnectionId) -> Option<ConnectionState> {
        self.connection_state(connection)
    }

    fn settled(&self, connection: ConnectionId) -> Option<Settled> {
        self.settled(connection)
    }

    fn remote_regions(&self, connection: ConnectionId) -> Vec<RemoteRegion> {
        self.remote_regions(connection).to_vec()
    }

    fn close(&mut self, now: u64, connection: ConnectionId) -> Result<(), PostError> {
        self.close(now, connection)
    }

    fn release(&mut self, connection: ConnectionId) -> Result<(), PostError> {
        self.release(connection)
    }

    fn post_send(
        &mut self,
        now: u64,
        connection: ConnectionId,
        stream: u8,
        request: WorkRequest,
    ) -> Result<(), PostError> {
        self.post_send(now, connection, stream, request)
    }

    fn poll_completion(&mut self) -> Option<Completion> {
        self.poll_completion()
    }

    fn counter(&mut self, counter: Counter) -> Option<u64> {
        Some(Self::counter(self, counter))
    }

    fn paths(&mut self, connection: ConnectionId) -> Vec<PathView> {
        let found = |path| self.path_telemetry(connection, PathId(path));
        let view = |found: PathTelemetry| PathView {
            plane: found.plane,
            sent: found.counts.sent,
            lost: found.counts.lost,
            out: Some(u32::from(found.in_flight) + found.resends_waiting),
            window_q10: Some(found.window_q10),
        };
        (0..=u8::MAX).filter_map(found).map(view).collect()
    }

    fn at_rest(&mut self, connection: ConnectionId) -> Finding {
        referee::at_rest(self, connection)
    }

    fn behavioural(&mut self) -> Option<&mut Endpoint> {
        Some(self)
    }
}

impl Store for Buffers {
    fn allocate(&mut self, length: usize) -> u64 {
        self.allocate(length)
    }

    fn read(&self, address: u64, length: usize) -> Result<Vec<u8>, CallerError> {
        self.get(address, length).map(<[u8]>::to_vec)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), CallerError> {
        self.get_mut(address, bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }

    fn placed(&self) -> u64 {
        self.placed()
    }

    fn missed(&self) -> u64 {
        self.missed()
    }
}
