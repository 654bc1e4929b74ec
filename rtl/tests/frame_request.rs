//! The transport headers of every kind of packet, byte by byte against the wire format's own emission.

mod bench;

use bench::{Offer, seeds};
use osprey_hls::wire::{
    Common, CommonPacket, ConnectionId, Data, DataPacket, Epoch, Flags, Incarnation, Key, Nack,
    NackPacket, NackReason, Operation, Ordinal, PacketType, PathId, Probe, ProbePacket, Psn,
};
use osprey_rtl::emit;
use osprey_rtl::rx::placement::Refusal;
use osprey_rtl::tx::ack_generator::AckFrame;
use osprey_rtl::tx::ack_processor::AckedPacket;
use osprey_rtl::tx::frame_request::{FrameRequest, Peer, PlaneAddress, Route};
use osprey_rtl::tx::header_builder::FrameRequest as Request;
use osprey_rtl::tx::segmenter::Outgoing;
use osprey_verilated::{Model, Port, Record, Source, Stall, lint};
use std::collections::VecDeque;

const CONNECTIONS: u64 = 8;

fn source() -> Source {
    Source::new(
        "frame_request",
        emit::verilog("frame_request", FrameRequest::new(3, 2)),
    )
}

fn random(stall: &mut Stall, fields: &'static [(&'static str, usize)]) -> Record {
    let mut record = Record::new(fields);
    for &(name, bits) in fields {
        let mut words = stall.words(bits.div_ceil(32));
        if bits % 32 != 0 {
            *words.last_mut().expect("there is one") &= (1 << (bits % 32)) - 1;
        }
        record.set_words(name, &words);
    }
    record
}

struct Bench<'a> {
    model: &'a Model,
    stall: Stall,
    now: u16,
    routes: Vec<Record>,
    entropies: Vec<u64>,
    peers: Vec<Record>,
    own: Vec<Record>,
    outgoing: Offer,
    acks: VecDeque<Record>,
    ack: [Port; 3],
    refusals: VecDeque<Record>,
    /// The room of the cycle before, and the plane and beats that the ACK taken in it must be told to need.
    room_before: u64,
    answered: Option<(u64, u64)>,
    request: [Port; 3],
    composed: VecDeque<Item>,
    assembling: VecDeque<Option<u64>>,
    done: usize,
}

impl<'a> Bench<'a> {
    fn new(model: &'a Model, seed: u64) -> Self {
        let mut stall = Stall::new(seed);
        model.reset();
        let set = |name: &str, record: &Record| model.input(name).set_record(record);
        let mut routes = Vec::new();
        for slot in 0..4 * CONNECTIONS {
            let route = random(&mut stall, Route::FIELDS);
            model.input("route_slot").set(slot);
            set("route", &route);
            model.input("route_write").set(1);
            model.cycle();
            routes.push(route);
        }
        model.input("route_write").set(0);
        let mut entropies = Vec::new();
        for pair in 0..32 * CONNECTIONS {
            let entropy = stall.below(1 << 16);
            model.input("entropy_pair").set(pair);
            model.input("entropy").set(entropy);
            model.input("entropy_write").set(1);
            model.cycle();
            entropies.push(entropy);
        }
        model.input("entropy_write").set(0);
        let mut peers = Vec::new();
        for connection in 0..CONNECTIONS {
            let peer = random(&mut stall, Peer::FIELDS);
            model.input("peer_connection").set(connection);
            set("peer", &peer);
            model.input("peer_write").set(1);
            model.cycle();
            peers.push(peer);
        }
        model.input("peer_write").set(0);
        model.input("udp_port").set(4792);
        let own: Vec<_> = (0..4)
            .map(|_| random(&mut stall, PlaneAddress::FIELDS))
            .collect();
        for (plane, address) in own.iter().enumerate() {
            set(&format!("own${plane}"), address);
        }
        Self {
            model,
            stall,
            now: 0xff00,
            routes,
            entropies,
            peers,
            own,
            outgoing: Offer::new(model, "outgoing"),
            acks: VecDeque::new(),
            ack: [
                model.input("ack"),
                model.input("ack_frame_valid"),
                model.output("ack_frame_ready"),
            ],
            refusals: VecDeque::new(),
            room_before: 0,
            answered: None,
            request: [
                model.output("request"),
                model.output("request_valid"),
                model.input("request_ready"),
            ],
            composed: VecDeque::new(),
            assembling: VecDeque::new(),
            done: 0,
        }
    }

