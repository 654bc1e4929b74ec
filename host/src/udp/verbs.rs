//! The software NIC as a [`Nic`]: handles, memory and refusals in the words that it shares with the engine.
//!
//! The transport is the endpoint's, the loop is `nic.rs`'s; here is no state but which life of a connection number a handle
//! means.

use super::{Buffers, UdpNic};
use crate::verbs::{
    CallerError, Completion, ConnectionHandle, ConnectionState, Error, MemoryRegion, Nic,
    NicCapabilities, OperationKind, PathReport, ReceiveRequest, Rights, Settled, WorkRequest,
    check_bounds, check_length, check_stream,
};
use osprey_hls::endpoint::{self, MESSAGE_LENGTH_MAX, Region, config::REGIONS_MAX};
use osprey_hls::wire::{ConnectionId, PathId, PlaneAddress, RemoteRegion};
use std::time::Duration;

impl UdpNic {
    /// The handle of a connection of the endpoint, in its present life.
    fn handle(&self, connection: ConnectionId) -> ConnectionHandle {
        let number = connection.value();
        let life = self.lives.get(number as usize).copied().unwrap_or(0);
        ConnectionHandle::new(number, life)
    }

    /// The connection that a handle names, and its state.
    fn find(&self, handle: ConnectionHandle) -> Result<(ConnectionId, ConnectionState), Error> {
        let connection = ConnectionId::new(handle.number());
        match self.endpoint.connection_state(connection) {
            Some(state) if self.handle(connection) == handle => Ok((connection, state)),
            _ => Err(CallerError::NoSuchConnection.into()),
        }
    }

    fn completion(&self, completion: &endpoint::Completion) -> Completion {
        Completion {
            connection: self.handle(completion.connection),
            id: completion.id,
            stream: completion.stream,
            side: completion.side,
            status: completion.status,
            length: completion.length,
            immediate: completion.immediate,
        }
    }

    /// Checks the local end of a request, which the endpoint leaves to its host; the connection.
    fn check_post(
        &self,
        handle: ConnectionHandle,
        stream: u8,
        (local, length): (u64, u32),
    ) -> Result<ConnectionId, Error> {
        check_stream(self, handle, stream)?;
        if length > MESSAGE_LENGTH_MAX {
            let (length, max) = (length.into(), MESSAGE_LENGTH_MAX.into());
            return Err(CallerError::Length { length, max }.into());
        }
        self.buffers.get(local, length as usize)?;
        Ok(ConnectionId::new(handle.number()))
    }
}

/// `Ok` if `length` bytes from `offset` on are in a region.
fn check_inside(
    buffers: &Buffers,
    region: &MemoryRegion,
    offset: u64,
    length: usize,
) -> Result<(), Error> {
    let known = buffers.get(region.address, 0);
    known.map_err(|_| CallerError::UnknownKey(region.key))?;
    Ok(check_bounds(offset, length as u64, 0, region.length)?)
}

fn remote(regions: &[MemoryRegion]) -> Vec<RemoteRegion> {
    regions.iter().map(MemoryRegion::remote).collect()
}

impl Nic for UdpNic {
    fn capabilities(&self) -> NicCapabilities {
        let config = self.endpoint.config();
        NicCapabilities {
            name: "the software NIC",
            planes: config.planes.len() as u8,
            paths_per_plane: config.paths_per_plane,
            connections: config.connections_max,
            regions: REGIONS_MAX,
            streams: config.streams,
            message_length: MESSAGE_LENGTH_MAX,
            operations: &OperationKind::ALL,
        }
    }

    fn addresses(&self) -> Vec<PlaneAddress> {
        self.endpoint.config().planes.clone()
    }

    fn register(&mut self, length: u64, rights: Rights) -> Result<MemoryRegion, Error> {
        let address = self.buffers.try_allocate(check_length(length)?)?;
        let region = Region {
            address,
            length,
            rights,
        };
        let key = self.endpoint.register(region);
        let key = key.inspect_err(|_| self.buffers.release(address))?;
        Ok(MemoryRegion {
            key,
            address,
            length,
        })
    }

    fn deregister(&mut self, region: MemoryRegion) -> Result<(), Error> {
        self.endpoint.deregister(region.key)?;
        self.buffers.release(region.address);
        Ok(())
    }

