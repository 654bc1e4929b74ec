//! A context: one open engine.

use super::connection::Connections;
use super::control_channel::ControlChannel;
use super::handshake::Listener;
use super::memory_region::Regions;
use super::{
    CloseReason, Completion, Config, ConnectionHandle, ConnectionState, Error, ProtectionDomain,
    Rights, Settled, connection,
};
use crate::device::{Capabilities, Device, DeviceError, fill_table, identify, write};
use osprey_hls::regs::counters::Counter;
use osprey_hls::regs::{completion, control, plane, table};
use osprey_hls::wire::RemoteRegion;
use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use std::collections::VecDeque;

/// An open engine, and everything that this library remembers of it.
#[derive(Debug)]
pub struct Context {
    pub(super) capabilities: Capabilities,
    pub(super) config: Config,
    pub(super) rng: ChaCha12Rng,
    pub(super) domains: u32,
    pub(super) regions: Regions,
    pub(super) connections: Connections,
    pub(super) control: ControlChannel,
    pub(super) listeners: Vec<Listener>,
    pub(super) accepted: VecDeque<ConnectionHandle>,
}

impl Context {
    /// Opens the engine behind `device`: identity first, then a reset of everything that an earlier user
    /// may have left. `seed` is the source of keys, incarnations and entropy: it must not be guessable
    /// where peers are not trusted.
    pub fn open<D: Device + ?Sized>(
        device: &mut D,
        config: Config,
        seed: [u8; 32],
    ) -> Result<Self, Error> {
        let capabilities = identify(device)?;
        config.check(&capabilities)?;
        reset(device, &capabilities)?;
        configure(device, &config);
        let mut regions = Regions::new(&capabilities);
        let mut rng = ChaCha12Rng::from_seed(seed);
        let frames = ControlChannel::allocate_frames(device)?;
        let whole = (0, frames.length as u64);
        let rights = Rights::default();
        let region = regions.register(
            device,
            &mut rng,
            ProtectionDomain(0),
            &frames,
            whole,
            rights,
        )?;
        let control = ControlChannel::new(device, frames, region)?;
        write(device, &control::CONTROL, 1);
        Ok(Self {
            connections: Connections::new(capabilities.connections),
            capabilities,
            config,
            rng,
            domains: 0,
            regions,
            control,
            listeners: Vec::new(),
            accepted: VecDeque::new(),
        })
    }

    /// What the engine has.
    pub const fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// The settings.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Where a connection is in its life.
    pub fn state(&self, handle: ConnectionHandle) -> Result<ConnectionState, Error> {
        Ok(self.connections.get(handle)?.state)
    }

    /// What the two sides settled on, once they have.
    pub fn settled(&self, handle: ConnectionHandle) -> Result<Option<Settled>, Error> {
        Ok(self.connections.get(handle)?.settled)
    }

    /// The memory that the peer announced.
    pub fn peer_regions(&self, handle: ConnectionHandle) -> Result<&[RemoteRegion], Error> {
        let peer = self.connections.get(handle)?.peer.as_ref();
        Ok(peer.map_or(&[], |peer| &peer.regions))
    }

    /// Work requests of a connection whose completions were not taken yet.
    pub fn outstanding(&self, handle: ConnectionHandle) -> Result<u32, Error> {
        Ok(self.connections.get(handle)?.send.ring.used())
    }

    /// Appends the completions that are there, in the order of posting; how many.
    ///
    /// A failed connection flushes all that was open (T-5.3); its state says why it failed.
    pub fn poll<D: Device + ?Sized>(
        &mut self,
        device: &mut D,
        handle: ConnectionHandle,
        into: &mut impl Extend<Completion>,
    ) -> Result<usize, Error> {
        let connection = self.connections.get_mut(handle)?;
        let (number, mut count) = (connection.number, 0);
        let mut any = false;
        while let Some(raw) = connection.completions.next(device)? {
            any = true;
            match raw.kind {
                completion::KIND_SEND
                    if matches!(connection.state, ConnectionState::Established) =>
                {
                    connection.send.end(&raw, number.value())?;
                }
                // What was in flight when the connection ended has been flushed already.
                completion::KIND_SEND => {}
                completion::KIND_CONNECTION_ERROR => {
                    connection::deactivate(device, number)?;
                    connection.close(CloseReason::Failed(raw.status));
                }
                _ => {
                    let (connection, index) = (number.value(), raw.index);
                    return Err(DeviceError::Completion { connection, index }.into());
                }
            }
        }
        if any {
            connection.completions.acknowledge(device);
        }
        while let Some(completion) = connection.send.pop(handle) {
            into.extend([completion]);
            count += 1;
        }
        Ok(count)
    }

    /// A counter of the engine; it wraps at 32 bits.
    pub fn counter<D: Device + ?Sized>(&self, device: &mut D, counter: Counter) -> u32 {
        device.read32(counter.offset())
    }

    /// CONTROL packets that were no messages of the format.
    pub const fn malformed_messages(&self) -> u64 {
        self.control.malformed
    }
}

/// Takes everything out of service that an earlier user may have left.
fn reset<D: Device + ?Sized>(
    device: &mut D,
    capabilities: &Capabilities,
) -> Result<(), DeviceError> {
    write(device, &control::CONTROL, 0);
    fill_table(
        device,
        &table::CONNECTION,
        capabilities.connections,
        &[0; 16],
    )?;
    fill_table(device, &table::KEY, capabilities.keys, &[0; 16])
}

fn configure<D: Device + ?Sized>(device: &mut D, config: &Config) {
    write(
        device,
        &control::TIME_INCREMENT,
        config.time_increment.into(),
    );
    write(device, &control::UDP_PORT, config.udp_port.into());
    write(device, &control::PROBE_TIMER, config.timers.probe.into());
    write(
        device,
        &control::PROBE_INTERVAL,
        config.timers.probe_interval.into(),
    );
    write(
        device,
        &control::PROBE_BACKOFF_MAX,
        config.timers.probe_backoff_max.into(),
    );
    write(device, &control::ACK_DELAY, config.timers.ack_delay.into());
    write(device, &control::CONNECTIONS_IN_USE, 1);
    for (index, address) in (0..).zip(&config.planes) {
        let [low, high] = address.mac.to_words();
        device.write32(plane::MAC_LOW.at(index), low);
        device.write32(plane::MAC_HIGH.at(index), high);
        device.write32(plane::IPV4.at(index), address.ipv4.to_word());
    }
}
