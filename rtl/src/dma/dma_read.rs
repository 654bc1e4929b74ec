//! Reads host memory: commands in, beats out in the same order, to one of two destinations.
//!
//! A command lies within one 4 KiB page and becomes one burst. Beats are reserved in the destination's FIFO before the
//! burst is asked for, so the bus is never made to wait and neither destination can block the other. The beats are
//! whole: who asked knows the first byte's lane. 2 cycles from command to bus, 4 from bus to payload or work
//! request; 1 beat a cycle.

use crate::bundle;
use crate::stream::{Fifo, LEVEL_BITS, SmallFifo};
use rust_hdl::prelude::*;

bundle! {
    /// `length` bytes from `address` on, at least 1, not beyond the address's 4 KiB page.
    ReadCommand {
        address: 64,
        length: 13,
        /// The last command of a packet: the last beat is marked.
        last: 1,
        /// To the work requests' output, not the payload's.
        work_request: 1,
    }
}

/// Where a burst's beats go.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ReadTag {
    pub work_request: Bits<1>,
    pub last: Bits<1>,
}

/// A beat read.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ReadBeat {
    pub data: Bits<512>,
    pub last: Bit,
    pub error: Bit,
}

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct DmaRead {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub command: Signal<In, ReadCommand>,
    pub command_valid: Signal<In, Bit>,
    pub command_ready: Signal<Out, Bit>,
    pub araddr: Signal<Out, Bits<64>>,
    pub arlen: Signal<Out, Bits<8>>,
    pub arvalid: Signal<Out, Bit>,
    pub arready: Signal<In, Bit>,
    pub rdata: Signal<In, Bits<512>>,
    pub rresp: Signal<In, Bits<2>>,
    pub rlast: Signal<In, Bit>,
    pub rvalid: Signal<In, Bit>,
    pub rready: Signal<Out, Bit>,
    pub payload_data: Signal<Out, Bits<512>>,
    pub payload_last: Signal<Out, Bit>,
    pub payload_error: Signal<Out, Bit>,
    pub payload_valid: Signal<Out, Bit>,
    pub payload_ready: Signal<In, Bit>,
    /// The first half of the beat: a work request's other half is reserved (T-6.1). Of the reserved bits in the first half, 15:8
    /// and 31:24, nothing is kept either: they are zero.
    pub request_data: Signal<Out, Bits<256>>,
    pub request_valid: Signal<Out, Bit>,
    pub request_ready: Signal<In, Bit>,
    /// A beat came with an error response.
    pub read_error: Signal<Out, Bit>,
    commands: SmallFifo<ReadCommand>,
    payloads: Fifo<ReadBeat>,
    /// The queue of work requests lets no more than 32 be under way.
    requests: Fifo<Bits<240>>,
    tags: SmallFifo<ReadTag>,
    address: DFF<Bits<64>>,
    length: DFF<Bits<8>>,
    valid: DFF<Bit>,
    payload_reserved: DFF<Bits<LEVEL_BITS>>,
    request_reserved: DFF<Bits<LEVEL_BITS>>,
    now: Signal<Local, ReadCommand>,
    lane: Signal<Local, Bits<6>>,
    whole: Signal<Local, Bits<64>>,
    sum: Signal<Local, Bits<13>>,
    beats: Signal<Local, Bits<7>>,
    beats_wide: Signal<Local, Bits<LEVEL_BITS>>,
    payload_sum: Signal<Local, Bits<LEVEL_BITS>>,
    request_sum: Signal<Local, Bits<LEVEL_BITS>>,
    accept: Signal<Local, Bit>,
    for_request: Signal<Local, Bit>,
    tag: Signal<Local, ReadTag>,
    beat: Signal<Local, ReadBeat>,
    to_request: Signal<Local, Bit>,
    marked: Signal<Local, Bit>,
    kept: Signal<Local, Bits<240>>,
    found: Signal<Local, Bits<240>>,
    payload_pop: Signal<Local, Bit>,
    request_pop: Signal<Local, Bit>,
}

impl DmaRead {
    /// With the depth of its queue of commands set.
    pub fn new() -> Self {
        Self {
            commands: SmallFifo::new(1),
            ..Self::default()
        }
    }
}