    fn read_memory(
        &self,
        region: &MemoryRegion,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), Error> {
        check_inside(&self.buffers, region, offset, into.len())?;
        let bytes = self.buffers.get(region.address + offset, into.len())?;
        into.copy_from_slice(bytes);
        Ok(())
    }

    fn write_memory(
        &mut self,
        region: &MemoryRegion,
        offset: u64,
        from: &[u8],
    ) -> Result<(), Error> {
        check_inside(&self.buffers, region, offset, from.len())?;
        let address = region.address + offset;
        let bytes = self.buffers.get_mut(address, from.len())?;
        bytes.copy_from_slice(from);
        Ok(())
    }

    fn listen(&mut self, service: u32, regions: &[MemoryRegion]) -> Result<(), Error> {
        Ok(self.endpoint.listen(service, &remote(regions))?)
    }

    fn accept(&mut self) -> Option<ConnectionHandle> {
        let accepted = self.endpoint.poll_accepted()?;
        Some(self.handle(accepted))
    }

    fn connect(
        &mut self,
        peer: &[PlaneAddress],
        service: u32,
        regions: &[MemoryRegion],
    ) -> Result<ConnectionHandle, Error> {
        let (now, regions) = (self.now(), remote(regions));
        let asked = self.endpoint.connect(now, peer, service, &regions)?;
        Ok(self.handle(asked))
    }

    fn state(&self, connection: ConnectionHandle) -> Result<ConnectionState, Error> {
        self.find(connection).map(|(_, state)| state)
    }

    fn settled(&self, connection: ConnectionHandle) -> Result<Option<Settled>, Error> {
        let (connection, _) = self.find(connection)?;
        Ok(self.endpoint.settled(connection))
    }

    fn peer_regions(&self, connection: ConnectionHandle) -> Result<&[RemoteRegion], Error> {
        let (connection, _) = self.find(connection)?;
        Ok(self.endpoint.remote_regions(connection))
    }

    fn post_send(
        &mut self,
        connection: ConnectionHandle,
        stream: u8,
        request: WorkRequest,
    ) -> Result<(), Error> {
        let local = (request.operation.local(), request.operation.length());
        let (connection, now) = (self.check_post(connection, stream, local)?, self.now());
        Ok(self.endpoint.post_send(now, connection, stream, request)?)
    }

    fn post_receive(
        &mut self,
        connection: ConnectionHandle,
        stream: u8,
        request: ReceiveRequest,
    ) -> Result<(), Error> {
        let local = (request.address, request.length);
        let (connection, now) = (self.check_post(connection, stream, local)?, self.now());
        Ok(self
            .endpoint
            .post_receive(now, connection, stream, request)?)
    }

    fn poll(&mut self) -> Option<Completion> {
        let next = self.taken.pop_front();
        next.or_else(|| {
            let completion = self.endpoint.poll_completion()?;
            Some(self.completion(&completion))
        })
    }

    fn progress(&mut self, wait: Duration) -> Result<bool, Error> {
        Ok(UdpNic::progress(self, wait)?)
    }

    fn path_reports(&mut self, connection: ConnectionHandle) -> Result<Vec<PathReport>, Error> {
        let (connection, _) = self.find(connection)?;
        let report = |number| {
            let path = PathId(number);
            let told = self.endpoint.path_telemetry(connection, path)?;
            Some(PathReport {
                path,
                plane: told.plane,
                k: told.k,
                source_port: Some(told.entropy),
                counts: told.counts,
                rtt_ns: told.srtt_ns,
                window_q10: told.window_q10,
                health: Some(told.health),
            })
        };
        Ok((0..=u8::MAX).filter_map(report).collect())
    }

    fn close(&mut self, connection: ConnectionHandle) -> Result<(), Error> {
        let ((connection, _), now) = (self.find(connection)?, self.now());
        Ok(self.endpoint.close(now, connection)?)
    }

    fn release(&mut self, handle: ConnectionHandle) -> Result<(), Error> {
        let (connection, _) = self.find(handle)?;
        self.endpoint.release(connection)?;
        // What waits belongs to this life of the number; the next must not inherit it.
        while let Some(completion) = self.endpoint.poll_completion() {
            self.taken.push_back(self.completion(&completion));
        }
        self.taken.retain(|c| c.connection != handle);
        let number = handle.number() as usize;
        self.lives.resize(self.lives.len().max(number + 1), 0);
        self.lives[number] += 1;
        Ok(())
    }
}
