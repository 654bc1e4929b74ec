//! Two hosts over a bench: contexts, memory, a connection. What jobs and scenarios have in common.

use crate::bench::Bench;
use crate::random::generator;
use osprey_hls::regs::control;
use osprey_hls::regs::counters::{COUNTERS, Counter};
use osprey_hls::wire::{Ipv4Address, MacAddress, PlaneAddress};
use osprey_host::bar::Bar;
use osprey_host::dma::{DmaBuffer, DmaMemory, PageSize};
use osprey_host::verbs::{
    Completion, Config, ConnectionHandle, ConnectionState, Context, Error, MemoryRegion,
    ProtectionDomain, Rights, WorkOperation, WorkRequest,
};
use rand::Rng;

/// What every byte of a buffer is before.
pub const BACKGROUND: u8 = 0xcc;
/// Bytes behind a region that must stay as they are.
pub const GUARD: usize = 4096;
/// Cycles between two looks at the completion ring.
pub const POLL_CYCLES: u64 = 64;
/// Service number.
const SERVICE: u32 = 1;
/// Cycles that set-up may take.
const SETUP_CYCLES_MAX: u64 = 2_000_000;

/// Why it does not go on.
#[derive(Debug, thiserror::Error)]
pub enum HostsError {
    /// The host library says so.
    #[error("{side}: {error}")]
    Host {
        /// Which side.
        side: &'static str,
        /// What it says.
        error: Error,
    },
    /// The connection did not come about.
    #[error("no connection after {cycles} cycles: {state:?}")]
    SetUp {
        /// Cycles waited.
        cycles: u64,
        /// Where it stands.
        state: ConnectionState,
    },
    /// Nothing completes any more.
    #[error(
        "no completion for {cycles} cycles: {done} of {total} are through; counters: {counters}"
    )]
    Stalled {
        /// Cycles without a completion.
        cycles: u64,
        /// What has completed.
        done: u64,
        /// What should have.
        total: u64,
        /// Counters of both sides that are not zero.
        counters: String,
    },
}

/// Addresses of the ports of a side.
pub fn addresses(side: u8, planes: usize) -> Vec<PlaneAddress> {
    let address = |plane: u8| PlaneAddress {
        mac: MacAddress([0x02, 0, 0, 0, plane, side + 1]),
        ipv4: Ipv4Address([10, 0, plane, side + 1]),
    };
    (0..planes as u8).map(address).collect()
}

/// Says which side an error comes from.
pub(crate) fn at<T>(side: usize, result: Result<T, Error>) -> Result<T, HostsError> {
    result.map_err(|error| HostsError::Host {
        side: ["host A", "host B"][side],
        error,
    })
}

/// Both hosts, over a bench.
pub struct Hosts<'a, B: Bench> {
    /// The devices.
    pub bench: &'a mut B,
    /// The libraries.
    pub contexts: [Context; 2],
    /// A protection domain of each.
    pub domains: [ProtectionDomain; 2],
    planes: usize,
}

/// Registered memory and where it is.
#[derive(Debug, Clone)]
pub struct Memory {
    /// The whole buffer, guard included.
    pub buffer: DmaBuffer,
    /// What is registered of it.
    pub region: MemoryRegion,
    /// Where the region begins in the buffer.
    pub offset: usize,
}

impl<'a, B: Bench> Hosts<'a, B> {
    /// Opens both devices with the settings of `config`, addresses excepted.
    pub fn open(
        bench: &'a mut B,
        config: &Config,
        planes: usize,
        seed: u64,
    ) -> Result<Self, HostsError> {
        let mut open = |side: usize| {
            let mut host = config.clone();
            host.planes = addresses(side as u8, planes);
            let secret = generator(seed, 5000 + side as u64).random();
            at(side, Context::open(&mut bench.port(side), host, secret))
        };
        let mut contexts = [open(0)?, open(1)?];
        let domains = contexts.each_mut().map(Context::protection_domain);
        Ok(Self {
            bench,
            contexts,
            domains,
            planes,
        })
    }

    /// A registered buffer that holds `content` at `offset`, with a guard behind it.
    pub fn memory(
        &mut self,
        side: usize,
        offset: usize,
        content: &[u8],
        rights: Rights,
    ) -> Result<Memory, HostsError> {
        let mut port = self.bench.port(side);
        let length = offset + content.len() + GUARD;
        let page_size = PageSize::for_length(length);
        let buffer = at(side, port.allocate(length, page_size).map_err(Error::from))?;
        port.write(&buffer, 0, &vec![BACKGROUND; length]);
        port.write(&buffer, offset, content);
        let (context, domain) = (&mut self.contexts[side], self.domains[side]);
        // A region has a byte at least, also where nothing is to be sent.
        let range = (offset as u64, content.len().max(1) as u64);
        let region = at(
            side,
            context.register(&mut port, domain, &buffer, range, rights),
        )?;
        Ok(Memory {
            buffer,
            region,
            offset,
        })
    }