impl Logic for DmaRead {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            address,
            length,
            valid,
            payload_reserved,
            request_reserved
        );
        clock!(self, clock, commands, payloads, requests, tags);
        self.commands.reset.next = self.reset.val();
        self.commands.write_data.next = self.command.val();
        self.commands.write_enable.next = self.command_valid.val();
        self.command_ready.next = !self.commands.full.val();
        self.now.next = self.commands.read_data.val();
        self.payloads.reset.next = self.reset.val();
        self.requests.reset.next = self.reset.val();
        self.tags.reset.next = self.reset.val();

        // One burst: aligned down to a beat, as many beats as the bytes touch.
        self.whole.next = self.now.val().address;
        self.lane.next = self.whole.val().get_bits::<6>(0);
        self.sum.next = bit_cast::<13, 6>(self.lane.val()) + self.now.val().length + 63;
        self.beats.next = self.sum.val().get_bits::<7>(6);
        self.beats_wide.next = bit_cast::<LEVEL_BITS, 7>(self.beats.val());
        self.payload_sum.next = self.payload_reserved.q.val() + self.beats_wide.val();
        self.request_sum.next = self.request_reserved.q.val() + self.beats_wide.val();
        self.for_request.next = self.now.val().work_request == 1;
        self.accept.next = self.commands.read_valid.val()
            & (!self.valid.q.val() | self.arready.val())
            & !self.tags.full.val()
            & ((self.for_request.val() & (self.request_sum.val() <= 32))
                | (!self.for_request.val() & (self.payload_sum.val() <= 512)));
        self.commands.read_ready.next = self.accept.val();
        if self.arready.val() {
            self.valid.d.next = false;
        }
        if self.accept.val() {
            self.valid.d.next = true;
            self.address.d.next = (self.whole.val() >> 6) << 6;
            self.length.d.next = bit_cast::<8, 7>(self.beats.val()) - 1;
        }
        self.araddr.next = self.address.q.val();
        self.arlen.next = self.length.q.val();
        self.arvalid.next = self.valid.q.val();
        self.tag.next.work_request = self.now.val().work_request;
        self.tag.next.last = self.now.val().last;
        self.tags.write_data.next = self.tag.val();
        self.tags.write_enable.next = self.accept.val();

        // Beats go where their burst's tag says.
        self.rready.next = true;
        self.to_request.next = self.tags.read_data.val().work_request == 1;
        self.marked.next = self.rlast.val() & (self.tags.read_data.val().last == 1);
        self.beat.next.data = self.rdata.val();
        self.beat.next.last = self.marked.val();
        self.beat.next.error = self.rresp.val() != 0;
        self.read_error.next = self.rvalid.val() & (self.rresp.val() != 0);
        self.payloads.write_data.next = self.beat.val();
        self.payloads.write_enable.next = self.rvalid.val() & !self.to_request.val();
        self.kept.next = (bit_cast::<240, 224>(self.rdata.val().get_bits::<224>(32)) << 16)
            | (bit_cast::<240, 8>(self.rdata.val().get_bits::<8>(16)) << 8)
            | bit_cast::<240, 8>(self.rdata.val().get_bits::<8>(0));
        self.requests.write_data.next = self.kept.val();
        self.requests.write_enable.next = self.rvalid.val() & self.to_request.val();
        self.tags.read_ready.next = self.rvalid.val() & self.rlast.val();

        self.payload_data.next = self.payloads.read_data.val().data;
        self.payload_last.next = self.payloads.read_data.val().last;
        self.payload_error.next = self.payloads.read_data.val().error;
        self.payload_valid.next = self.payloads.read_valid.val();
        self.payloads.read_ready.next = self.payload_ready.val();
        self.found.next = self.requests.read_data.val();
        self.request_data.next = (bit_cast::<256, 224>(self.found.val().get_bits::<224>(16)) << 32)
            | (bit_cast::<256, 8>(self.found.val().get_bits::<8>(8)) << 16)
            | bit_cast::<256, 8>(self.found.val().get_bits::<8>(0));
        self.request_valid.next = self.requests.read_valid.val();
        self.requests.read_ready.next = self.request_ready.val();

        // Reserved: asked for and not yet taken away.
        self.payload_pop.next = self.payloads.read_valid.val() & self.payload_ready.val();
        self.request_pop.next = self.requests.read_valid.val() & self.request_ready.val();
        if self.accept.val() & !self.for_request.val() {
            self.payload_reserved.d.next = self.payload_sum.val();
            if self.payload_pop.val() {
                self.payload_reserved.d.next = self.payload_sum.val() - 1;
            }
        } else if self.payload_pop.val() {
            self.payload_reserved.d.next = self.payload_reserved.q.val() - 1;
        }
        if self.accept.val() & self.for_request.val() {
            self.request_reserved.d.next = self.request_sum.val();
            if self.request_pop.val() {
                self.request_reserved.d.next = self.request_sum.val() - 1;
            }
        } else if self.request_pop.val() {
            self.request_reserved.d.next = self.request_reserved.q.val() - 1;
        }
        if self.reset.val() {
            self.valid.d.next = false;
            self.payload_reserved.d.next = 0.into();
            self.request_reserved.d.next = 0.into();
        }
    }
}
