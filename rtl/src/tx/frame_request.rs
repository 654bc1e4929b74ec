//! Puts transport headers together: data, probes, ACKs and CONTROL frames, one stream of frames (clauses T-3.2 to T-3.7).
//!
//! ACKs go first when their plane has room. Each frame's connection and path say where it goes: route
//! (peer's MAC and IP on that plane), entropy, the peer's connection number and incarnation. One frame every
//! 3 cycles. An ACK's blocks are added behind. A CONTROL frame is whole in host memory; it is reported when its last beat has been assembled.

use crate::bundle;
use crate::rx::placement::Refusal;
use crate::stream::{Ram, SmallFifo};
use crate::tx::ack_generator::AckFrame;
use crate::tx::ack_processor::AckedPacket;
use crate::tx::header_builder::FrameRequest as Request;
use crate::tx::path_words::plane_ram;
use crate::tx::segmenter::Outgoing;
use rust_hdl::prelude::*;

bundle! {
    /// The peer's address on a plane; octet 0 least significant.
    Route { mac: 48, ip: 32 }
}

bundle! {
    /// How the peer knows the connection.
    Peer { connection: 24, incarnation: 16 }
}

bundle! {
    /// The 16 bytes that every packet begins with.
    CommonWire {
        kind: 8, flags: 8, incarnation1: 8, incarnation0: 8, connection2: 8, connection1: 8, connection0: 8, path: 8,
        b8: 8, b9: 8, b10: 8, epoch: 8, ordinal1: 8, ordinal0: 8, time1: 8, time0: 8,
    }
}

bundle! {
    /// What follows in DATA.
    DataWire {
        a7: 8, a6: 8, a5: 8, a4: 8, a3: 8, a2: 8, a1: 8, a0: 8, k3: 8, k2: 8, k1: 8, k0: 8,
        length1: 8, length0: 8, operation: 8, stream: 8, message1: 8, message0: 8, mask1: 8, mask0: 8,
        t3: 8, t2: 8, t1: 8, t0: 8, o3: 8, o2: 8, o1: 8, o0: 8, immediate: 32,
    }
}

bundle! {
    /// What follows in PROBE.
    ProbeWire { mask: 16, train: 8, rest: 40 }
}

bundle! {
    /// What follows in NACK.
    NackWire { reason: 8, stream: 8, message1: 8, message0: 8, detail: 64, reserved: 32 }
}

bundle! {
    /// A frame on its way through the assembler.
    FrameMark { control: 1, slot: 6 }
}

bundle! {
    /// A plane's own addresses.
    PlaneAddress { mac: 48, ip: 32 }
}

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Compose {
    Pick,
    Look,
    Send,
}

#[derive(LogicBlock, Default)]
pub struct FrameRequest {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub now: Signal<In, Bits<16>>,
    pub udp_port: Signal<In, Bits<16>>,
    pub own: [Signal<In, PlaneAddress>; 4],
    pub outgoing: Signal<In, Outgoing>,
    pub outgoing_valid: Signal<In, Bit>,
    pub outgoing_ready: Signal<Out, Bit>,
    pub ack: Signal<In, AckFrame>,
    pub ack_frame_valid: Signal<In, Bit>,
    pub ack_frame_ready: Signal<Out, Bit>,
    /// A packet was refused: tell the peer. One that finds the queue full is refused again when it is sent again.
    pub refusal: Signal<In, Refusal>,
    pub refusal_valid: Signal<In, Bit>,
    pub ack_room: Signal<In, Bits<4>>,
    /// Beats that the ACK or NACK taken will need in its plane's FIFO, the cycle after it was taken; 0: none taken.
    pub ack_plane: Signal<Out, Bits<2>>,
    pub ack_beats: Signal<Out, Bits<2>>,
    pub route_slot: Signal<In, Bits<14>>,
    pub route: Signal<In, Route>,
    pub route_write: Signal<In, Bit>,
    pub entropy_pair: Signal<In, Bits<17>>,
    pub entropy: Signal<In, Bits<16>>,
    pub entropy_write: Signal<In, Bit>,
    pub peer_connection: Signal<In, Bits<12>>,
    pub peer: Signal<In, Peer>,
    pub peer_write: Signal<In, Bit>,
    pub request: Signal<Out, Request>,
    pub request_valid: Signal<Out, Bit>,
    pub request_ready: Signal<In, Bit>,
    /// The oldest frame's last beat has been assembled.
    pub assembled: Signal<In, Bit>,
    pub control_done: Signal<Out, AckedPacket>,
    pub control_done_valid: Signal<Out, Bit>,
    /// A frame was handed on: data, probe, ACK, CONTROL, NACK; and whether it is a resend.
    pub sent: Signal<Out, Bits<5>>,
    pub sent_resend: Signal<Out, Bit>,
    pub sent_pair: Signal<Out, Bits<17>>,
    pub sent_bytes: Signal<Out, Bits<13>>,

