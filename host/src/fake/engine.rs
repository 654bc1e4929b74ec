//! One fake engine: registers, tables, rings.

use super::FakeMemory;
use osprey_hls::regs::table::{connection, key, page};
use osprey_hls::regs::{
    MAP_HASH, MAP_VERSION, completion, control, doorbell, identity, table, work_request,
};
use osprey_hls::wire::{CRC_LEN, FRAME_HEADER_LEN, Key, locate};
use std::collections::BTreeMap;

type Words = [u32; 16];

/// One engine. Public fields break it on purpose.
#[derive(Debug, Clone)]
pub struct FakeEngine {
    /// Host memory.
    pub memory: FakeMemory,
    /// Registers by address.
    pub registers: BTreeMap<u32, u32>,
    /// Tables by number and index.
    pub tables: BTreeMap<(u8, u32), Words>,
    /// CONTROL frames to lose before one gets through.
    pub lose_control: u32,
    /// CONTROL frames that were sent, lost ones included.
    pub control_frames: Vec<Vec<u8>>,
    /// Work requests are left alone while set.
    pub hold: bool,
    /// Work requests of connections other than 0 are left alone while set.
    pub hold_writes: bool,
    /// TABLE_STATUS stays busy while set.
    pub stuck: bool,
    /// Steps that PLACEMENT_DONE stays behind PLACEMENT_ISSUED.
    pub placement_lag: u32,
    lag: u32,
    staged: Words,
    fetched: BTreeMap<u32, u32>,
    completed: BTreeMap<u32, u32>,
    control_used: u32,
    messages: BTreeMap<u32, u16>,
    side: usize,
}

impl FakeEngine {
    pub(super) fn new(side: usize) -> Self {
        let registers = [
            (identity::MAGIC.at(0), identity::MAGIC_VALUE),
            (identity::VERSION.at(0), MAP_VERSION),
            (identity::MAP_HASH.at(0), MAP_HASH),
            (
                identity::CAPABILITIES.at(0),
                u32::from_le_bytes([2, 8, 4, 6]),
            ),
            (
                identity::CAPABILITIES2.at(0),
                u32::from_le_bytes([6, 4, 10, 64]),
            ),
        ];
        Self {
            memory: FakeMemory::new(),
            registers: registers.into(),
            tables: BTreeMap::new(),
            lose_control: 0,
            control_frames: Vec::new(),
            hold: false,
            hold_writes: false,
            stuck: false,
            placement_lag: 0,
            lag: 0,
            staged: [0; 16],
            fetched: BTreeMap::new(),
            completed: BTreeMap::new(),
            control_used: 0,
            messages: BTreeMap::new(),
            side,
        }
    }

    fn register(&self, offset: u32) -> u32 {
        self.registers.get(&offset).copied().unwrap_or(0)
    }

    pub(super) fn read(&mut self, offset: u32) -> u32 {
        if offset == table::STATUS.at(0) {
            return self.stuck.into();
        }
        match (0..16).find(|word| table::DATA.at(*word) == offset) {
            Some(word) => self.staged[word as usize],
            None => self.register(offset),
        }
    }

    pub(super) fn write(&mut self, offset: u32, value: u32) {
        if let Some(word) = (0..16).find(|word| table::DATA.at(*word) == offset) {
            self.staged[word as usize] = value;
        } else if offset == table::COMMAND.at(0) {
            let index = value & ((1 << table::COMMAND_INDEX_BITS) - 1);
            let id = (value >> table::COMMAND_TABLE_SHIFT & 15) as u8;
            if value & table::COMMAND_WRITE != 0 {
                if id == table::CLEAR.id {
                    for counts in [&mut self.fetched, &mut self.completed] {
                        counts.remove(&index);
                    }
                    self.registers.remove(&doorbell::SEND_PRODUCER.at(index));
                    self.messages.remove(&index);
                }
                self.tables.insert((id, index), self.staged);
            } else {
                self.staged = self.entry(id, index);
            }
        } else {
            self.registers.insert(offset, value);
        }
    }

