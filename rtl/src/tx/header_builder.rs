//! From a frame request to the bytes of its headers.
//!
//! Ethernet without VLAN, IPv4 without options (TTL 64, do not fragment, ECN-capable), UDP without checksum, then the
//! transport header that the request brings. Also the job for the payload's way to its lane and the numbers that the
//! assembler needs. The job leaves early, while the frame waits in a short queue: the payload is then on its way before
//! the assembler comes to its frame. The headers wait there in rows of a beat, as the assembler takes them. Four cycles; a
//! request takes one more than its headers have rows, and at least two.

use crate::bundle;
use crate::stream::{AlignerJob, Be16, SmallFifo};
use crate::tx::ack_generator::AckBlockWire;
use rust_hdl::prelude::*;

bundle! {
    /// One frame to send.
    FrameRequest {
        plane: 2,
        /// UDP source port.
        path_port: 16,
        /// Octet 0 in bits 7:0, like all addresses here.
        destination_mac: 48,
        source_mac: 48,
        destination_ip: 32,
        source_ip: 32,
        /// 0 header and payload, 1 header only, 2 payload only: the payload is the whole frame.
        kind: 2,
        /// Of the transport header, at most 112: `transport`, or of an ACK its 16 bytes and the blocks.
        transport_bytes: 8,
        /// Of the payload; at least 1 in kinds 0 and 2.
        payload_bytes: 13,
        /// Where the payload starts in its first beat.
        payload_source_lane: 6,
        udp_port: 16,
        /// Of an ACK, which is of kind 1, else 0: they are all in before its last row leaves.
        blocks: 3,
        /// Lane 0 first.
        transport: 384,
    }
}

/// Ethernet, IPv4 and UDP headers: 42 bytes, first byte least significant.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct NetworkHeader {
    pub destination_mac: Bits<48>,
    pub source_mac: Bits<48>,
    /// EtherType, version and header length, type of service.
    pub ethernet: Bits<32>,
    pub length: Bits<16>,
    /// Identification, flags, time to live, protocol.
    pub middle: Bits<48>,
    pub checksum: Bits<16>,
    pub source_ip: Bits<32>,
    pub destination_ip: Bits<32>,
    pub source_port: Bits<16>,
    pub destination_port: Bits<16>,
    pub udp_length: Bits<16>,
    pub udp_checksum: Bits<16>,
}

/// What the assembler must know of a frame.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct FramePlan {
    pub plane: Bits<2>,
    /// Beats that hold headers, and those that hold nothing but headers.
    pub rows: Bits<2>,
    pub header_beats: Bits<2>,
    pub beats: Bits<7>,
    /// Valid bytes of the last beat.
    pub last_bytes: Bits<7>,
}

/// Lengths, and the checksum's sum without the length. Combinational.
#[derive(LogicBlock, Default)]
pub struct HeaderSums {
    pub request: Signal<In, FrameRequest>,
    pub payload: Signal<Out, Bits<14>>,
    pub ip_length: Signal<Out, Bits<16>>,
    pub header_bytes: Signal<Out, Bits<8>>,
    pub frame_bytes: Signal<Out, Bits<14>>,
    pub sum: Signal<Out, Bits<20>>,
    addresses: Signal<Local, Bits<64>>,
    word: Signal<Local, Bits<16>>,
}

