//! Two contexts over a pair of fake engines.
#![allow(dead_code)]

use osprey_hls::wire::{Ipv4Address, MacAddress, PlaneAddress};
use osprey_host::device::{Device, DevicePair};
use osprey_host::dma::{DmaBuffer, DmaMemory, PageSize};
use osprey_host::fake::FakePair;
use osprey_host::verbs::{
    Completion, Config, ConnectionHandle, ConnectionState, Context, MemoryRegion, ProtectionDomain,
    Rights, WorkOperation, WorkRequest,
};

pub const SERVICE: u32 = 7;

pub fn addresses(side: u8) -> Vec<PlaneAddress> {
    let address = |plane| PlaneAddress {
        mac: MacAddress([2, 0, 0, 0, plane, side]),
        ipv4: Ipv4Address([10, 0, plane, 1 + side]),
    };
    (0..2).map(address).collect()
}

pub struct Hosts {
    pub pair: FakePair,
    pub contexts: [Context; 2],
    pub domains: [ProtectionDomain; 2],
}

impl Hosts {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    pub fn with(change: impl Fn(&mut Config)) -> Self {
        let mut pair = FakePair::new();
        let mut open = |side: u8| {
            let mut config = Config::new(addresses(side));
            config.retry_interval = 20;
            change(&mut config);
            Context::open(&mut pair.port(side.into()), config, [side; 32]).unwrap()
        };
        let mut contexts = [open(0), open(1)];
        let domains = contexts.each_mut().map(Context::protection_domain);
        Self {
            pair,
            contexts,
            domains,
        }
    }

    pub fn turn(&mut self) {
        for side in 0..2 {
            self.contexts[side]
                .progress(&mut self.pair.port(side))
                .unwrap();
        }
        self.pair.port(0).idle();
    }

    pub fn turns(&mut self, count: u32) {
        for _ in 0..count {
            self.turn();
        }
    }

    /// A region of `length` bytes at `offset` into its buffer.
    pub fn region(&mut self, side: usize, offset: u64, length: u64) -> (DmaBuffer, MemoryRegion) {
        let mut port = self.pair.port(side);
        let buffer = port
            .allocate((offset + length) as usize, PageSize::Small)
            .unwrap();
        let rights = Rights {
            write: true,
            ..Rights::default()
        };
        let domain = self.domains[side];
        let region = self.contexts[side]
            .register(&mut port, domain, &buffer, (offset, length), rights)
            .unwrap();
        (buffer, region)
    }

    pub fn connect(&mut self, regions: &[MemoryRegion]) -> [ConnectionHandle; 2] {
        self.contexts[1]
            .listen(self.domains[1], SERVICE, regions)
            .unwrap();
        let to = addresses(1);
        let handle = self.contexts[0]
            .connect(&mut self.pair.port(0), self.domains[0], &to, SERVICE, &[])
            .unwrap();
        for _ in 0..200 {
            self.turn();
            if self.contexts[0].state(handle).unwrap() == ConnectionState::Established {
                return [handle, self.contexts[1].accept().unwrap()];
            }
        }
        panic!("not established: {:?}", self.contexts[0].state(handle));
    }

    pub fn poll(&mut self, side: usize, handle: ConnectionHandle) -> Vec<Completion> {
        let mut all = Vec::new();
        self.contexts[side]
            .poll(&mut self.pair.port(side), handle, &mut all)
            .unwrap();
        all
    }

    pub fn write_request(&self, from: &MemoryRegion, to: &MemoryRegion, id: u64) -> WorkRequest {
        let operation = WorkOperation::Write {
            local: from.address,
            length: from.length.min(to.length) as u32,
            remote: to.address,
            key: to.key,
        };
        WorkRequest { id, operation }
    }
}