    fn entry(&self, id: u8, index: u32) -> Words {
        self.tables.get(&(id, index)).copied().unwrap_or([0; 16])
    }

    pub(super) fn step(&mut self, peer: &mut FakeEngine) {
        let time = self.register(control::TIME.at(0)).wrapping_add(1);
        self.registers.insert(control::TIME.at(0), time);
        self.lag = self.lag.saturating_sub(1);
        if self.lag == 0 {
            let issued = self.register(control::PLACEMENT_ISSUED.at(0));
            self.registers.insert(control::PLACEMENT_DONE.at(0), issued);
        }
        if self.hold || self.register(control::CONTROL.at(0)) & 1 == 0 {
            return;
        }
        for number in 0..16 {
            let entry = self.entry(table::CONNECTION.id, number);
            let fetched = self.fetched.get(&number).copied().unwrap_or(0);
            let produced = self.register(doorbell::SEND_PRODUCER.at(number));
            let held = self.hold_writes && number != 0;
            if connection::SEND_ENABLE.get(&entry) == 1 && fetched != produced && !held {
                self.fetched.insert(number, fetched.wrapping_add(1));
                self.serve(peer, number, &entry, fetched);
            }
        }
    }

    /// Serves the work request with running index `index`.
    fn serve(&mut self, peer: &mut FakeEngine, number: u32, entry: &Words, index: u32) {
        let slot = index & ((1 << connection::SEND_RING_ENTRIES.get(entry)) - 1);
        let at = connection::SEND_RING_ADDRESS.get(entry) + u64::from(slot * work_request::BYTES);
        let request = words(&self.memory.bytes(at, work_request::BYTES as usize));
        let length = work_request::LENGTH.get(&request);
        let local = Key(work_request::LOCAL_KEY.get(&request) as u32);
        let from = self.translate(
            local,
            work_request::LOCAL_ADDRESS.get(&request),
            length,
            &key::LOCAL,
        );
        let mut status = completion::STATUS_LOCAL;
        if let Some(from) = from {
            let bytes: Vec<u8> = from
                .iter()
                .map(|bus| self.memory.byte(*bus).expect("mapped"))
                .collect();
            status =
                if work_request::OPCODE.get(&request) == u64::from(work_request::OPCODE_CONTROL) {
                    self.send_control(peer, &bytes, work_request::PLANE.get(&request) as u8);
                    completion::STATUS_OK
                } else {
                    let remote = Key(work_request::REMOTE_KEY.get(&request) as u32);
                    peer.place(remote, work_request::REMOTE_ADDRESS.get(&request), &bytes)
                };
        }
        let opcode = work_request::OPCODE.get(&request);
        self.complete(
            number,
            completion::KIND_SEND,
            status,
            (opcode as u8, index, length as u32, 0),
        );
    }

    fn send_control(&mut self, peer: &mut FakeEngine, frame: &[u8], plane: u8) {
        self.control_frames.push(frame.to_vec());
        let located = locate(frame).expect("the library sends frames of the format");
        assert_eq!(
            (located.transport, located.end),
            (FRAME_HEADER_LEN, frame.len() + CRC_LEN)
        );
        if self.lose_control > 0 {
            self.lose_control -= 1;
            return;
        }
        peer.receive_control(&frame[FRAME_HEADER_LEN..], plane);
    }

    fn receive_control(&mut self, packet: &[u8], plane: u8) {
        let given = self.register(doorbell::RECEIVE_PRODUCER.at(0));
        let enabled = self.register(control::CONTROL.at(0)) & 1 == 1;
        if !enabled || given == self.control_used {
            return;
        }
        let index = self.control_used;
        self.control_used += 1;
        let mask = (1 << self.register(control::CONTROL_RING_ENTRIES.at(0))) - 1;
        let base = u64::from(self.register(control::CONTROL_RING_ADDRESS_HIGH.at(0))) << 32
            | u64::from(self.register(control::CONTROL_RING_ADDRESS_LOW.at(0)));
        let at = base + u64::from((index & mask) * control::CONTROL_ENTRY_BYTES);
        for (bus, byte) in (at..).zip(packet) {
            assert!(self.memory.set_byte(bus, *byte));
        }
        self.complete(
            0,
            completion::KIND_CONTROL,
            0,
            (0, index, packet.len() as u32, plane),
        );
    }