    routes: Ram<Route, 14>,
    entropies: Ram<Bits<16>, 17>,
    peers: Ram<Peer, 12>,
    marks: SmallFifo<FrameMark>,
    refusals: SmallFifo<Refusal>,
    step: DFF<Compose>,
    of_ack: DFF<Bit>,
    of_nack: DFF<Bit>,
    refused: DFF<Bits<16>>,
    nack: Signal<Local, NackWire>,
    takes_nack: Signal<Local, Bit>,
    nack_pair: Signal<Local, Bits<17>>,
    nack_rooms: Signal<Local, Bits<4>>,
    item: Signal<Local, Outgoing>,
    /// Blocks of the ACK at hand.
    count: DFF<Bits<3>>,
    pair: DFF<Bits<17>>,
    route_now: DFF<Route>,
    entropy_now: DFF<Bits<16>>,
    peer_now: DFF<Peer>,
    ack_pair: Signal<Local, Bits<17>>,
    rooms: Signal<Local, Bits<4>>,
    takes_ack: Signal<Local, Bit>,
    takes_item: Signal<Local, Bit>,
    pick_pair: Signal<Local, Bits<17>>,
    here: Signal<Local, Bits<2>>,
    plane: Signal<Local, Bits<2>>,
    address: Signal<Local, PlaneAddress>,
    common: Signal<Local, CommonWire>,
    data: Signal<Local, DataWire>,
    probe: Signal<Local, ProbeWire>,
    flags: Signal<Local, Bits<8>>,
    connection24: Signal<Local, Bits<24>>,
    incarnation16: Signal<Local, Bits<16>>,
    psn24: Signal<Local, Bits<24>>,
    ordinal16: Signal<Local, Bits<16>>,
    remote64: Signal<Local, Bits<64>>,
    key32: Signal<Local, Bits<32>>,
    length16: Signal<Local, Bits<16>>,
    message16: Signal<Local, Bits<16>>,
    total32: Signal<Local, Bits<32>>,
    offset32: Signal<Local, Bits<32>>,
    head: Signal<Local, Bits<384>>,
    body: Signal<Local, Bits<384>>,
    ack_bytes: Signal<Local, Bits<8>>,
    is_data: Signal<Local, Bit>,
    is_probe: Signal<Local, Bit>,
    is_control: Signal<Local, Bit>,
    goes: Signal<Local, Bit>,
    kinds: Signal<Local, Bits<5>>,
}

impl FrameRequest {
    /// For `1 << connection_bits` connections of `1 << plane_bits` planes.
    pub fn new(connection_bits: usize, plane_bits: usize) -> Self {
        Self {
            routes: plane_ram(connection_bits, plane_bits),
            entropies: Ram::new(connection_bits + 5),
            peers: Ram::new(connection_bits),
            marks: SmallFifo::new(5),
            refusals: SmallFifo::new(4),
            ..Default::default()
        }
    }
}

