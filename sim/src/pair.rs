//! Two engines with memories and MACs, joined by a fabric, in lock step.

use crate::activity::Activity;
use crate::axil::{Access, AxilMaster};
use crate::bench::Bench;
use crate::engine::{Engine, EngineError};
use crate::fabric::{Faults, Link, LinkConfig};
use crate::mac::{Rate, ReceiveMac, TransmitMac};
use crate::memory::{AxiMemory, HostMemory, Timing};
use crate::monitor::{AxiMonitor, StreamMonitor};
use crate::pcapng::{Capture, Direction};
use crate::random::Stalls;
use osprey_host::bar::Bar;
use osprey_host::device::{Device, DevicePair};
use osprey_host::dma::{DmaBuffer, DmaError, DmaMemory, PageSize};
use osprey_verilated::Source;

/// Cycles after which a register access is given up.
const ACCESS_CYCLES_MAX: u64 = 20_000;
/// Cycles that pass in one `idle`.
const IDLE_CYCLES: u64 = 16;
/// Cycles of silence that end a drain on short ways: more than a path's probe timer, so that no lost probe is still to
/// be missed.
const QUIET_CYCLES: u64 = 8000;
/// Most times that a drain waits for silence.
const QUIET_ROUNDS_MAX: u64 = 100;

/// What stands around the engines.
#[derive(Debug, Clone, PartialEq)]
pub struct PairConfig {
    /// Planes that are joined; the others have no link.
    pub planes: usize,
    /// Source of all randomness.
    pub seed: u64,
    /// Clock of the engines.
    pub clock_mhz: f64,
    /// Line rate of a plane.
    pub rate_gbps: f64,
    /// Cycles on the way, of each plane; the last one counts for all that follow.
    pub delay: Vec<u64>,
    /// Paths of a plane differ by up to so many cycles.
    pub path_spread: u64,
    /// Bytes in the queue of a link.
    pub queue_bytes: u64,
    /// Random faults.
    pub faults: Faults,
    /// Memory of host A and of host B.
    pub timing: [Timing; 2],
    /// Cycles of 256 in which streams and registers are stalled.
    pub stall_of_256: u8,
}

impl Default for PairConfig {
    fn default() -> Self {
        Self {
            planes: 4,
            seed: 1,
            clock_mhz: 250.0,
            rate_gbps: 25.0,
            delay: vec![500],
            path_spread: 100,
            queue_bytes: 1 << 20,
            faults: Faults::default(),
            timing: [Timing::default(); 2],
            stall_of_256: 0,
        }
    }
}

impl PairConfig {
    pub(crate) fn rate(&self) -> Rate {
        Rate::new(self.rate_gbps, self.clock_mhz)
    }

    fn delay_of(&self, plane: usize) -> u64 {
        self.delay
            .get(plane)
            .or(self.delay.last())
            .copied()
            .unwrap_or(0)
    }

    /// The link that leaves a side on a plane.
    pub(crate) fn link(&self, side: u64, plane: usize) -> Link {
        let link = LinkConfig {
            rate: self.rate(),
            delay: self.delay_of(plane),
            queue_bytes: self.queue_bytes,
            path_spread: self.path_spread,
            faults: self.faults,
        };
        Link::new(link, self.seed, 1000 + side * 64 + plane as u64)
    }

    /// Bytes a cycle of all planes together.
    pub fn line_bytes_per_cycle(&self) -> f64 {
        self.rate().bytes_per_cycle() * self.planes as f64
    }
}

/// One engine and what stands around it.
pub(crate) struct Side {
    engine: Engine,
    pub(crate) memory: HostMemory,
    slave: AxiMemory,
    pub(crate) axil: AxilMaster,
    transmit: Vec<TransmitMac>,
    pub(crate) receive: Vec<ReceiveMac>,
    axi_monitor: AxiMonitor,
    stream_monitors: Vec<StreamMonitor>,
    /// Beats on planes without a link, and accesses that were not answered.
    pub(crate) strays: Vec<String>,
    activity: Option<Activity>,
}