    fn push(&mut self) {
        let stall = &mut self.stall;
        if self.outgoing.queue.len() < 3 {
            let mut item = random(stall, Outgoing::FIELDS);
            let kind = stall.pick(&[0, 0, 0, 1, 2]);
            item.set("kind", kind);
            let pair = if kind == 2 {
                stall.below(4) << 3
            } else {
                stall.below(32 * CONNECTIONS)
            };
            item.set("pair", pair);
            let length = if kind == 1 { 0 } else { stall.below(4097) };
            item.set("length", length.max(u64::from(kind == 2) * 58));
            self.outgoing.queue.push_back(item);
        }
        if self.acks.is_empty() && stall.chance(40) {
            let mut ack = random(stall, AckFrame::FIELDS);
            ack.set("pair", stall.below(32 * CONNECTIONS));
            ack.set("count", 1 + stall.below(4));
            self.acks.push_back(ack);
        }
        let refusal = self.model.input("refusal_valid");
        refusal.set(0);
        if self.refusals.len() < 4 && stall.chance(10) {
            let mut record = random(stall, Refusal::FIELDS);
            record.set("pair", stall.below(32 * CONNECTIONS));
            self.model.input("refusal").set_record(&record);
            refusal.set(1);
            self.refusals.push_back(record);
        }
    }

    fn step(&mut self, chance: u64) {
        self.outgoing.drive(&mut self.stall, chance);
        self.ack[1].set(!self.acks.is_empty());
        if let Some(ack) = self.acks.front() {
            self.ack[0].set_record(ack);
        }
        let room = self.stall.below(16);
        self.model.input("ack_room").set(room);
        self.request[2].set(self.stall.chance(chance));
        self.model.input("now").set(self.now);
        let assembled = !self.assembling.is_empty() && self.stall.chance(30);
        self.model.input("assembled").set(assembled);
        self.model.eval();
        let reserved = self.model.output("ack_beats").get();
        let plane = self.model.output("ack_plane").get();
        assert!(
            reserved == 0 || self.room_before >> plane & 1 == 1,
            "an answer without room for it"
        );
        self.room_before = room;
        if let Some(expected) = self.answered.take() {
            assert_eq!((plane, reserved), expected);
        } else if reserved != 0 {
            let refusal = self
                .refusals
                .pop_front()
                .expect("only a refusal takes credits else");
            assert_eq!((plane, reserved), (refusal.get("pair") >> 3 & 3, 2));
            self.composed.push_back(Item::Nack(refusal));
        }
        if self.ack[2].is_set() && !self.acks.is_empty() {
            let ack = self.acks.pop_front().expect("it is offered");
            let bytes: u64 = 42 + 16 + 24 * ack.get("count") + 4;
            self.answered = Some((ack.get("pair") >> 3 & 3, bytes.div_ceil(64)));
            self.composed.push_back(Item::Ack(ack));
        } else if let Some(item) = self.outgoing.taken() {
            self.composed.push_back(Item::Packet(item));
        }
        if self.request[1].is_set() && self.request[2].is_set() {
            let request = self.request[0].record(Request::FIELDS);
            self.check(&request);
        } else {
            assert_eq!(self.model.output("sent").get(), 0);
        }
        let told = self.model.output("control_done_valid").is_set();
        let control = if assembled {
            self.assembling.pop_front().flatten()
        } else {
            None
        };
        assert_eq!(told, control.is_some(), "a CONTROL frame is done");
        if let Some(slot) = control {
            let done = self
                .model
                .output("control_done")
                .record(AckedPacket::FIELDS);
            assert_eq!((done.get("connection"), done.get("slot")), (0, slot));
        }
        self.model.cycle();
        self.now = self.now.wrapping_add(1);
    }

    fn check(&mut self, request: &Record) {
        let item = self.composed.pop_front().expect("a frame from nowhere");
        let (pair, kind, payload, source, control) = match &item {
            Item::Ack(ack) => (ack.get("pair"), 1, 0, None, None),
            Item::Nack(refusal) => (refusal.get("pair"), 1, 0, None, None),
            Item::Packet(item) => {
                let (kind, length) = (item.get("kind"), item.get("length"));
                let form = if kind == 2 { 2 } else { u64::from(length == 0) };
                let control = (kind == 2).then(|| item.get("message") & 63);
                (
                    item.get("pair"),
                    form,
                    length,
                    Some(item.get("source")),
                    control,
                )
            }
        };
        let (route, own) = (
            &self.routes[pair as usize >> 3],
            &self.own[pair as usize >> 3 & 3],
        );
        let expected = [
            ("plane", pair >> 3 & 3),
            ("path_port", self.entropies[pair as usize]),
            ("destination_mac", route.get("mac")),
            ("destination_ip", route.get("ip")),
            ("source_mac", own.get("mac")),
            ("source_ip", own.get("ip")),
            ("kind", kind),
            ("payload_bytes", payload),
            ("udp_port", 4792),
        ];
        for (name, value) in expected {
            assert_eq!(request.get(name), value, "{name} of {item:?}");
        }
        if let Some(lane) = source.filter(|_| payload > 0) {
            assert_eq!(request.get("payload_source_lane"), lane);
        }
        if kind != 2 {
            let bytes = self.transport(&item);
            let blocks = if let Item::Ack(ack) = &item {
                ack.get("count")
            } else {
                0
            };
            assert_eq!(request.get("blocks"), blocks, "{item:?}");
            assert_eq!(
                request.get("transport_bytes"),
                bytes.len() as u64 + 24 * blocks,
                "{item:?}"
            );
            let sent: Vec<u8> = request
                .get_words("transport")
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .collect();
            assert_eq!(sent[..bytes.len()], bytes, "{item:?}");
        }
        let bit = match &item {
            Item::Ack(_) => 4,
            Item::Nack(_) => 16,
            Item::Packet(item) => [1, 2, 8][item.get("kind") as usize],
        };
        assert_eq!(self.model.output("sent").get(), bit, "what is counted");
        self.assembling.push_back(control);
        self.done += 1;
    }