    /// Writes `bytes` at a virtual address, or says why not.
    fn place(&mut self, key: Key, address: u64, bytes: &[u8]) -> u8 {
        let issued = self.register(control::PLACEMENT_ISSUED.at(0));
        self.registers
            .insert(control::PLACEMENT_ISSUED.at(0), issued.wrapping_add(1));
        self.lag = self.placement_lag;
        match self.translate(key, address, bytes.len() as u64, &key::REMOTE_WRITE) {
            Some(to) => {
                for (bus, byte) in to.iter().zip(bytes) {
                    assert!(self.memory.set_byte(*bus, *byte));
                }
                completion::STATUS_OK
            }
            None => completion::STATUS_REMOTE_ACCESS,
        }
    }

    /// Bus address of every byte, if the key grants `right` to them all.
    fn translate(
        &self,
        key: Key,
        address: u64,
        length: u64,
        right: &osprey_hls::regs::Field,
    ) -> Option<Vec<u64>> {
        let entry = self.entry(table::KEY.id, key.index());
        let granted = key::VALID.get(&entry) == 1
            && right.get(&entry) == 1
            && key::GENERATION.get(&entry) == u64::from(key.generation());
        let (base, whole) = (key::BASE.get(&entry), key::LENGTH.get(&entry));
        let offset = address.wrapping_sub(base);
        if !granted || offset > whole || length > whole - offset {
            return None;
        }
        let shift = [12, 21, 30][key::PAGE_SIZE.get(&entry) as usize];
        let first = key::FIRST_PAGE.get(&entry);
        let bus = |at: u64| {
            let index = first + (at >> shift) - (base >> shift);
            page::ADDRESS.get(&self.entry(table::PAGE.id, index as u32)) + at % (1 << shift)
        };
        Some((address..address + length).map(bus).collect())
    }

    /// Writes a completion: (opcode, index, length, plane).
    pub fn complete(&mut self, number: u32, kind: u8, status: u8, rest: (u8, u32, u32, u8)) {
        let entry = self.entry(table::CONNECTION.id, number);
        let log2 = connection::COMPLETION_RING_ENTRIES.get(&entry);
        let count = self.completed.entry(number).or_insert(0);
        let consumed = self
            .registers
            .get(&doorbell::COMPLETION_CONSUMER.at(number))
            .copied()
            .unwrap_or(0);
        assert!(
            count.wrapping_sub(consumed) < 1 << log2,
            "completion ring {number} overflows"
        );
        let (slot, phase) = (*count & ((1 << log2) - 1), *count >> log2 & 1 == 0);
        *count = count.wrapping_add(1);
        let mut words = [0; 8];
        completion::PHASE.set(&mut words, phase.into());
        completion::KIND.set(&mut words, kind.into());
        completion::STATUS.set(&mut words, status.into());
        completion::OPCODE.set(&mut words, rest.0.into());
        completion::CONNECTION.set(&mut words, number.into());
        completion::INDEX.set(&mut words, rest.1.into());
        completion::LENGTH.set(&mut words, rest.2.into());
        completion::PLANE.set(&mut words, rest.3.into());
        completion::TIME.set(&mut words, self.register(control::TIME.at(0)).into());
        let at =
            connection::COMPLETION_RING_ADDRESS.get(&entry) + u64::from(slot * completion::BYTES);
        for (bus, byte) in (at..).zip(words.iter().flat_map(|word| word.to_le_bytes())) {
            assert!(
                self.memory.set_byte(bus, byte),
                "side {}: completion outside memory",
                self.side
            );
        }
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}
