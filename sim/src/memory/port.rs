//! The AXI slave before a memory: bursts in order, random latency and stalls.
//!
//! Written bytes reach the memory when the response is given, not before: an engine that tells of data
//! before its writes were answered is caught by whoever looks at once.

use super::HostMemory;
use crate::axi::{AxiAddress, AxiMaster, AxiSlave, BEAT, Word512, from_bytes, to_bytes};
use crate::random::{Stalls, generator};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

const OKAY: u8 = 0;
const DECODE_ERROR: u8 = 3;

/// Latency and stalls of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Least cycles from the last address or data beat to the first response.
    pub latency_min: u64,
    /// Most of these.
    pub latency_max: u64,
    /// Cycles of 256 in which a ready or valid is withheld.
    pub stall_of_256: u8,
    /// Bursts under way before an address has to wait.
    pub outstanding_max: usize,
}

impl Default for Timing {
    /// Half a microsecond or so at 250 MHz, as of a PCIe host.
    fn default() -> Self {
        Self {
            latency_min: 80,
            latency_max: 120,
            stall_of_256: 0,
            outstanding_max: 64,
        }
    }
}

/// A burst that waits for its time.
#[derive(Debug, Clone, Copy)]
struct Burst {
    address: u64,
    beats: u32,
    ready_at: u64,
}

/// A written beat that waits for its response.
type WrittenBeat = (u64, [u8; BEAT], u64);

/// The AXI slave of one engine.
#[derive(Debug, Clone)]
pub struct AxiMemory {
    timing: Timing,
    random: ChaCha8Rng,
    stalls: Stalls,
    now: u64,
    out: AxiSlave,
    reads: VecDeque<Burst>,
    /// Beats already given of the first read burst.
    read_beats: u32,
    write_addresses: VecDeque<AxiAddress>,
    /// Beats of the burst that is being written.
    written: Vec<WrittenBeat>,
    /// Write data that came before its address.
    early: VecDeque<(Word512, u64, bool)>,
    responses: VecDeque<(u64, Vec<WrittenBeat>)>,
    /// Bytes read and written by the engine.
    pub bytes: (u64, u64),
}

impl AxiMemory {
    /// A slave with this timing.
    pub fn new(timing: Timing, seed: u64, stream: u64) -> Self {
        Self {
            timing,
            random: generator(seed, stream),
            stalls: Stalls::new(seed, stream + 1, timing.stall_of_256),
            now: 0,
            out: AxiSlave::default(),
            reads: VecDeque::new(),
            read_beats: 0,
            write_addresses: VecDeque::new(),
            written: Vec::new(),
            early: VecDeque::new(),
            responses: VecDeque::new(),
            bytes: (0, 0),
        }
    }

    /// What to drive in this cycle. A valid stays until it is taken.
    pub fn drive(&mut self, memory: &mut HostMemory) -> &AxiSlave {
        let room = |used: usize| used < self.timing.outstanding_max;
        self.out.arready = room(self.reads.len()) && !self.stalls.stall();
        self.out.awready =
            room(self.write_addresses.len() + self.responses.len()) && !self.stalls.stall();
        self.out.wready = self.early.len() < 64 && !self.stalls.stall();
        if !self.out.bvalid
            && self
                .responses
                .front()
                .is_some_and(|(at, _)| *at <= self.now)
            && !self.stalls.stall()
        {
            let (_, beats) = self.responses.pop_front().expect("just seen");
            let fine = beats.iter().fold(true, |fine, (address, data, strobe)| {
                memory.write_beat(*address, data, *strobe) && fine
            });
            (self.out.bvalid, self.out.bresp) = (true, if fine { OKAY } else { DECODE_ERROR });
        }
        if !self.out.rvalid
            && self.reads.front().is_some_and(|b| b.ready_at <= self.now)
            && !self.stalls.stall()
        {
            self.next_read_beat(memory);
        }
        &self.out
    }

    fn next_read_beat(&mut self, memory: &mut HostMemory) {
        let burst = self.reads[0];
        let beat = memory.read_beat(burst.address + u64::from(self.read_beats) * BEAT as u64);
        self.bytes.0 += BEAT as u64;
        self.read_beats += 1;
        self.out.rvalid = true;
        self.out.rresp = if beat.is_some() { OKAY } else { DECODE_ERROR };
        self.out.rdata = from_bytes(&beat.unwrap_or([0xde; BEAT]));
        self.out.rlast = self.read_beats == burst.beats;
        if self.out.rlast {
            self.reads.pop_front();
            self.read_beats = 0;
        }
    }

    /// What is driven in this cycle.
    pub const fn signals(&self) -> &AxiSlave {
        &self.out
    }