impl Logic for HeaderSums {
    #[hdl_gen]
    fn update(&mut self) {
        self.payload.next = bit_cast::<14, 13>(self.request.val().payload_bytes);
        if self.request.val().kind == 1 {
            self.payload.next = 0.into();
        }
        self.header_bytes.next = self.request.val().transport_bytes + 42;
        if self.request.val().kind == 2 {
            self.header_bytes.next = 0.into();
        }
        self.frame_bytes.next = bit_cast::<14, 8>(self.header_bytes.val()) + self.payload.val();
        // IPv4 20, UDP 8, CRC 4.
        self.ip_length.next = bit_cast::<16, 14>(self.payload.val())
            + bit_cast::<16, 8>(self.request.val().transport_bytes)
            + 32;
        // Words as they stand in memory: a sum with end-around carry does not mind exchanged bytes. The constant is
        // 0x4502 + 0x4000 + 0x4011 with the bytes of each exchanged.
        self.sum.next = 0x13c5.into();
        self.addresses.next = (bit_cast::<64, 32>(self.request.val().destination_ip) << 32)
            | bit_cast::<64, 32>(self.request.val().source_ip);
        for i in 0..4 {
            self.word.next = self.addresses.val().get_bits::<16>(16 * i);
            self.sum.next = self.sum.val() + bit_cast::<20, 16>(self.word.val());
        }
    }
}

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct HeaderBuilder {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub request: Signal<In, FrameRequest>,
    pub request_valid: Signal<In, Bit>,
    pub request_ready: Signal<Out, Bit>,
    /// The next block of the ACK on offer, or of the one that was taken; they are there with the ACK.
    pub block: Signal<In, AckBlockWire>,
    pub block_ready: Signal<Out, Bit>,
    /// The next beat of headers. A frame's first is there when its plan is, the others one a cycle after.
    pub row: Signal<Out, Bits<512>>,
    pub row_ready: Signal<In, Bit>,
    pub plan: Signal<Out, FramePlan>,
    pub plan_valid: Signal<Out, Bit>,
    pub plan_ready: Signal<In, Bit>,
    pub job: Signal<Out, AlignerJob>,
    pub job_valid: Signal<Out, Bit>,
    pub job_ready: Signal<In, Bit>,
    sums: HeaderSums,
    rows: SmallFifo<Bits<512>>,
    plans: SmallFifo<FramePlan>,
    taken: DFF<FrameRequest>,
    taken_valid: DFF<Bit>,
    /// The transport header behind its first 16 bytes: what every kind has, and what only an ACK of two blocks or more has.
    first: DFF<Bits<192>>,
    second: DFF<Bits<64>>,
    second_rest: DFF<Bits<128>>,
    third: DFF<Bits<192>>,
    fourth: DFF<Bits<192>>,
    /// Blocks that have not come yet, and the place of the next.
    blocks_left: DFF<Bits<3>>,
    block_at: DFF<Bits<2>>,
    takes_first: Signal<Local, Bit>,
    block_bits: Signal<Local, Bits<192>>,
    payload: DFF<Bits<14>>,
    ip_length: DFF<Bits<16>>,
    header_bytes: DFF<Bits<8>>,
    frame_bytes: DFF<Bits<14>>,
    sum: DFF<Bits<20>>,
    network: DFF<NetworkHeader>,
    plan2: DFF<FramePlan>,
    plan2_valid: DFF<Bit>,
    job2: DFF<AlignerJob>,
    job2_valid: DFF<Bit>,
    /// Rows of the frame at hand: how many have been written, and how many not yet.
    written: DFF<Bits<2>>,
    left: DFF<Bits<2>>,
    rounded: Signal<Local, Bits<8>>,
    header_rows: Signal<Local, Bits<2>>,
    bytes: Signal<Local, Bits<1536>>,
    row_now: Signal<Local, Bits<512>>,
    free2: Signal<Local, Bit>,
    move1: Signal<Local, Bit>,
    accepts: Signal<Local, Bit>,
    swap: Signal<Local, Bits<16>>,
    swapped: Signal<Local, Be16>,
    length_word: Signal<Local, Bits<16>>,
    total: Signal<Local, Bits<20>>,
    folded: Signal<Local, Bits<17>>,
    checksum: Signal<Local, Bits<16>>,
    asked: Signal<Local, Bits<384>>,
    transport: Signal<Local, Bits<384>>,
    common: Signal<Local, Bits<128>>,
    network_bits: Signal<Local, Bits<336>>,
    up: Signal<Local, Bits<14>>,
    rest: Signal<Local, Bits<14>>,
}

impl HeaderBuilder {
    /// With a queue of eight frames.
    pub fn new() -> Self {
        Self {
            rows: SmallFifo::new(4),
            plans: SmallFifo::new(3),
            ..Self::default()
        }
    }
}

