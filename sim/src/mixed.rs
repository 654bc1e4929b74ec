//! An engine and a behavioural endpoint, joined by the fabric: two implementations of one specification.
//!
//! Side 0 is the verilated engine with its memory and MACs, a device for the host library. Side 1 is the endpoint of
//! `hls`: frames are taken apart and put together by [`osprey_hls::wire`], its memory is a plain buffer. Time is the
//! engine's: a cycle is 4 ns of the endpoint.

use crate::axil::Access;
use crate::engine::EngineError;
use crate::fabric::{Fate, Link};
use crate::hosts::addresses;
use crate::mac::whole_cycles;
use crate::memory::HostMemory;
use crate::pair::{PairConfig, Side};
use osprey_hls::endpoint::{Arrival, Config, Endpoint, Memory, Packet, Payload, Transmit};
use osprey_hls::wire::{
    CRC_LEN, FRAME_HEADER_LEN, FrameHeader, PlaneAddress, locate, seal, verify,
};
use osprey_host::bar::Bar;
use osprey_host::device::Device;
use osprey_host::dma::{DmaBuffer, DmaError, DmaMemory, PageSize};
use osprey_host::udp::Buffers;
use osprey_verilated::Source;

/// Nanoseconds of a cycle at 250 MHz.
pub const NS_PER_CYCLE: u64 = 4;
/// Cycles after which a register access is given up.
const ACCESS_CYCLES_MAX: u64 = 20_000;
/// Cycles that pass in one `idle`.
const IDLE_CYCLES: u64 = 16;
/// UDP port of the transport.
const PORT: u16 = osprey_hls::wire::DEFAULT_UDP_PORT;

/// ECN field of a packet that a switch has marked.
const ECN_MARKED: u8 = 3;
/// Traffic class of an IPv4 frame without tags.
const TRAFFIC_CLASS_AT: usize = 15;

/// Decides what becomes of a frame that leaves the engine (side 0) or the endpoint (side 1) by a plane, and may change it.
pub type Edge = Box<dyn FnMut(usize, usize, &mut Vec<u8>) -> Fate>;

/// Memory that an endpoint also sends from.
pub trait Sendable: Memory {
    /// The bytes at an address, which the endpoint has checked.
    fn bytes(&self, address: u64, length: usize) -> &[u8];
}

/// The endpoint's memory: one buffer.
#[derive(Debug)]
pub struct Plain {
    /// Address of the first byte.
    pub base: u64,
    /// What it holds.
    pub bytes: Vec<u8>,
    /// How often each byte was placed.
    pub placed: Vec<u8>,
}

impl Plain {
    /// `length` zeros at `base`.
    pub fn new(base: u64, length: usize) -> Self {
        Self {
            base,
            bytes: vec![0; length],
            placed: vec![0; length],
        }
    }

    /// Where `length` bytes at `address` lie.
    ///
    /// # Panics
    /// When they are not all in the buffer: the endpoint checks every access before.
    pub fn range(&self, address: u64, length: usize) -> std::ops::Range<usize> {
        let at = address.checked_sub(self.base).map(|at| at as usize);
        let at = at.filter(|at| at + length <= self.bytes.len());
        let at = at.expect("the endpoint's memory holds what it reaches for");
        at..at + length
    }
}

impl Memory for Plain {
    fn place(&mut self, address: u64, length: u32, payload: &[u8]) {
        let range = self.range(address, length as usize);
        self.bytes[range.clone()].copy_from_slice(payload);
        self.placed[range].iter_mut().for_each(|times| *times += 1);
    }

    fn load(&mut self, address: u64) -> u64 {
        let range = self.range(address, 8);
        self.bytes[range]
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | u64::from(*byte))
    }

    fn store(&mut self, address: u64, value: u64) {
        let range = self.range(address, 8);
        self.bytes[range].copy_from_slice(&value.to_le_bytes());
    }
}

impl Sendable for Plain {
    fn bytes(&self, address: u64, length: usize) -> &[u8] {
        &self.bytes[self.range(address, length)]
    }
}

impl Sendable for Buffers {
    fn bytes(&self, address: u64, length: usize) -> &[u8] {
        self.get(address, length)
            .expect("the endpoint's memory holds what it reaches for")
    }
}