impl Side {
    pub(crate) fn new(
        source: &Source,
        config: &PairConfig,
        index: u64,
    ) -> Result<Self, EngineError> {
        let engine = Engine::new(source)?;
        let planes = config.planes.min(engine.planes());
        engine.set_link_up((1 << planes) - 1);
        // Streams of randomness: 64 a side, places by number.
        let stream = |place: u64| index * 64 + place;
        let stalls = |place| Stalls::new(config.seed, stream(place), config.stall_of_256);
        let name = ["a", "b"][index as usize];
        Ok(Self {
            memory: HostMemory::new(config.seed, stream(0)),
            slave: AxiMemory::new(config.timing[index as usize], config.seed, stream(1)),
            axil: AxilMaster::new(stalls(3)),
            transmit: (0..planes as u64)
                .map(|p| TransmitMac::new(config.rate(), stalls(8 + p)))
                .collect(),
            receive: (0..planes as u64)
                .map(|p| ReceiveMac::new(config.rate(), stalls(16 + p)))
                .collect(),
            axi_monitor: AxiMonitor::new(&format!("{name} m_axi")),
            stream_monitors: (0..engine.planes())
                .map(|plane| StreamMonitor::new(&format!("{name} tx{plane}")))
                .collect(),
            strays: Vec::new(),
            activity: None,
            engine,
        })
    }

    /// Planes that are joined.
    pub(crate) fn planes(&self) -> usize {
        self.transmit.len()
    }

    /// Drives every input of this cycle, and lets it begin.
    pub(crate) fn drive(&mut self) {
        let engine = &self.engine;
        engine.set_axil(&self.axil.drive());
        engine.set_axi(self.slave.drive(&mut self.memory));
        for (plane, mac) in self.receive.iter_mut().enumerate() {
            let beat = mac.drive();
            engine.set_receive(plane, &beat);
            if let Some(activity) = &mut self.activity {
                activity.receive(plane, &beat);
            }
        }
        for (plane, mac) in self.transmit.iter_mut().enumerate() {
            engine.set_transmit_ready(plane, mac.drive());
        }
        for plane in self.transmit.len()..engine.planes() {
            engine.set_transmit_ready(plane, true);
        }
        engine.cycle();
    }

    /// Looks at every output of this cycle. Yields the frames that ended.
    pub(crate) fn sample(&mut self, ready: &mut Vec<(usize, Vec<u8>)>) {
        let (registers, master) = (self.engine.axil(), self.engine.axi());
        if let Some(activity) = &mut self.activity {
            activity.registers(self.axil.signals(), &registers);
            activity.memory(&master, self.slave.signals());
        }
        self.axil.sample(&registers);
        self.axi_monitor.sample(&master, self.slave.signals());
        self.slave.sample(&master);
        for plane in 0..self.engine.planes() {
            let beat = self.engine.transmit(plane);
            let Some(mac) = self.transmit.get_mut(plane) else {
                if beat.valid && self.strays.len() < 16 {
                    self.strays
                        .push(format!("a beat on plane {plane}, which has no link"));
                }
                continue;
            };
            self.stream_monitors[plane].sample(&beat, mac.is_ready());
            if let Some(activity) = &mut self.activity {
                activity.transmit(plane, &beat, mac.is_ready());
            }
            ready.extend(mac.sample(&beat).map(|frame| (plane, frame)));
        }
        if let Some(activity) = &mut self.activity {
            activity.tick();
        }
    }

    /// Every rule that was broken so far.
    pub(crate) fn violations(&self, name: &str) -> Vec<String> {
        let mut all = self.axi_monitor.violations().to_vec();
        for monitor in &self.stream_monitors {
            all.extend_from_slice(monitor.violations());
        }
        all.extend(self.strays.iter().map(|what| format!("{name}: {what}")));
        let memory = self.memory.violations.iter().take(16);
        all.extend(memory.map(|what| format!("{name} memory: {what}")));
        if self.axil.errors > 0 {
            let errors = self.axil.errors;
            all.push(format!("{name} s_axil: {errors} error responses"));
        }
        all
    }
}

