//! The engine as a [`Nic`]: a device, its context, one protection domain, and the buffers behind the regions.
//!
//! It adds no mechanism: set-up, tables and rings are [`Context`]'s. What engine 0.1 does not do is refused here and in
//! `work_request.rs`, by name and before anything is touched.

use super::{
    CallerError, Completion, Config, ConnectionHandle, ConnectionState, Context, Error,
    MemoryRegion, Nic, NicCapabilities, OperationKind, PathReport, ProtectionDomain,
    ReceiveRequest, Rights, Settled, WorkRequest, check_bounds, check_length, check_stream,
};
use crate::device::Device;
use crate::dma::{DmaBuffer, PageSize};
use osprey_hls::endpoint::{MESSAGE_LENGTH_MAX, PathCounts};
use osprey_hls::wire::{Key, PlaneAddress, RemoteRegion};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

const NAME: &str = "the engine";
/// Nanoseconds of the unit of device time.
const TIME_UNIT_NS: u64 = 128;

/// The refusal of what engine 0.1 does not do.
pub(super) const fn unsupported(operation: OperationKind) -> CallerError {
    CallerError::Unsupported {
        operation,
        nic: NAME,
        remedy: "use WRITE, its one operation so far, or a software NIC",
    }
}

/// An open engine and the way to it.
#[derive(Debug)]
pub struct EngineNic<D: Device> {
    device: D,
    context: Context,
    domain: ProtectionDomain,
    /// What is registered, by key.
    buffers: BTreeMap<u32, DmaBuffer>,
    /// Connections that the application knows.
    open: Vec<ConnectionHandle>,
    completions: VecDeque<Completion>,
}

impl<D: Device> EngineNic<D> {
    /// Opens the engine behind `device`; see [`Context::open`].
    pub fn open(mut device: D, config: Config, seed: [u8; 32]) -> Result<Self, Error> {
        let mut context = Context::open(&mut device, config, seed)?;
        Ok(Self {
            device,
            domain: context.protection_domain(),
            context,
            buffers: BTreeMap::new(),
            open: Vec::new(),
            completions: VecDeque::new(),
        })
    }

    /// Context and device, for what only an engine has: its counters, its own telemetry.
    pub const fn parts(&mut self) -> (&mut Context, &mut D) {
        (&mut self.context, &mut self.device)
    }

    /// The buffer of a region, if `length` bytes from `offset` on are in it.
    fn buffer(
        &self,
        region: &MemoryRegion,
        offset: u64,
        length: usize,
    ) -> Result<&DmaBuffer, Error> {
        let Key(key) = region.key;
        let buffer = self.buffers.get(&key);
        let buffer = buffer.ok_or(CallerError::UnknownKey(region.key))?;
        check_bounds(offset, length as u64, 0, buffer.length as u64)?;
        Ok(buffer)
    }

    /// Takes what the engine has completed; whether there was anything.
    fn take_completions(&mut self) -> Result<bool, Error> {
        let mut count = 0;
        for handle in &self.open {
            let (device, into) = (&mut self.device, &mut self.completions);
            count += self.context.poll(device, *handle, into)?;
        }
        Ok(count > 0)
    }
}

impl<D: Device> Nic for EngineNic<D> {
    fn capabilities(&self) -> NicCapabilities {
        let (has, config) = (self.context.capabilities(), self.context.config());
        NicCapabilities {
            name: NAME,
            planes: config.planes.len() as u8,
            paths_per_plane: config.paths_per_plane,
            // Connection 0 is the CONTROL channel, one key its memory's.
            connections: has.connections - 1,
            regions: has.keys - 1,
            streams: 1,
            message_length: MESSAGE_LENGTH_MAX,
            operations: &[OperationKind::Write],
        }
    }

    fn addresses(&self) -> Vec<PlaneAddress> {
        self.context.config().planes.clone()
    }

    fn register(&mut self, length: u64, rights: Rights) -> Result<MemoryRegion, Error> {
        let bytes = check_length(length)?;
        let buffer = self.device.allocate(bytes, PageSize::for_length(bytes))?;
        self.device.write(&buffer, 0, &vec![0; bytes]);
        let (domain, whole) = (self.domain, (0, length));
        match self
            .context
            .register(&mut self.device, domain, &buffer, whole, rights)
        {
            Ok(region) => {
                self.buffers.insert(region.key.0, buffer);
                Ok(region)
            }
            Err(error) => {
                self.device.release(buffer);
                Err(error)
            }
        }
    }