/// The engine, the endpoint, and the fabric between them.
pub struct Mixed<M = Plain> {
    side: Side,
    /// The behavioural endpoint.
    pub endpoint: Endpoint,
    /// Its memory.
    pub memory: M,
    /// Frames that the endpoint could not read: with a bad check sequence or CRC, or of no format.
    pub refused: u64,
    /// Decides in place of the links' dice, if there is one.
    pub edge: Option<Edge>,
    /// Links that leave the engine and the endpoint, by plane.
    pub links: [Vec<Link>; 2],
    /// Cycle from which on a port of the endpoint is free.
    free_at: Vec<u64>,
    config: PairConfig,
    cycle: u64,
    out: Transmit,
    ended: Vec<(usize, Vec<u8>)>,
}

/// What the engine can do, as an endpoint's configuration: one stream, no fences.
pub fn endpoint_config(planes: usize, mtu: u16, rate_gbps: f64) -> Config {
    let mut config = Config::new(addresses(1, planes));
    config.mtu = mtu;
    config.packet_wire_bytes = u32::from(mtu) + 118;
    config.rate_bits_per_second = (rate_gbps * 1e9) as u64;
    config.streams = 1;
    config.slots = 64;
    config.health.fences = false;
    config
}

impl<M: Sendable> Mixed<M> {
    /// An instance of `source` and an endpoint of `endpoint_config` with its memory.
    ///
    /// # Panics
    /// When the endpoint refuses its configuration.
    pub fn new(
        source: &Source,
        config: &PairConfig,
        endpoint: Config,
        memory: M,
    ) -> Result<Self, EngineError> {
        let side = Side::new(source, config, 0)?;
        let planes = side.planes();
        Ok(Self {
            endpoint: Endpoint::new(endpoint, config.seed).expect("a configuration of this file"),
            memory,
            refused: 0,
            edge: None,
            links: [0, 1].map(|side| (0..planes).map(|plane| config.link(side, plane)).collect()),
            free_at: vec![0; planes],
            config: config.clone(),
            cycle: 0,
            out: Transmit::default(),
            ended: Vec::new(),
            side,
        })
    }

    /// Nanoseconds of the endpoint.
    pub fn now_ns(&self) -> u64 {
        self.cycle * NS_PER_CYCLE
    }

    /// Rules of the buses that the engine broke.
    pub fn violations(&self) -> Vec<String> {
        self.side.violations("engine")
    }

    /// One cycle of everything.
    pub fn step(&mut self) {
        for plane in 0..self.free_at.len() {
            while let Some(frame) = self.links[1][plane].leave(self.cycle) {
                self.side.receive[plane].push(frame);
            }
            while let Some(frame) = self.links[0][plane].leave(self.cycle) {
                if frame.bad || self.hear(plane, &frame.bytes).is_none() {
                    self.refused += 1;
                }
            }
        }
        self.side.drive();
        self.side.sample(&mut self.ended);
        for (plane, frame) in std::mem::take(&mut self.ended) {
            self.enter(0, plane, frame);
        }
        let now = self.now_ns();
        if self.endpoint.poll_timeout().is_some_and(|due| due <= now) {
            self.endpoint.handle_timeout(now);
        }
        for plane in 0..self.free_at.len() {
            self.say(plane, now);
        }
        self.cycle += 1;
    }

    /// Lets cycles pass.
    pub fn run(&mut self, cycles: u64) {
        (0..cycles).for_each(|_| self.step());
    }

    /// A frame arrives that neither has sent, by the link that leaves `side`; nothing happens to it on the way.
    pub fn inject(&mut self, side: usize, plane: usize, frame: Vec<u8>) {
        self.links[side][plane].enter_as(self.cycle, frame, Fate::Pass);
    }

    /// A frame leaves a side.
    fn enter(&mut self, side: usize, plane: usize, mut frame: Vec<u8>) {
        let link = &mut self.links[side][plane];
        match &mut self.edge {
            None => link.enter(self.cycle, frame),
            Some(edge) => {
                let fate = edge(side, plane, &mut frame);
                link.enter_as(self.cycle, frame, fate);
            }
        }
    }