    /// What the wire format says.
    fn transport(&self, item: &Item) -> Vec<u8> {
        let pair = item.pair();
        let peer = &self.peers[pair as usize >> 5];
        let common = |kind| Common {
            incarnation: Incarnation(peer.get("incarnation") as u16),
            connection: ConnectionId::new(peer.get("connection") as u32),
            path: PathId(pair as u8 & 31),
            timestamp: self.now,
            ..Common::new(kind)
        };
        let mut bytes = vec![0xa5; 112];
        match item {
            Item::Nack(refusal) => {
                let nack = Nack {
                    common: common(PacketType::Nack),
                    reason: NackReason::Access,
                    stream: 0,
                    message: refusal.get("message") as u16,
                    detail: 0,
                };
                nack.emit(&mut NackPacket::new_unchecked(&mut bytes[..]));
                bytes.truncate(32);
            }
            Item::Ack(ack) => {
                let count = ack.get("count") as usize;
                let mut head = common(PacketType::Ack);
                head.psn = Psn::new(0xff_ff00 | count as u32);
                head.timestamp = 0;
                head.emit(&mut CommonPacket::new_unchecked(&mut bytes[..16]));
                bytes.truncate(16);
            }
            Item::Packet(item) => {
                let field = |name| item.get(name);
                let probe = field("kind") == 1;
                let mut head = common(if probe {
                    PacketType::Probe
                } else {
                    PacketType::Data
                });
                head.ordinal = Ordinal(field("ordinal") as u16);
                head.epoch = Epoch(field("epoch") as u8);
                if probe {
                    let probe = Probe {
                        common: head,
                        return_mask: 0xffff,
                        train: field("train") as u8,
                        fenced_path: PathId(0),
                        fenced_epoch: Epoch(0),
                    };
                    probe.emit(&mut ProbePacket::new_unchecked(&mut bytes[..]));
                    bytes.truncate(24);
                    return bytes;
                }
                head.psn = Psn::new(field("psn") as u32);
                let flags = [
                    ("ack_request", Flags::ACK_REQUEST),
                    ("resend", Flags::RETRANSMISSION),
                    ("last", Flags::LAST),
                ];
                for (name, flag) in flags {
                    head.flags = if field(name) == 1 {
                        head.flags.with(flag)
                    } else {
                        head.flags
                    };
                }
                let data = Data {
                    common: head,
                    address: field("address"),
                    key: Key(field("key") as u32),
                    payload_length: field("length") as u16,
                    operation: Operation::Write,
                    stream: 0,
                    message: field("message") as u16,
                    return_mask: 0xffff,
                    message_length: field("total") as u32,
                    offset: field("offset") as u32,
                    immediate: 0,
                };
                data.emit(&mut DataPacket::new_unchecked(&mut bytes[..]));
                bytes.truncate(48);
            }
        }
        bytes
    }
}

#[derive(Debug)]
enum Item {
    Packet(Record),
    Ack(Record),
    Nack(Record),
}

impl Item {
    fn pair(&self) -> u64 {
        let (Self::Packet(record) | Self::Ack(record) | Self::Nack(record)) = self;
        record.get("pair")
    }
}

#[test]
fn the_verilog_is_clean() {
    lint(&source()).unwrap();
}

#[test]
fn every_header_is_that_of_the_wire_format() {
    seeds(
        "frame_request::every_header_is_that_of_the_wire_format",
        6,
        |seed| {
            let model = Model::build(&source()).unwrap();
            let mut bench = Bench::new(&model, seed);
            let chance = bench.stall.pick(&[30, 70, 100]);
            for _ in 0..6_000 {
                bench.push();
                bench.step(chance);
            }
            assert!(bench.done > 800, "only {} frames", bench.done);
        },
    );
}