impl Logic for HeaderBuilder {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            taken,
            taken_valid,
            first,
            second,
            second_rest,
            third,
            fourth,
            blocks_left,
            block_at,
            payload,
            ip_length,
            header_bytes,
            frame_bytes,
            sum,
            network,
            plan2,
            plan2_valid,
            job2,
            job2_valid,
            written,
            left
        );
        clock!(self, clock, rows, plans);
        self.rows.reset.next = self.reset.val();
        self.plans.reset.next = self.reset.val();
        // A frame's plan, its aligner job and its rows leave separately; all places must be free for the next. The transport
        // header stays where it was taken until its last row leaves.
        self.free2.next = (!self.plan2_valid.q.val() | !self.plans.full.val())
            & (!self.job2_valid.q.val() | self.job_ready.val())
            & (self.rows.level.val() <= 13);
        self.move1.next = self.taken_valid.q.val() & self.free2.val();
        self.accepts.next = !self.taken_valid.q.val() & (self.left.q.val() <= 1);
        self.request_ready.next = self.accepts.val();
        self.sums.request.next = self.request.val();
        self.asked.next = self.request.val().transport;
        if self.move1.val() {
            self.taken_valid.d.next = false;
        }
        if self.accepts.val() {
            self.taken_valid.d.next = self.request_valid.val();
            self.taken.d.next = self.request.val();
            self.payload.d.next = self.sums.payload.val();
            self.ip_length.d.next = self.sums.ip_length.val();
            self.header_bytes.d.next = self.sums.header_bytes.val();
            self.frame_bytes.d.next = self.sums.frame_bytes.val();
            self.sum.d.next = self.sums.sum.val();
            self.first.d.next = self.asked.val().get_bits::<192>(128);
            self.second.d.next = self.asked.val().get_bits::<64>(320);
        }

        // An ACK's blocks: the first when it is taken, the others one a cycle after, before their rows leave.
        self.takes_first.next =
            self.accepts.val() & self.request_valid.val() & self.request.val().blocks.any();
        self.block_ready.next = self.takes_first.val() | self.blocks_left.q.val().any();
        self.block_bits.next = self.block.val().into();
        if self.blocks_left.q.val().any() {
            self.blocks_left.d.next = self.blocks_left.q.val() - 1;
            self.block_at.d.next = self.block_at.q.val() + 1;
            if self.block_at.q.val() == 1 {
                self.second.d.next = self.block_bits.val().get_bits::<64>(0);
                self.second_rest.d.next = self.block_bits.val().get_bits::<128>(64);
            }
            if self.block_at.q.val() == 2 {
                self.third.d.next = self.block_bits.val();
            }
            if self.block_at.q.val() == 3 {
                self.fourth.d.next = self.block_bits.val();
            }
        }
        if self.takes_first.val() {
            self.first.d.next = self.block_bits.val();
            self.blocks_left.d.next = self.request.val().blocks - 1;
            self.block_at.d.next = 1.into();
        }

        // Finish the checksum: the sum folds to 17 bits, then its carry comes round.
        self.swapped.next.high = self.ip_length.q.val().get_bits::<8>(0);
        self.swapped.next.low = self.ip_length.q.val().get_bits::<8>(8);
        self.length_word.next = self.swapped.val().into();
        self.total.next = self.sum.q.val() + bit_cast::<20, 16>(self.length_word.val());
        self.folded.next = bit_cast::<17, 16>(self.total.val().get_bits::<16>(0))
            + bit_cast::<17, 4>(self.total.val().get_bits::<4>(16));
        self.checksum.next = self.folded.val().get_bits::<16>(0)
            + bit_cast::<16, 1>(self.folded.val().get_bits::<1>(16));
        self.up.next = self.frame_bytes.q.val() + 63;
        self.rest.next = self.frame_bytes.q.val() - 1;
        self.swap.next = 0.into();
        if !self.plans.full.val() {
            self.plan2_valid.d.next = false;
        }
        if self.job_ready.val() {
            self.job2_valid.d.next = false;
        }
        if self.left.q.val().any() {
            self.left.d.next = self.left.q.val() - 1;
            self.written.d.next = self.written.q.val() + 1;
        }
        self.rounded.next = self.header_bytes.q.val() + 63;
        self.header_rows.next = self.rounded.val().get_bits::<2>(6);
        if self.move1.val() {
            self.network.d.next.destination_mac = self.taken.q.val().destination_mac;
            self.network.d.next.source_mac = self.taken.q.val().source_mac;
            self.network.d.next.ethernet = 0x0245_0008.into();
            self.network.d.next.length = self.length_word.val();
            self.network.d.next.middle = 0x1140_0040_0000_u64.into();
            self.network.d.next.checksum = !self.checksum.val();
            self.network.d.next.source_ip = self.taken.q.val().source_ip;
            self.network.d.next.destination_ip = self.taken.q.val().destination_ip;
            self.swap.next = self.taken.q.val().path_port;
            self.swapped.next.high = self.swap.val().get_bits::<8>(0);
            self.swapped.next.low = self.swap.val().get_bits::<8>(8);
            self.network.d.next.source_port = self.swapped.val().into();
            self.swap.next = self.taken.q.val().udp_port;
            self.swapped.next.high = self.swap.val().get_bits::<8>(0);
            self.swapped.next.low = self.swap.val().get_bits::<8>(8);
            self.network.d.next.destination_port = self.swapped.val().into();
            self.swap.next = self.ip_length.q.val() - 20;
            self.swapped.next.high = self.swap.val().get_bits::<8>(0);
            self.swapped.next.low = self.swap.val().get_bits::<8>(8);
            self.network.d.next.udp_length = self.swapped.val().into();
            self.network.d.next.udp_checksum = 0.into();
            self.plan2_valid.d.next = true;
            self.left.d.next = self.header_rows.val();
            self.written.d.next = 0.into();
            self.plan2.d.next.rows = self.header_rows.val();
            self.plan2.d.next.plane = self.taken.q.val().plane;
            self.plan2.d.next.header_beats = self.header_bytes.q.val().get_bits::<2>(6);
            if self.payload.q.val() == 0 {
                self.plan2.d.next.header_beats = self.up.val().get_bits::<2>(6);
            }
            self.plan2.d.next.beats = self.up.val().get_bits::<7>(6);
            self.plan2.d.next.last_bytes = bit_cast::<7, 6>(self.rest.val().get_bits::<6>(0)) + 1;
            self.job2_valid.d.next = self.payload.q.val() != 0;
            self.job2.d.next.source = self.taken.q.val().payload_source_lane;
            self.job2.d.next.destination = self.header_bytes.q.val().get_bits::<6>(0);
            self.job2.d.next.length = self.payload.q.val();
        }
        self.network_bits.next = self.network.q.val().into();
        self.transport.next = self.taken.q.val().transport;
        self.common.next = self.transport.val().get_bits::<128>(0);
        self.bytes.next = bit_cast::<1536, 336>(self.network_bits.val())
            | (bit_cast::<1536, 128>(self.common.val()) << 336)
            | (bit_cast::<1536, 192>(self.first.q.val()) << 464)
            | (bit_cast::<1536, 64>(self.second.q.val()) << 656)
            | (bit_cast::<1536, 128>(self.second_rest.q.val()) << 720)
            | (bit_cast::<1536, 192>(self.third.q.val()) << 848)
            | (bit_cast::<1536, 192>(self.fourth.q.val()) << 1040);
        self.row_now.next = self.bytes.val().get_bits::<512>(0);
        if self.written.q.val() == 1 {
            self.row_now.next = self.bytes.val().get_bits::<512>(512);
        }
        if self.written.q.val() == 2 {
            self.row_now.next = self.bytes.val().get_bits::<512>(1024);
        }
        self.rows.write_data.next = self.row_now.val();
        self.rows.write_enable.next = self.left.q.val().any();
        self.rows.read_ready.next = self.row_ready.val();
        self.row.next = self.rows.read_data.val();
        self.plans.write_data.next = self.plan2.q.val();
        self.plans.write_enable.next = self.plan2_valid.q.val();
        self.plans.read_ready.next = self.plan_ready.val();
        self.plan.next = self.plans.read_data.val();
        self.plan_valid.next = self.plans.read_valid.val();
        self.job.next = self.job2.q.val();
        self.job_valid.next = self.job2_valid.q.val();
        if self.reset.val() {
            self.taken_valid.d.next = false;
            self.plan2_valid.d.next = false;
            self.job2_valid.d.next = false;
            self.left.d.next = 0.into();
            self.blocks_left.d.next = 0.into();
        }
    }
}