    /// A connection from A to B, established on both sides.
    pub fn connect(&mut self, target: &MemoryRegion) -> Result<[ConnectionHandle; 2], HostsError> {
        at(
            1,
            self.contexts[1].listen(self.domains[1], SERVICE, &[*target]),
        )?;
        let (to, domain, begun) = (
            addresses(1, self.planes),
            self.domains[0],
            self.bench.cycle(),
        );
        let a = at(
            0,
            self.contexts[0].connect(&mut self.bench.port(0), domain, &to, SERVICE, &[]),
        )?;
        loop {
            self.progress()?;
            let state = at(0, self.contexts[0].state(a))?;
            let cycles = self.bench.cycle() - begun;
            if state == ConnectionState::Established {
                let b = self.contexts[1].accept();
                return b.map(|b| [a, b]).ok_or(HostsError::SetUp { cycles, state });
            }
            if state != ConnectionState::Connecting || cycles > SETUP_CYCLES_MAX {
                return Err(HostsError::SetUp { cycles, state });
            }
        }
    }

    /// Both libraries take a turn, then time goes on.
    pub fn progress(&mut self) -> Result<(), HostsError> {
        for side in 0..2 {
            at(
                side,
                self.contexts[side].progress(&mut self.bench.port(side)),
            )?;
        }
        self.bench.run(POLL_CYCLES);
        Ok(())
    }

    /// Counters of a side, by number.
    pub fn counters(&mut self, side: usize) -> Vec<u32> {
        let mut port = self.bench.port(side);
        Counter::ALL
            .iter()
            .map(|counter| self.contexts[side].counter(&mut port, *counter))
            .collect()
    }

    /// Writes of memory that the engine has ordered and that were answered.
    pub fn placements(&mut self, side: usize) -> [u32; 2] {
        let mut port = self.bench.port(side);
        [control::PLACEMENT_ISSUED, control::PLACEMENT_DONE]
            .map(|register| port.read32(register.at(0)))
    }

    /// Counters that are not zero, for a message.
    pub fn counters_text(&mut self) -> String {
        let mut text = String::new();
        for (side, name) in ["A", "B"].iter().enumerate() {
            text += name;
            for ((counter, _), value) in COUNTERS
                .iter()
                .zip(self.counters(side))
                .filter(|(_, v)| *v != 0)
            {
                text += &format!(" {counter}={value}");
            }
            text += "; ";
        }
        text
    }
}

impl<B: Bench> Hosts<'_, B> {
    /// Closes the connection and deregisters the memory.
    pub fn end(
        &mut self,
        handles: [ConnectionHandle; 2],
        regions: [MemoryRegion; 2],
    ) -> Result<(), HostsError> {
        at(
            0,
            self.contexts[0].close(&mut self.bench.port(0), handles[0]),
        )?;
        let begun = self.bench.cycle();
        while matches!(
            at(0, self.contexts[0].state(handles[0]))?,
            ConnectionState::Closing(_)
        ) && self.bench.cycle() - begun < SETUP_CYCLES_MAX
        {
            self.progress()?;
        }
        for side in 0..2 {
            let (context, mut port) = (&mut self.contexts[side], self.bench.port(side));
            at(side, context.deregister(&mut port, regions[side]))?;
            at(side, context.release(&mut port, handles[side]))?;
        }
        Ok(())
    }
}

impl<B: Bench> Hosts<'_, B> {
    /// The bytes of a buffer, guard included.
    pub fn content(&mut self, side: usize, memory: &Memory) -> Vec<u8> {
        let mut found = vec![0; memory.buffer.length];
        self.bench.port(side).read(&memory.buffer, 0, &mut found);
        found
    }

    /// Posts a write of a part of `source` to the same part of `target`.
    pub fn write(
        &mut self,
        handle: ConnectionHandle,
        source: &MemoryRegion,
        target: &MemoryRegion,
        (offset, length): (u64, u32),
        id: u64,
    ) -> Result<(), HostsError> {
        let operation = WorkOperation::Write {
            local: source.address + offset,
            length,
            remote: target.address + offset,
            key: target.key,
        };
        let request = WorkRequest { id, operation };
        at(
            0,
            self.contexts[0].post_send(&mut self.bench.port(0), handle, &request),
        )
        .map(|_| ())
    }

    /// Waits until `count` requests of A's connection have completed, or for `cycles`.
    pub fn wait(
        &mut self,
        handle: ConnectionHandle,
        count: usize,
        cycles: u64,
    ) -> Result<Vec<Completion>, HostsError> {
        let (mut all, begun) = (Vec::new(), self.bench.cycle());
        while all.len() < count {
            self.bench.run(POLL_CYCLES);
            at(
                0,
                self.contexts[0].poll(&mut self.bench.port(0), handle, &mut all),
            )?;
            if self.bench.cycle() - begun > cycles {
                let (done, total) = (all.len() as u64, count as u64);
                return Err(HostsError::Stalled {
                    cycles,
                    done,
                    total,
                    counters: self.counters_text(),
                });
            }
        }
        Ok(all)
    }
}