/// Two engines and the fabric between them.
pub struct Pair {
    sides: [Side; 2],
    /// Links that leave a side, by plane.
    links: [Vec<Link>; 2],
    capture: Option<Capture>,
    nanoseconds_per_cycle: f64,
    cycle: u64,
    quiet_cycles: u64,
    ended: Vec<(usize, Vec<u8>)>,
}

impl Pair {
    /// Two instances of `source`.
    pub fn new(source: &Source, config: &PairConfig) -> Result<Self, EngineError> {
        let sides = [Side::new(source, config, 0)?, Side::new(source, config, 1)?];
        let planes = sides[0].transmit.len();
        let longest = config.delay.iter().max().copied().unwrap_or(0);
        let link = |side, plane| config.link(side, plane);
        Ok(Self {
            sides,
            links: [0, 1].map(|side| (0..planes).map(|plane| link(side, plane)).collect()),
            capture: None,
            nanoseconds_per_cycle: 1000.0 / config.clock_mhz,
            cycle: 0,
            // A timer also grows with the round trip.
            quiet_cycles: QUIET_CYCLES + 6 * (config.path_spread + longest),
            ended: Vec::new(),
        })
    }

    /// Planes that are joined.
    pub fn planes(&self) -> usize {
        self.links[0].len()
    }

    /// Names of the ports in a capture: a0, a1, ..., b0, b1, ...
    pub fn port_names(&self) -> Vec<String> {
        let names = |side: &str| {
            (0..self.planes())
                .map(|plane| format!("{side}{plane}"))
                .collect::<Vec<_>>()
        };
        [names("a"), names("b")].concat()
    }

    /// Captures every frame at both ends from now on.
    pub fn capture(&mut self, capture: Capture) {
        self.capture = Some(capture);
    }

    /// The capture, to be finished.
    pub fn take_capture(&mut self) -> Option<Capture> {
        self.capture.take()
    }

    /// Records what moves at the ports of both engines from now on.
    pub fn record_activity(&mut self) {
        let cycle = self.cycle;
        self.sides
            .iter_mut()
            .for_each(|side| side.activity = Some(Activity::starting_at(cycle)));
    }

    /// What was recorded of a side since then; nothing if nothing was.
    pub fn take_activity(&mut self, side: usize) -> Activity {
        self.sides[side].activity.take().unwrap_or_default()
    }

    /// The engine of a side, for waveforms.
    pub fn engine(&self, side: usize) -> &Engine {
        &self.sides[side].engine
    }

    /// The link that leaves `side` on `plane`.
    pub fn link(&mut self, side: usize, plane: usize) -> &mut Link {
        &mut self.links[side][plane]
    }

    /// The links that leave `side`.
    pub fn links(&self, side: usize) -> &[Link] {
        &self.links[side]
    }

    /// Takes both directions of a plane, and the link state that the engines see, down or up.
    pub fn set_plane_up(&mut self, plane: usize, up: bool, seen: bool) {
        for side in 0..2 {
            self.links[side][plane].set_up(up);
        }
        if seen {
            let all = (1_u32 << self.planes()) - 1;
            let mask = if up { all } else { all & !(1 << plane) };
            self.sides
                .iter()
                .for_each(|side| side.engine.set_link_up(mask));
        }
    }

    /// Every rule that was broken so far, by whom and when.
    pub fn violations(&self) -> Vec<String> {
        let sides = ["a", "b"].iter().zip(&self.sides);
        sides
            .flat_map(|(name, side)| side.violations(name))
            .collect()
    }

    /// Frames on their way and in the receiving MACs.
    pub fn in_flight(&self) -> usize {
        let links: usize = self.links.iter().flatten().map(Link::travelling).sum();
        links
            + self
                .sides
                .iter()
                .flat_map(|side| &side.receive)
                .map(ReceiveMac::waiting)
                .sum::<usize>()
    }

