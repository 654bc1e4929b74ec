//! A host: its endpoint, the ports' state, and the memory that tells the witness what was placed.

use crate::referee::Delivery;
use osprey_hls::endpoint::{Endpoint, Memory};
use osprey_hls::wire::{Ipv4Address, MacAddress, PlaneAddress};

/// A host of the cluster.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) endpoint: Endpoint,
    /// When each plane's port is free, in picoseconds.
    pub(super) port_free_ps: Vec<u64>,
    /// When the endpoint is next to be woken by the event that counts, in picoseconds.
    pub(super) timer_ps: u64,
    /// Connections so far.
    pub(super) connections: u32,
}

impl Host {
    pub(super) fn new(endpoint: Endpoint, planes: u32) -> Self {
        Self {
            endpoint,
            port_free_ps: vec![0; planes as usize],
            timer_ps: u64::MAX,
            connections: 0,
        }
    }
}

/// Address of a host's port: plane and number, so that a packet's destination tells the host.
pub(super) fn address(host: u32, plane: u32) -> PlaneAddress {
    let [_, high, middle, low] = host.to_be_bytes();
    PlaneAddress {
        mac: MacAddress([2, plane as u8, 0, high, middle, low]),
        ipv4: Ipv4Address([10 + plane as u8, high, middle, low]),
    }
}

/// The host with this address.
pub(super) fn host_of(address: &PlaneAddress) -> u32 {
    let [_, high, middle, low] = address.ipv4.0;
    u32::from_be_bytes([0, high, middle, low])
}

/// Memory without bytes: what is placed is told to the witness.
pub(super) struct Witnessed<'a> {
    pub(super) host: u32,
    pub(super) delivery: &'a mut Delivery,
}

impl Memory for Witnessed<'_> {
    #[inline]
    fn place(&mut self, address: u64, length: u32, _payload: &[u8]) {
        self.delivery.placed(self.host, address, length);
    }

    fn load(&mut self, _address: u64) -> u64 {
        0
    }

    fn store(&mut self, _address: u64, _value: u64) {}
}