impl Logic for FrameRequest {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            of_ack,
            of_nack,
            refused,
            count,
            pair,
            route_now,
            entropy_now,
            peer_now
        );
        clock!(self, clock, routes, entropies, peers, marks, refusals);
        self.refusals.reset.next = self.reset.val();
        self.refusals.write_data.next = self.refusal.val();
        self.refusals.write_enable.next = self.refusal_valid.val();
        self.marks.reset.next = self.reset.val();

        // Pick: an ACK if there is room for it, else the next packet.
        self.ack_pair.next = self.ack.val().pair;
        self.rooms.next = self.ack_room.val() >> self.ack_pair.val().get_bits::<2>(3);
        self.takes_ack.next = (self.step.q.val() == Compose::Pick)
            & self.ack_frame_valid.val()
            & self.rooms.val().get_bit(0);
        self.nack_pair.next = self.refusals.read_data.val().pair;
        self.nack_rooms.next = self.ack_room.val() >> self.nack_pair.val().get_bits::<2>(3);
        self.takes_nack.next = (self.step.q.val() == Compose::Pick)
            & self.refusals.read_valid.val()
            & self.nack_rooms.val().get_bit(0)
            & !self.takes_ack.val();
        self.refusals.read_ready.next = self.takes_nack.val();
        self.takes_item.next = (self.step.q.val() == Compose::Pick)
            & self.outgoing_valid.val()
            & !self.takes_ack.val()
            & !self.takes_nack.val();
        self.ack_frame_ready.next = self.takes_ack.val();
        self.item.next = self.outgoing.val();
        self.pick_pair.next = self.outgoing.val().pair;
        if self.takes_nack.val() {
            self.pick_pair.next = self.nack_pair.val();
        }
        if self.takes_ack.val() {
            self.pick_pair.next = self.ack_pair.val();
        }
        self.routes.read_address.next = self.pick_pair.val().get_bits::<14>(3);
        self.routes.read_enable.next = true;
        self.entropies.read_address.next = self.pick_pair.val();
        self.entropies.read_enable.next = true;
        self.peers.read_address.next = self.pick_pair.val().get_bits::<12>(5);
        self.peers.read_enable.next = true;
        self.routes.write_address.next = self.route_slot.val();
        self.routes.write_data.next = self.route.val();
        self.routes.write_enable.next = self.route_write.val();
        self.entropies.write_address.next = self.entropy_pair.val();
        self.entropies.write_data.next = self.entropy.val();
        self.entropies.write_enable.next = self.entropy_write.val();
        self.peers.write_address.next = self.peer_connection.val();
        self.peers.write_data.next = self.peer.val();
        self.peers.write_enable.next = self.peer_write.val();
        self.goes.next = (self.step.q.val() == Compose::Send)
            & self.request_ready.val()
            & !self.marks.full.val();
        self.outgoing_ready.next = self.goes.val() & !self.of_ack.q.val() & !self.of_nack.q.val();
        match self.step.q.val() {
            Compose::Pick => {
                self.of_ack.d.next = self.takes_ack.val();
                self.of_nack.d.next = self.takes_nack.val();
                self.refused.d.next = self.refusals.read_data.val().message;
                self.pair.d.next = self.pick_pair.val();
                self.count.d.next = self.ack.val().count;
                if self.takes_ack.val() | self.takes_item.val() | self.takes_nack.val() {
                    self.step.d.next = Compose::Look;
                }
            }
            Compose::Look => {
                self.route_now.d.next = self.routes.read_data.val();
                self.entropy_now.d.next = self.entropies.read_data.val();
                self.peer_now.d.next = self.peers.read_data.val();
                self.step.d.next = Compose::Send;
            }
            Compose::Send => {
                if self.goes.val() {
                    self.step.d.next = Compose::Pick;
                }
            }
            _ => {
                self.step.d.next = Compose::Pick;
            }
        }

        self.ack_plane.next = self.pair.q.val().get_bits::<2>(3);
        self.ack_beats.next = 0.into();
        if (self.step.q.val() == Compose::Look) & (self.of_ack.q.val() | self.of_nack.q.val()) {
            self.ack_beats.next = 2.into();
            if self.of_ack.q.val() & (self.count.q.val() > 2) {
                self.ack_beats.next = 3.into();
            }
        }

        // The common header.
        self.is_data.next =
            !self.of_ack.q.val() & !self.of_nack.q.val() & (self.item.val().kind == 0);
        self.is_probe.next =
            !self.of_ack.q.val() & !self.of_nack.q.val() & (self.item.val().kind == 1);
        self.is_control.next =
            !self.of_ack.q.val() & !self.of_nack.q.val() & (self.item.val().kind == 2);
        self.connection24.next = self.peer_now.q.val().connection;
        self.incarnation16.next = self.peer_now.q.val().incarnation;
        self.psn24.next = self.item.val().psn;
        self.ordinal16.next = self.item.val().ordinal;
        self.flags.next = 0.into();
        if self.is_data.val() {
            self.flags.next = bit_cast::<8, 1>(self.item.val().ack_request);
            self.flags.next = self.flags.val() | (bit_cast::<8, 1>(self.item.val().resend) << 1);
            self.flags.next = self.flags.val() | (bit_cast::<8, 1>(self.item.val().last) << 2);
        }
        self.common.next.kind = 0x10.into();
        if self.is_probe.val() {
            self.common.next.kind = 0x13.into();
        }
        self.common.next.flags = self.flags.val();
        self.common.next.incarnation1 = self.incarnation16.val().get_bits::<8>(8);
        self.common.next.incarnation0 = self.incarnation16.val().get_bits::<8>(0);
        self.common.next.connection2 = self.connection24.val().get_bits::<8>(16);
        self.common.next.connection1 = self.connection24.val().get_bits::<8>(8);
        self.common.next.connection0 = self.connection24.val().get_bits::<8>(0);
        self.common.next.path = bit_cast::<8, 17>(self.pair.q.val()) & 0x1f;
        self.common.next.b8 = self.psn24.val().get_bits::<8>(16);
        self.common.next.b9 = self.psn24.val().get_bits::<8>(8);
        self.common.next.b10 = self.psn24.val().get_bits::<8>(0);
        self.common.next.epoch = self.item.val().epoch;
        self.common.next.ordinal1 = self.ordinal16.val().get_bits::<8>(8);
        self.common.next.ordinal0 = self.ordinal16.val().get_bits::<8>(0);
        self.common.next.time1 = self.now.val().get_bits::<8>(8);
        self.common.next.time0 = self.now.val().get_bits::<8>(0);
        if self.is_probe.val() {
            self.common.next.b8 = 0.into();
            self.common.next.b9 = 0.into();
            self.common.next.b10 = 0.into();
        }
        // An ACK grants the whole line until the receiver's share is built.
        if self.of_ack.q.val() {
            self.common.next.kind = 0x11.into();
            self.common.next.b8 = 0xff.into();
            self.common.next.b9 = 0xff.into();
            self.common.next.b10 = bit_cast::<8, 3>(self.count.q.val());
            self.common.next.epoch = 0.into();
            self.common.next.ordinal1 = 0.into();
            self.common.next.ordinal0 = 0.into();
            self.common.next.time1 = 0.into();
            self.common.next.time0 = 0.into();
        }

        if self.of_nack.q.val() {
            self.common.next.kind = 0x12.into();
            self.common.next.b8 = 0.into();
            self.common.next.b9 = 0.into();
            self.common.next.b10 = 0.into();
            self.common.next.epoch = 0.into();
            self.common.next.ordinal1 = 0.into();
            self.common.next.ordinal0 = 0.into();
        }

        // What follows it.
        self.remote64.next = self.item.val().address;
        self.key32.next = self.item.val().key;
        self.length16.next = bit_cast::<16, 13>(self.item.val().length);
        self.message16.next = self.item.val().message;
        self.total32.next = self.item.val().total;
        self.offset32.next = self.item.val().offset;
        self.data.next.a7 = self.remote64.val().get_bits::<8>(56);
        self.data.next.a6 = self.remote64.val().get_bits::<8>(48);
        self.data.next.a5 = self.remote64.val().get_bits::<8>(40);
        self.data.next.a4 = self.remote64.val().get_bits::<8>(32);
        self.data.next.a3 = self.remote64.val().get_bits::<8>(24);
        self.data.next.a2 = self.remote64.val().get_bits::<8>(16);
        self.data.next.a1 = self.remote64.val().get_bits::<8>(8);
        self.data.next.a0 = self.remote64.val().get_bits::<8>(0);
        self.data.next.k3 = self.key32.val().get_bits::<8>(24);
        self.data.next.k2 = self.key32.val().get_bits::<8>(16);
        self.data.next.k1 = self.key32.val().get_bits::<8>(8);
        self.data.next.k0 = self.key32.val().get_bits::<8>(0);
        self.data.next.length1 = self.length16.val().get_bits::<8>(8);
        self.data.next.length0 = self.length16.val().get_bits::<8>(0);
        self.data.next.operation = 0.into();
        self.data.next.stream = 0.into();
        self.data.next.message1 = self.message16.val().get_bits::<8>(8);
        self.data.next.message0 = self.message16.val().get_bits::<8>(0);
        self.data.next.mask1 = 0xff.into();
        self.data.next.mask0 = 0xff.into();
        self.data.next.t3 = self.total32.val().get_bits::<8>(24);
        self.data.next.t2 = self.total32.val().get_bits::<8>(16);
        self.data.next.t1 = self.total32.val().get_bits::<8>(8);
        self.data.next.t0 = self.total32.val().get_bits::<8>(0);
        self.data.next.o3 = self.offset32.val().get_bits::<8>(24);
        self.data.next.o2 = self.offset32.val().get_bits::<8>(16);
        self.data.next.o1 = self.offset32.val().get_bits::<8>(8);
        self.data.next.o0 = self.offset32.val().get_bits::<8>(0);
        self.data.next.immediate = 0.into();
        self.probe.next.mask = 0xffff.into();
        self.probe.next.train = self.item.val().train;
        self.probe.next.rest = 0.into();
        self.body.next = bit_cast::<384, 256>(self.data.val().into()) << 128;
        if self.is_probe.val() {
            self.body.next = bit_cast::<384, 64>(self.probe.val().into()) << 128;
        }
        self.nack.next.reason = 2.into();
        self.nack.next.stream = 0.into();
        self.nack.next.message1 = self.refused.q.val().get_bits::<8>(8);
        self.nack.next.message0 = self.refused.q.val().get_bits::<8>(0);
        self.nack.next.detail = 0.into();
        self.nack.next.reserved = 0.into();
        if self.of_nack.q.val() {
            self.body.next = bit_cast::<384, 128>(self.nack.val().into()) << 128;
        }
        self.head.next = bit_cast::<384, 128>(self.common.val().into());

        self.plane.next = self.pair.q.val().get_bits::<2>(3);
        self.address.next = self.own[0].val();
        for i in 0..4 {
            self.here.next = i.to_bits();
            if self.plane.val() == self.here.val() {
                self.address.next = self.own[i].val();
            }
        }
        self.request.next.plane = self.plane.val();
        self.request.next.path_port = self.entropy_now.q.val();
        self.request.next.destination_mac = self.route_now.q.val().mac;
        self.request.next.source_mac = self.address.val().mac;
        self.request.next.destination_ip = self.route_now.q.val().ip;
        self.request.next.source_ip = self.address.val().ip;
        self.request.next.kind = 0.into();
        if !self.is_data.val() | !self.item.val().length.any() {
            self.request.next.kind = 1.into();
        }
        if self.is_control.val() {
            self.request.next.kind = 2.into();
        }
        self.ack_bytes.next = bit_cast::<8, 3>(self.count.q.val()) << 3;
        self.ack_bytes.next = self.ack_bytes.val() + (bit_cast::<8, 3>(self.count.q.val()) << 4);
        self.request.next.transport_bytes = 48.into();
        if self.is_probe.val() {
            self.request.next.transport_bytes = 24.into();
        }
        if self.of_ack.q.val() {
            self.request.next.transport_bytes = self.ack_bytes.val() + 16;
        }
        if self.of_nack.q.val() {
            self.request.next.transport_bytes = 32.into();
        }
        self.request.next.payload_bytes = 0.into();
        if !self.of_ack.q.val() & !self.of_nack.q.val() {
            self.request.next.payload_bytes = self.item.val().length;
        }
        self.request.next.payload_source_lane = self.item.val().source;
        self.request.next.udp_port = self.udp_port.val();
        self.request.next.blocks = 0.into();
        if self.of_ack.q.val() {
            self.request.next.blocks = self.count.q.val();
        }
        self.request.next.transport = self.head.val() | self.body.val();
        self.request_valid.next = (self.step.q.val() == Compose::Send) & !self.marks.full.val();

        self.marks.write_data.next.control = self.is_control.val().into();
        self.marks.write_data.next.slot = bit_cast::<6, 16>(self.message16.val());
        self.marks.write_enable.next = self.goes.val();
        self.marks.read_ready.next = self.assembled.val();
        self.control_done.next.connection = 0.into();
        self.control_done.next.slot = self.marks.read_data.val().slot;
        self.control_done_valid.next =
            self.assembled.val() & self.marks.read_data.val().control.any();
        self.kinds.next = 0.into();
        if self.goes.val() {
            self.kinds.next = self.kinds.val().replace_bit(0, self.is_data.val());
            self.kinds.next = self.kinds.val().replace_bit(1, self.is_probe.val());
            self.kinds.next = self.kinds.val().replace_bit(2, self.of_ack.q.val());
            self.kinds.next = self.kinds.val().replace_bit(3, self.is_control.val());
            self.kinds.next = self.kinds.val().replace_bit(4, self.of_nack.q.val());
        }
        self.sent.next = self.kinds.val();
        self.sent_resend.next = self.item.val().resend.any();
        self.sent_pair.next = self.pair.q.val();
        self.sent_bytes.next = self.item.val().length;
        if self.reset.val() {
            self.step.d.next = Compose::Pick;
        }
    }
}