    /// What the engine drives in this cycle, settled.
    pub fn sample(&mut self, master: &AxiMaster) {
        if master.ar.valid && self.out.arready {
            let ready_at = self.ready_at(self.reads.back().map_or(0, |burst| burst.ready_at));
            let beats = u32::from(master.ar.len) + 1;
            self.reads.push_back(Burst {
                address: master.ar.address,
                beats,
                ready_at,
            });
        }
        if master.aw.valid && self.out.awready {
            self.write_addresses.push_back(master.aw);
        }
        if master.wvalid && self.out.wready {
            self.early
                .push_back((master.wdata, master.wstrb, master.wlast));
        }
        self.out.bvalid &= !master.bready;
        self.out.rvalid &= !master.rready;
        while let (Some(address), true) = (
            self.write_addresses.front().copied(),
            !self.early.is_empty(),
        ) {
            let (data, strobe, last) = self.early.pop_front().expect("not empty");
            let at =
                address.address / BEAT as u64 * BEAT as u64 + (self.written.len() * BEAT) as u64;
            self.written.push((at, to_bytes(&data), strobe));
            self.bytes.1 += u64::from(strobe.count_ones());
            if last {
                self.write_addresses.pop_front();
                let ready_at = self.ready_at(self.responses.back().map_or(0, |(at, _)| *at));
                self.responses
                    .push_back((ready_at, std::mem::take(&mut self.written)));
            }
        }
        self.now += 1;
    }

    /// Random latency from now, in order behind `before`.
    fn ready_at(&mut self, before: u64) -> u64 {
        let latency = self
            .random
            .random_range(self.timing.latency_min..=self.timing.latency_max);
        before.max(self.now + latency)
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.reads.is_empty() && self.responses.is_empty() && self.early.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::AxiMonitor;
    use osprey_host::dma::PageSize;

    /// Drives one burst a time under stalls: writes `data` at `address`, or reads `beats` back.
    struct Driver {
        memory: HostMemory,
        slave: AxiMemory,
        monitor: AxiMonitor,
        master: AxiMaster,
    }

    impl Driver {
        fn cycle(&mut self) -> AxiSlave {
            let slave = self.slave.drive(&mut self.memory).clone();
            self.monitor.sample(&self.master, &slave);
            self.slave.sample(&self.master);
            let (m, s) = (&mut self.master, &slave);
            m.aw.valid &= !s.awready;
            m.ar.valid &= !s.arready;
            m.wvalid &= !s.wready;
            slave
        }

        fn write(&mut self, address: u64, beats: &[([u8; 64], u64)]) -> u8 {
            self.master.aw = AxiAddress {
                address,
                len: beats.len() as u8 - 1,
                valid: true,
            };
            self.master.bready = true;
            let mut next = 0;
            loop {
                if !self.master.wvalid && next < beats.len() {
                    self.master.wdata = from_bytes(&beats[next].0);
                    (self.master.wstrb, self.master.wvalid) = (beats[next].1, true);
                    next += 1;
                    self.master.wlast = next == beats.len();
                }
                let slave = self.cycle();
                if slave.bvalid {
                    return slave.bresp;
                }
            }
        }

        fn read(&mut self, address: u64, beats: u8) -> Vec<[u8; 64]> {
            self.master.ar = AxiAddress {
                address,
                len: beats - 1,
                valid: true,
            };
            self.master.rready = true;
            let mut data = Vec::new();
            loop {
                let slave = self.cycle();
                if slave.rvalid {
                    data.push(to_bytes(&slave.rdata));
                    if slave.rlast {
                        return data;
                    }
                }
            }
        }
    }

    #[test]
    fn bursts_are_stored_and_read_back_under_stalls() {
        let timing = Timing {
            latency_min: 0,
            latency_max: 9,
            stall_of_256: 90,
            outstanding_max: 2,
        };
        let mut driver = Driver {
            memory: HostMemory::new(3, 0),
            slave: AxiMemory::new(timing, 3, 1),
            monitor: AxiMonitor::new("test"),
            master: AxiMaster::default(),
        };
        let buffer = driver
            .memory
            .allocate(4096, PageSize::Small, false)
            .unwrap();
        let bus = buffer.pages[0];
        let mut model = vec![0_u8; 4096];
        for round in 0..200_usize {
            let beats = round % 7 + 1;
            let at = (round * 37 % (64 - beats)) * 64;
            let strobe = if round % 2 == 0 {
                u64::MAX
            } else {
                0x00ff_ff00_0f0f_ffff
            };
            let data: Vec<_> = (0..beats)
                .map(|beat| ([(round * 5 + beat) as u8; 64], strobe))
                .collect();
            assert_eq!(driver.write(bus + at as u64, &data), OKAY);
            for (beat, (bytes, strobe)) in data.iter().enumerate() {
                for lane in (0..64).filter(|lane| strobe >> lane & 1 == 1) {
                    model[at + beat * 64 + lane] = bytes[lane];
                }
            }
            assert_eq!(
                driver.read(bus + at as u64, beats as u8).concat(),
                model[at..at + beats * 64]
            );
        }
        assert_eq!(driver.write(bus + 4096, &[([0; 64], 1)]), DECODE_ERROR);
        assert_eq!(driver.memory.violations.len(), 1);
        assert_eq!(driver.monitor.violations(), &[] as &[String]);
        assert!(driver.slave.is_idle());
    }
}