    fn deregister(&mut self, region: MemoryRegion) -> Result<(), Error> {
        self.context.deregister(&mut self.device, region)?;
        if let Some(buffer) = self.buffers.remove(&region.key.0) {
            self.device.release(buffer);
        }
        Ok(())
    }

    fn read_memory(
        &self,
        region: &MemoryRegion,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), Error> {
        let buffer = self.buffer(region, offset, into.len())?;
        self.device.read(buffer, offset as usize, into);
        Ok(())
    }

    fn write_memory(
        &mut self,
        region: &MemoryRegion,
        offset: u64,
        from: &[u8],
    ) -> Result<(), Error> {
        self.buffer(region, offset, from.len())?;
        if let Some(buffer) = self.buffers.get(&region.key.0) {
            self.device.write(buffer, offset as usize, from);
        }
        Ok(())
    }

    fn listen(&mut self, service: u32, regions: &[MemoryRegion]) -> Result<(), Error> {
        self.context.listen(self.domain, service, regions)
    }

    fn accept(&mut self) -> Option<ConnectionHandle> {
        let accepted = self.context.accept();
        self.open.extend(accepted);
        accepted
    }

    fn connect(
        &mut self,
        peer: &[PlaneAddress],
        service: u32,
        regions: &[MemoryRegion],
    ) -> Result<ConnectionHandle, Error> {
        let (device, domain) = (&mut self.device, self.domain);
        let handle = self
            .context
            .connect(device, domain, peer, service, regions)?;
        self.open.push(handle);
        Ok(handle)
    }

    fn state(&self, connection: ConnectionHandle) -> Result<ConnectionState, Error> {
        self.context.state(connection)
    }

    fn settled(&self, connection: ConnectionHandle) -> Result<Option<Settled>, Error> {
        self.context.settled(connection)
    }

    fn peer_regions(&self, connection: ConnectionHandle) -> Result<&[RemoteRegion], Error> {
        self.context.peer_regions(connection)
    }

    fn post_send(
        &mut self,
        connection: ConnectionHandle,
        stream: u8,
        request: WorkRequest,
    ) -> Result<(), Error> {
        check_stream(self, connection, stream)?;
        self.context
            .post_send(&mut self.device, connection, &request)
            .map(|_| ())
    }

    fn post_receive(
        &mut self,
        connection: ConnectionHandle,
        stream: u8,
        _request: ReceiveRequest,
    ) -> Result<(), Error> {
        check_stream(self, connection, stream)?;
        Err(unsupported(OperationKind::Receive).into())
    }

    fn poll(&mut self) -> Option<Completion> {
        self.completions.pop_front()
    }

    fn progress(&mut self, _wait: Duration) -> Result<bool, Error> {
        self.context.progress(&mut self.device)?;
        let any = self.take_completions()?;
        if !any {
            self.device.idle();
        }
        Ok(any)
    }

    fn path_reports(&mut self, connection: ConnectionHandle) -> Result<Vec<PathReport>, Error> {
        let paths = self.context.path_telemetry(&mut self.device, connection)?;
        let window = self.context.config().path_window;
        let report = |path: super::PathTelemetry| {
            let lost = [
                path.lost_by_ordinal,
                path.lost_by_probe,
                path.lost_by_timeout,
            ];
            let mean = path.rtt_sum.checked_div(path.rtt_samples.into());
            PathReport {
                path: path.path,
                plane: path.path.plane(),
                k: path.path.k(),
                source_port: None,
                counts: PathCounts {
                    sent: path.packets.into(),
                    resent: path.retransmissions.into(),
                    lost: lost.into_iter().map(u64::from).sum(),
                    probes: path.probes.into(),
                },
                rtt_ns: (mean.unwrap_or(0) * TIME_UNIT_NS) as u32,
                window_q10: u32::from(window) << 10,
                health: None,
            }
        };
        Ok(paths.into_iter().map(report).collect())
    }

    fn close(&mut self, connection: ConnectionHandle) -> Result<(), Error> {
        self.context.close(&mut self.device, connection)?;
        self.take_completions().map(|_| ())
    }

    fn release(&mut self, connection: ConnectionHandle) -> Result<(), Error> {
        self.context.release(&mut self.device, connection)?;
        self.open.retain(|handle| *handle != connection);
        self.completions.retain(|c| c.connection != connection);
        Ok(())
    }
}
