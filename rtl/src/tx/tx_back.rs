//! The transmit back: frame requests and payload beats in, four planes out.
//!
//! Wiring only. Requests are served in order; payload beats come in the order of the requests that have any. Frames to
//! one plane keep their order. The requester watches `freed`: a plane holds 512 beats.

use super::ack_generator::AckBlockWire;
use super::frame_assembler::FrameAssembler;
use super::header_builder::{FrameRequest, HeaderBuilder};
use super::integrity_tx::IntegrityTx;
use super::tx_port::TxPort;
use crate::stream::Aligner;
use rust_hdl::prelude::*;

/// See the module page.
#[derive(LogicBlock, Default)]
pub struct TxBack {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub request: Signal<In, FrameRequest>,
    pub request_valid: Signal<In, Bit>,
    pub request_ready: Signal<Out, Bit>,
    /// The next block of the ACK on offer, or of the one that was taken.
    pub block: Signal<In, AckBlockWire>,
    pub block_ready: Signal<Out, Bit>,
    pub payload: Signal<In, Bits<512>>,
    pub payload_valid: Signal<In, Bit>,
    pub payload_ready: Signal<Out, Bit>,
    pub tdata: [Signal<Out, Bits<512>>; 4],
    pub tkeep: [Signal<Out, Bits<64>>; 4],
    pub tlast: [Signal<Out, Bit>; 4],
    pub tvalid: [Signal<Out, Bit>; 4],
    pub tready: [Signal<In, Bit>; 4],
    /// Frames leave with a wrong CRC.
    pub poison: Signal<In, Bit>,
    /// A frame's last beat has been assembled.
    pub assembled: Signal<Out, Bit>,
    /// A beat left the plane's FIFO.
    pub freed: Signal<Out, Bits<4>>,
    builder: HeaderBuilder,
    aligner: Aligner,
    assembler: FrameAssembler,
    integrity: IntegrityTx,
    ports: [TxPort; 4],
}

impl TxBack {
    /// A back for `planes` of the four planes; nothing is ever sent to the others.
    pub fn new(planes: usize) -> Self {
        Self {
            builder: HeaderBuilder::new(),
            integrity: IntegrityTx::new(),
            ports: std::array::from_fn(|plane| {
                if plane < planes {
                    TxPort::default()
                } else {
                    TxPort::absent()
                }
            }),
            ..Self::default()
        }
    }
}

impl Logic for TxBack {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, builder, aligner, assembler, integrity);
        self.builder.reset.next = self.reset.val();
        self.aligner.reset.next = self.reset.val();
        self.assembler.reset.next = self.reset.val();
        self.integrity.reset.next = self.reset.val();
        self.integrity.poison.next = self.poison.val();
        self.builder.request.next = self.request.val();
        self.builder.request_valid.next = self.request_valid.val();
        self.request_ready.next = self.builder.request_ready.val();
        self.builder.block.next = self.block.val();
        self.block_ready.next = self.builder.block_ready.val();
        self.aligner.job.next = self.builder.job.val();
        self.aligner.job_valid.next = self.builder.job_valid.val();
        self.builder.job_ready.next = self.aligner.job_ready.val();
        self.aligner.in_data.next = self.payload.val();
        self.aligner.in_valid.next = self.payload_valid.val();
        self.payload_ready.next = self.aligner.in_ready.val();
        self.assembler.row.next = self.builder.row.val();
        self.builder.row_ready.next = self.assembler.row_ready.val();
        self.assembler.plan.next = self.builder.plan.val();
        self.assembler.plan_valid.next = self.builder.plan_valid.val();
        self.builder.plan_ready.next = self.assembler.plan_ready.val();
        self.assembler.payload.next = self.aligner.out_data.val();
        self.assembler.payload_strobe.next = self.aligner.out_strobe.val();
        self.assembler.payload_valid.next = self.aligner.out_valid.val();
        self.aligner.out_ready.next = self.assembler.payload_ready.val();
        self.integrity.data.next = self.assembler.out_data.val();
        self.integrity.info.next = self.assembler.out_info.val();
        self.integrity.valid.next = self.assembler.out_valid.val();
        self.assembled.next = self.assembler.out_valid.val() & self.assembler.out_info.val().last;
        self.freed.next = 0.into();
        for i in 0..4 {
            self.ports[i].clock.next = self.clock.val();
            self.ports[i].reset.next = self.reset.val();
            self.ports[i].data.next = self.assembler.out_data.val();
            self.ports[i].info.next = self.assembler.out_info.val();
            self.ports[i].valid.next = self.assembler.out_valid.val()
                & (self.assembler.out_info.val().plane == i.to_bits());
            self.ports[i].crc.next = self.integrity.crc.val();
            self.ports[i].crc_valid.next =
                self.integrity.crc_valid.val() & (self.integrity.crc_plane.val() == i.to_bits());
            self.tdata[i].next = self.ports[i].tdata.val();
            self.tkeep[i].next = self.ports[i].tkeep.val();
            self.tlast[i].next = self.ports[i].tlast.val();
            self.tvalid[i].next = self.ports[i].tvalid.val();
            self.ports[i].tready.next = self.tready[i].val();
            if self.ports[i].freed.val() {
                self.freed.next = self.freed.val().replace_bit(i, true);
            }
        }
    }
}