    /// The engine's memory.
    pub const fn engine_memory(&self) -> &HostMemory {
        &self.side.memory
    }

    /// Gives a frame to the endpoint; nothing if it is none of the transport.
    fn hear(&mut self, plane: usize, frame: &[u8]) -> Option<()> {
        let right = verify(frame).ok()?;
        let located = locate(frame).ok().filter(|_| right)?;
        let bytes = &frame[located.transport..located.end - CRC_LEN];
        let (packet, at) = Packet::parse(bytes, self.endpoint.config().window).ok()?;
        let arrival = Arrival {
            plane: plane as u8,
            source: PlaneAddress {
                mac: located.mac.0,
                ipv4: located.ipv4?.0,
            },
            entropy: located.source_port,
            marked: frame[TRAFFIC_CLASS_AT] & ECN_MARKED == ECN_MARKED,
        };
        let payload = &bytes[at..at + packet.payload_len()];
        let now = self.now_ns();
        self.endpoint
            .handle_packet(now, &arrival, &packet, payload, &mut self.memory);
        Some(())
    }

    /// Sends the endpoint's next frame by a port that is free.
    fn say(&mut self, plane: usize, now: u64) {
        if self.free_at[plane] > self.cycle
            || !self.endpoint.poll_transmit(now, plane as u8, &mut self.out)
        {
            return;
        }
        let (packet, header_len) = (&self.out.packet, self.out.packet.header_len());
        let length = header_len + packet.payload_len();
        let header = FrameHeader {
            source: self.endpoint.config().planes[plane],
            destination: self.out.destination,
            source_port: self.out.entropy,
            destination_port: PORT,
            payload_len: length + CRC_LEN,
            traffic_class: 2,
            identification: 0,
        };
        let mut frame = vec![0; FRAME_HEADER_LEN + length];
        header.emit(&mut frame);
        packet.emit(&mut frame[FRAME_HEADER_LEN..]);
        let body = &mut frame[FRAME_HEADER_LEN + header_len..];
        match &self.out.payload {
            Payload::None => {}
            Payload::Inline { bytes, .. } => body.copy_from_slice(&bytes[..body.len()]),
            Payload::Memory { address, length } => {
                body.copy_from_slice(self.memory.bytes(*address, *length as usize));
            }
        }
        seal(&mut frame).expect("a frame of our own");
        let time = whole_cycles(self.config.rate().frame_time(frame.len()));
        self.free_at[plane] = self.cycle + time;
        self.enter(1, plane, frame);
    }

    /// A register access; an unanswered read is all ones, as on PCIe.
    fn access(&mut self, access: Access) -> u32 {
        self.side.axil.begin(access);
        for _ in 0..ACCESS_CYCLES_MAX {
            self.step();
            if let Some(result) = self.side.axil.take_result() {
                return result;
            }
        }
        self.side.axil.abandon();
        self.side.strays.push(format!("{access:x?} not answered"));
        u32::MAX
    }
}

impl<M: Sendable> Bar for Mixed<M> {
    fn read32(&mut self, offset: u32) -> u32 {
        self.access(Access::Read(offset))
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.access(Access::Write(offset, value));
    }
}

impl<M: Sendable> DmaMemory for Mixed<M> {
    fn allocate(&mut self, length: usize, page_size: PageSize) -> Result<DmaBuffer, DmaError> {
        self.side.memory.allocate(length, page_size, false)
    }

    fn allocate_contiguous(&mut self, length: usize) -> Result<DmaBuffer, DmaError> {
        self.side.memory.allocate(length, PageSize::Small, true)
    }

    fn release(&mut self, buffer: DmaBuffer) {
        self.side.memory.release(&buffer);
    }

    fn read(&self, buffer: &DmaBuffer, offset: usize, into: &mut [u8]) {
        self.side.memory.copy_out(buffer, offset, into);
    }

    fn write(&mut self, buffer: &DmaBuffer, offset: usize, from: &[u8]) {
        self.side.memory.copy_in(buffer, offset, from);
    }
}

impl<M: Sendable> Device for Mixed<M> {
    fn idle(&mut self) {
        self.run(IDLE_CYCLES);
    }
}