    /// Frames that both sides have sent so far.
    fn entered(&self) -> u64 {
        let links = self.links.iter().flatten();
        links.map(|link| link.counts().entered).sum()
    }

    /// One cycle of everything.
    pub fn step(&mut self) {
        let time = (self.cycle as f64 * self.nanoseconds_per_cycle) as u64;
        let planes = self.planes();
        for side in 0..2 {
            for plane in 0..planes {
                while let Some(frame) = self.links[1 - side][plane].leave(self.cycle) {
                    if let Some(capture) = &mut self.capture {
                        capture.record(side * planes + plane, Direction::In, time, &frame.bytes);
                    }
                    self.sides[side].receive[plane].push(frame);
                }
            }
            self.sides[side].drive();
        }
        for side in 0..2 {
            self.sides[side].sample(&mut self.ended);
            for (plane, frame) in self.ended.drain(..) {
                if let Some(capture) = &mut self.capture {
                    capture.record(side * planes + plane, Direction::Out, time, &frame);
                }
                self.links[side][plane].enter(self.cycle, frame);
            }
        }
        self.cycle += 1;
    }

    /// A register access; an unanswered read is all ones, as on PCIe.
    fn access(&mut self, side: usize, access: Access) -> u32 {
        self.sides[side].axil.begin(access);
        for _ in 0..ACCESS_CYCLES_MAX {
            self.step();
            if let Some(result) = self.sides[side].axil.take_result() {
                return result;
            }
        }
        let cycle = self.cycle;
        self.sides[side].axil.abandon();
        self.sides[side]
            .strays
            .push(format!("{access:x?} not answered by cycle {cycle}"));
        u32::MAX
    }
}

/// One side of a pair, as a device.
pub struct PairPort<'a> {
    pair: &'a mut Pair,
    side: usize,
}

impl DevicePair for Pair {
    type Port<'a> = PairPort<'a>;

    fn port(&mut self, side: usize) -> PairPort<'_> {
        PairPort { pair: self, side }
    }
}

impl Bench for Pair {
    fn run(&mut self, cycles: u64) {
        (0..cycles).for_each(|_| self.step());
    }

    fn cycle(&self) -> u64 {
        self.cycle
    }

    fn quiesce(&mut self) {
        // Bounded, should frames never end.
        for _ in 0..QUIET_ROUNDS_MAX {
            let before = self.entered();
            self.run(self.quiet_cycles);
            if self.entered() == before && self.in_flight() == 0 {
                break;
            }
        }
    }

    fn line_bytes(&self) -> Vec<u64> {
        self.links[0]
            .iter()
            .map(|link| link.counts().line_bytes)
            .collect()
    }
}

impl Bar for PairPort<'_> {
    fn read32(&mut self, offset: u32) -> u32 {
        self.pair.access(self.side, Access::Read(offset))
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.pair.access(self.side, Access::Write(offset, value));
    }
}

impl DmaMemory for PairPort<'_> {
    fn allocate(&mut self, length: usize, page_size: PageSize) -> Result<DmaBuffer, DmaError> {
        self.pair.sides[self.side]
            .memory
            .allocate(length, page_size, false)
    }

    fn allocate_contiguous(&mut self, length: usize) -> Result<DmaBuffer, DmaError> {
        self.pair.sides[self.side]
            .memory
            .allocate(length, PageSize::Small, true)
    }

    fn release(&mut self, buffer: DmaBuffer) {
        self.pair.sides[self.side].memory.release(&buffer);
    }

    fn read(&self, buffer: &DmaBuffer, offset: usize, into: &mut [u8]) {
        self.pair.sides[self.side]
            .memory
            .copy_out(buffer, offset, into);
    }

    fn write(&mut self, buffer: &DmaBuffer, offset: usize, from: &[u8]) {
        self.pair.sides[self.side]
            .memory
            .copy_in(buffer, offset, from);
    }
}

impl Device for PairPort<'_> {
    fn idle(&mut self) {
        self.pair.run(IDLE_CYCLES);
    }
}
