//! The engine, wired (design section 4): receive side, transmit side, host memory, registers.
//!
//! Nothing is decided here; all starts anew a cycle after `reset`. Receive side: `rx_front` -> `classifier` -> `path_sequence` beside `memory_translation` ->
//! `placement` -> `dma_write` -> `message_table`, which tell `ack_generator`. Transmit side: `work_queue` ->
//! `spray_scheduler` -> `segmenter` -> `frame_request` -> `tx_back`, with `ack_processor`, `prober`, `forced_queue` for losses.

use crate::csr::{ClearSequencer, Counters, CsrPort, PathTelemetry, Registers, TableRouter};
use crate::dma::{DmaRead, DmaWrite, MemoryTranslation};
use crate::rx::{Classifier, MessageTable, PathSequence, Placement, RxFront};
use crate::stream::SmallFifo;
use crate::top::{events::Events, notices::Notices};
use crate::tx::ack_processor::{AckProcessor, AckedPacket};
use crate::tx::frame_request::{FrameRequest, PlaneAddress};
use crate::tx::{
    ack_generator::AckGenerator, ack_hold::AckHold, forced_queue::ForcedQueue,
    message_completion::MessageCompletion, prober::Prober, segmenter::Segmenter,
    spray_scheduler::SprayScheduler, tx_back::TxBack, work_queue::WorkQueue,
};
use rust_hdl::prelude::*;
mod sizes;

#[derive(LogicBlock)]
pub struct Engine {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_axil_awaddr: Signal<In, Bits<32>>,
    pub s_axil_awvalid: Signal<In, Bit>,
    pub s_axil_awready: Signal<Out, Bit>,
    pub s_axil_wdata: Signal<In, Bits<32>>,
    pub s_axil_wvalid: Signal<In, Bit>,
    pub s_axil_wready: Signal<Out, Bit>,
    pub s_axil_bvalid: Signal<Out, Bit>,
    pub s_axil_bready: Signal<In, Bit>,
    pub s_axil_araddr: Signal<In, Bits<32>>,
    pub s_axil_arvalid: Signal<In, Bit>,
    pub s_axil_arready: Signal<Out, Bit>,
    pub s_axil_rdata: Signal<Out, Bits<32>>,
    pub s_axil_rvalid: Signal<Out, Bit>,
    pub s_axil_rready: Signal<In, Bit>,
    pub m_axi_awaddr: Signal<Out, Bits<64>>,
    pub m_axi_awlen: Signal<Out, Bits<8>>,
    pub m_axi_awvalid: Signal<Out, Bit>,
    pub m_axi_awready: Signal<In, Bit>,
    pub m_axi_wdata: Signal<Out, Bits<512>>,
    pub m_axi_wstrb: Signal<Out, Bits<64>>,
    pub m_axi_wlast: Signal<Out, Bit>,
    pub m_axi_wvalid: Signal<Out, Bit>,
    pub m_axi_wready: Signal<In, Bit>,
    pub m_axi_bresp: Signal<In, Bits<2>>,
    pub m_axi_bvalid: Signal<In, Bit>,
    pub m_axi_bready: Signal<Out, Bit>,
    pub m_axi_araddr: Signal<Out, Bits<64>>,
    pub m_axi_arlen: Signal<Out, Bits<8>>,
    pub m_axi_arvalid: Signal<Out, Bit>,
    pub m_axi_arready: Signal<In, Bit>,
    pub m_axi_rdata: Signal<In, Bits<512>>,
    pub m_axi_rresp: Signal<In, Bits<2>>,
    pub m_axi_rlast: Signal<In, Bit>,
    pub m_axi_rvalid: Signal<In, Bit>,
    pub m_axi_rready: Signal<Out, Bit>,
    pub rx_tdata: [Signal<In, Bits<512>>; 4],
    pub rx_tkeep: [Signal<In, Bits<64>>; 4],
    pub rx_tlast: [Signal<In, Bit>; 4],
    pub rx_tuser: [Signal<In, Bit>; 4],
    pub rx_tvalid: [Signal<In, Bit>; 4],
    pub tx_tdata: [Signal<Out, Bits<512>>; 4],
    pub tx_tkeep: [Signal<Out, Bits<64>>; 4],
    pub tx_tlast: [Signal<Out, Bit>; 4],
    pub tx_tvalid: [Signal<Out, Bit>; 4],
    pub tx_tready: [Signal<In, Bit>; 4],
    pub link_up: Signal<In, Bits<4>>,
    /// A completion was written; one cycle.
    pub completion_interrupt: Signal<Out, Bit>,

    plane_last: Constant<Bits<2>>,
    port: CsrPort,
    registers: Registers,
    router: TableRouter,
    clears: ClearSequencer,
    counters: Counters,
    events: Events,
    telemetry: PathTelemetry,
    front: RxFront,
    classifier: Classifier,
    window: PathSequence,
    receive_memory: MemoryTranslation,
    placement: Placement,
    write: DmaWrite,
    messages: MessageTable,
    acks: AckGenerator,
    ack_hold: AckHold,
    work: WorkQueue,
    scheduler: SprayScheduler,
    forced: ForcedQueue,
    segmenter: Segmenter,
    send_memory: MemoryTranslation,
    read_engine: DmaRead,
    frames: FrameRequest,
    back: TxBack,
    processor: AckProcessor,
    prober: Prober,
    completion: MessageCompletion,
    notices: Notices,
    controls_sent: SmallFifo<AckedPacket>,
    reset_now: DFF<Bit>,
    ring_given: DFF<Bits<16>>,
    /// Memory has answered with an error (T-6.8).
    bus_fault: DFF<Bit>,
    address: Signal<Local, PlaneAddress>,
    stop_write: Signal<Local, Bit>,
}

impl Logic for Engine {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, ring_given, bus_fault, reset_now);
        self.reset_now.d.next = self.reset.val();
        clock!(self, clock, port, registers, clears, counters, telemetry);
        clock!(self, clock, front, classifier, window, receive_memory);
        clock!(self, clock, placement, write, messages, acks, ack_hold);
        clock!(self, clock, work, scheduler, forced, segmenter, send_memory);
        clock!(self, clock, read_engine, frames, back, processor, prober);
        clock!(self, clock, completion, notices, controls_sent);
        self.port.reset.next = self.reset_now.q.val();
        self.registers.reset.next = self.reset_now.q.val();
        self.clears.reset.next = self.reset_now.q.val();
        self.telemetry.reset.next = self.reset_now.q.val();
        self.front.reset.next = self.reset_now.q.val();
        self.classifier.reset.next = self.reset_now.q.val();
        self.window.reset.next = self.reset_now.q.val();
        self.placement.reset.next = self.reset_now.q.val();
        self.write.reset.next = self.reset_now.q.val();
        self.messages.reset.next = self.reset_now.q.val();
        self.acks.reset.next = self.reset_now.q.val();
        self.ack_hold.reset.next = self.reset_now.q.val();
        self.work.reset.next = self.reset_now.q.val();
        self.scheduler.reset.next = self.reset_now.q.val();
        self.forced.reset.next = self.reset_now.q.val();
        self.segmenter.reset.next = self.reset_now.q.val();
        self.read_engine.reset.next = self.reset_now.q.val();
        self.frames.reset.next = self.reset_now.q.val();
        self.back.reset.next = self.reset_now.q.val();
        self.processor.reset.next = self.reset_now.q.val();
        self.prober.reset.next = self.reset_now.q.val();
        self.completion.reset.next = self.reset_now.q.val();
        self.notices.reset.next = self.reset_now.q.val();
        self.controls_sent.reset.next = self.reset_now.q.val();

        // Registers and tables.
        self.port.awaddr.next = self.s_axil_awaddr.val();
        self.port.awvalid.next = self.s_axil_awvalid.val();
        self.s_axil_awready.next = self.port.awready.val();
        self.port.wdata.next = self.s_axil_wdata.val();
        self.port.wvalid.next = self.s_axil_wvalid.val();
        self.s_axil_wready.next = self.port.wready.val();
        self.s_axil_bvalid.next = self.port.bvalid.val();
        self.port.bready.next = self.s_axil_bready.val();
        self.port.araddr.next = self.s_axil_araddr.val();
        self.port.arvalid.next = self.s_axil_arvalid.val();
        self.s_axil_arready.next = self.port.arready.val();
        self.s_axil_rdata.next = self.port.rdata.val();
        self.s_axil_rvalid.next = self.port.rvalid.val();
        self.port.rready.next = self.s_axil_rready.val();
        self.registers.write_valid.next = self.port.write_valid.val();
        self.registers.address.next = self.port.address.val();
        self.registers.write_data.next = self.port.write_data.val();
        self.port.read_data.next = self.registers.read_data.val();
        self.registers.link_up.next = self.link_up.val();
        self.registers.placement_issued.next = self.messages.issued.val();
        self.registers.placement_done.next = self.messages.done.val();
        self.counters.read_index.next = self.registers.counter_index.val();
        self.registers.counter.next = self.counters.read_count.val();
        self.registers.clear_busy.next = self.clears.busy.val();
        self.registers.answered.next = self.telemetry.read_done.val();
        self.registers.send_words.next = self.telemetry.send_words.val();
        self.registers.loss_words.next = self.telemetry.loss_words.val();
        self.router.access.next = self.registers.access.val();
        self.router.access_valid.next = self.registers.access_valid.val();
        self.router.entry.next = self.registers.entry.val();

        // A connection starts anew.
        self.clears.plane_last.next = self.plane_last.val();
        self.clears.start.next = self.router.clear_start.val();
        self.clears.start_connection.next = self.router.connection.val();
        self.clears.start_psn.next = self.router.clear_psn.val();
        self.clears.start_epoch.next = self.router.clear_epoch.val();
        self.clears.start_ordinal.next = self.router.clear_ordinal.val();
        self.classifier.clear.next.pair = self.clears.pair.val();
        self.classifier.clear.next.psn = self.clears.psn.val();
        self.classifier.clear.next.epoch = self.clears.epoch.val();
        self.classifier.clear.next.ordinal = self.clears.ordinal.val();
        self.classifier.clear.next.timestamp = 0.into();
        self.classifier.clear.next.now = 0.into();
        self.classifier.clear.next.data = 0.into();
        self.classifier.clear.next.marked = 0.into();
        self.classifier.clear.next.urgent = 0.into();
        self.classifier.clear.next.clear = 1.into();
        self.classifier.clear_valid.next = self.clears.open.val().window.any();
        self.processor.clear.next.pair = self.clears.pair.val();
        self.processor.clear.next.epoch = self.clears.epoch.val();
        self.processor.clear.next.cumulative = self.clears.psn.val();
        self.processor.clear.next.ordinal = self.clears.ordinal.val();
        self.processor.clear.next.echo = 0.into();
        self.processor.clear.next.delay = 0.into();
        self.processor.clear.next.vector = 0.into();
        self.processor.clear.next.clear = 1.into();
        self.processor.clear_valid.next = self.clears.open.val().acks.any();
        self.acks.clear_slot.next = self.clears.plane_slot.val();
        self.acks.clear_valid.next = self.clears.open.val().generator.any();
        self.messages.clear_address.next = self.clears.message_slot.val();
        self.messages.clear_valid.next = self.clears.open.val().placed.any();
        self.completion.clear_address.next = self.clears.message_slot.val();
        self.completion.clear_valid.next = self.clears.open.val().completion.any();
        self.work.clear_connection.next = self.clears.connection.val();
        self.work.clear_valid.next = self.clears.open.val().work.any();
        self.telemetry.clear_pair.next = self.clears.pair.val();
        self.telemetry.clear_valid.next = self.clears.open.val().telemetry.any();
        self.clears.done.next.window = self.classifier.clear_ready.val().into();
        self.clears.done.next.acks = self.processor.clear_ready.val().into();
        self.clears.done.next.sender =
            (self.forced.order_ready.val() & self.clears.open.val().sender.any()).into();
        self.clears.done.next.generator = self.acks.clear_ready.val().into();
        self.clears.done.next.placed = self.messages.clear_ready.val().into();
        self.clears.done.next.completion = self.completion.clear_ready.val().into();
        self.clears.done.next.work = self.work.clear_ready.val().into();
        self.clears.done.next.telemetry = self.telemetry.clear_ready.val().into();

        // Receive.
        self.front.udp_port.next = self.registers.udp_port.val();
        for i in 0..4 {
            self.front.tdata[i].next = self.rx_tdata[i].val();
            self.front.tkeep[i].next = self.rx_tkeep[i].val();
            self.front.tlast[i].next = self.rx_tlast[i].val();
            self.front.tuser[i].next = self.rx_tuser[i].val();
            self.front.tvalid[i].next = self.rx_tvalid[i].val() & self.registers.enable.val();
            self.address.next = self.registers.own[i].val();
            self.front.own_mac[i].next = self.address.val().mac;
            self.front.own_ip[i].next = self.address.val().ip;
            self.frames.own[i].next = self.address.val();
        }
        self.classifier.now.next = self.registers.now.val();
        self.classifier.header_data.next = self.front.header_data.val();
        self.classifier.header_info.next = self.front.header_info.val();
        self.classifier.header_valid.next = self.front.header_valid.val();
        self.front.header_ready.next = self.classifier.header_ready.val();
        self.classifier.settings_connection.next = self.router.connection.val();
        self.classifier.settings.next = self.router.receive.val();
        self.classifier.settings_write.next = self.router.connection_write.val();
        self.window.packet.next = self.classifier.path_event.val();
        self.window.packet_valid.next = self.classifier.path_event_valid.val();
        self.classifier.path_event_ready.next = self.window.packet_ready.val();
        self.receive_memory.request.next = self.classifier.request.val();
        self.receive_memory.key_index.next = bit_cast::<12, 20>(self.router.index.val());
        self.receive_memory.key_entry.next = self.router.key.val();
        self.receive_memory.key_write.next = self.router.key_write.val();
        self.receive_memory.page_index.next = self.router.index.val();
        self.receive_memory.page_address.next = self.router.page_address.val();
        self.receive_memory.page_write.next = self.router.page_write.val();
        self.placement.frame.next = self.classifier.frame.val();
        self.placement.frame_valid.next = self.classifier.frame_valid.val();
        self.classifier.frame_room.next = self.placement.frame_room.val();
        self.placement.refused.next = self.receive_memory.refused.val();
        self.window.veto.next = self.placement.veto.val();
        self.placement.verdict.next = self.window.verdict.val();
        self.placement.translated.next = self.receive_memory.translated.val();
        self.placement.ring.next = self.registers.control_ring.val();
        self.placement.ring_given.next = self.ring_given.q.val();
        self.placement.ring_reset.next = self.registers.control_ring_set.val();
        self.placement.order_room.next = self.messages.room.val();
        self.write.route.next = self.placement.route.val();
        self.write.route_valid.next = self.placement.route_valid.val();
        self.placement.route_room.next = self.write.route_room.val();
        self.write.plan.next = self.placement.plan.val();
        self.write.plan_valid.next = self.placement.plan_valid.val();
        self.placement.plan_ready.next = self.write.plan_ready.val();
        self.write.payload_data.next = self.front.payload_data.val();
        self.write.payload_last.next = self.front.payload_last.val();
        self.write.payload_valid.next = self.front.payload_valid.val();
        self.front.payload_ready.next = self.write.payload_ready.val();
        self.messages.ordered.next = self.placement.ordered.val();
        self.messages.ordered_valid.next = self.placement.ordered_valid.val();
        self.messages.placed_valid.next = self.write.placed_valid.val();

        // ACKs to the peer.
        self.acks.now.next = self.registers.now.val();
        self.acks.delay.next = self.registers.ack_delay.val();
        self.acks.sweep_end.next = bit_cast::<14, 13>(self.registers.connections_in_use.val()) << 2;
        self.acks.news.next = self.window.ack.val();
        self.acks.news_valid.next = self.window.ack_valid.val();
        self.acks.complete_pair.next = self.messages.complete_pair.val();
        self.acks.complete_valid.next = self.messages.complete_valid.val();
        self.window.read_pair.next = self.acks.read_pair.val();
        self.acks.read_state.next = self.window.read_state.val();
        self.ack_hold.frame.next = self.acks.frame.val();
        self.ack_hold.frame_valid.next = self.acks.frame_valid.val();
        self.ack_hold.block.next = self.acks.block.val();
        self.ack_hold.block_valid.next = self.acks.block_valid.val();
        self.acks.room.next = self.ack_hold.room.val();
        self.ack_hold.mark.next = self.clears.mark.val();
        self.clears.mark_gone.next = self.ack_hold.mark_gone.val();
        self.ack_hold.issued.next = self.messages.issued.val();
        self.ack_hold.done.next = self.messages.done.val();
        self.frames.ack.next = self.ack_hold.out.val();
        self.frames.ack_frame_valid.next = self.ack_hold.out_valid.val();
        self.back.block.next = self.ack_hold.out_block.val();
        self.ack_hold.out_block_ready.next = self.back.block_ready.val();
        self.ack_hold.out_ready.next = self.frames.ack_frame_ready.val();

        // ACKs from the peer.
        self.processor.now.next = self.registers.now.val();
        self.processor.plane_last.next = self.plane_last.val();
        self.processor.resend_room.next = self.forced.resend_room.val();
        self.processor.beat.next = self.write.ack_data.val();
        self.processor.beat_last.next = self.write.ack_last.val();
        self.processor.beat_valid.next = self.write.ack_valid.val();
        self.write.ack_ready.next = self.processor.beat_ready.val();
        self.processor.sent_pair.next = self.scheduler.sent_pair.val();
        self.processor.sent.next = self.scheduler.sent.val();
        self.processor.sent_valid.next = self.scheduler.sent_valid.val();
        self.processor.log_address.next = self.scheduler.log_address.val();
        self.processor.log_entry.next = self.scheduler.log_entry.val();
        self.processor.log_write.next = self.scheduler.log_write.val();
        self.processor.record_address.next = self.scheduler.record_address.val();
        self.processor.record.next = self.scheduler.record.val();
        self.processor.record_write.next = self.scheduler.record_write.val();
        self.forced.resend.next = self.processor.resend.val();
        self.forced.resend_valid.next = self.processor.resend_valid.val();
        self.processor.resend_ready.next = self.forced.resend_ready.val();

        // Silent paths.
        self.prober.now.next = self.registers.now.val();
        self.prober.timer_min.next = self.registers.probe_timer.val();
        self.prober.interval.next = self.registers.probe_interval.val();
        self.prober.ack_delay.next = self.registers.ack_delay.val();
        self.prober.backoff_max.next = self.registers.probe_backoff_max.val();
        self.prober.sweep_end.next =
            bit_cast::<17, 13>(self.registers.connections_in_use.val()) << 5;
        self.prober.sent_pair.next = self.scheduler.sent_pair.val();
        self.prober.sent.next = self.scheduler.sent.val();
        self.prober.sent_valid.next = self.scheduler.sent_valid.val();
        self.prober.updated.next = self.processor.updated.val();
        self.prober.updated_valid.next = self.processor.updated_valid.val();
        self.forced.probe.next = self.prober.probe.val();
        self.forced.probe_valid.next = self.prober.probe_valid.val();
        self.prober.probe_ready.next = self.forced.probe_ready.val();
        self.forced.tail_pair.next = self.scheduler.tail_pair.val();
        self.forced.tail_valid.next = self.scheduler.tail_valid.val();
        self.forced.order.next = self.work.control.val();
        self.forced.order_valid.next =
            self.work.control_valid.val() | self.clears.open.val().sender.any();
        self.work.control_ready.next =
            self.forced.order_ready.val() & !self.clears.open.val().sender.any();
        if self.clears.open.val().sender.any() {
            self.forced.order.next.kind = 3.into();
            self.forced.order.next.pair = self.clears.pair.val();
            self.forced.order.next.psn = self.clears.psn.val();
            self.forced.order.next.ordinal = self.clears.ordinal.val();
            self.forced.order.next.epoch = self.clears.epoch.val();
        }

        // Work requests.
        self.work.doorbell_connection.next = self.registers.doorbell.val().connection;
        self.work.doorbell_producer.next = bit_cast::<16, 32>(self.registers.doorbell.val().value);
        self.work.doorbell_valid.next =
            self.registers.doorbell_valid.val() & (self.registers.doorbell.val().register == 0);
        if self.registers.doorbell_valid.val() & (self.registers.doorbell.val().register == 1) {
            self.ring_given.d.next = bit_cast::<16, 32>(self.registers.doorbell.val().value);
        }
        if self.registers.control_ring_set.val() {
            self.ring_given.d.next = 0.into();
        }
        self.work.ring_connection.next = self.router.connection.val();
        self.work.ring.next = self.router.send_ring.val();
        self.work.ring_write.next = self.router.connection_write.val();
        self.work.head_connection.next = self.completion.head_connection.val();
        self.work.head_message.next = self.completion.head_message.val();
        self.work.head_valid.next = self.completion.head_valid.val();
        self.work.beat.next = self.read_engine.request_data.val();
        self.work.beat_valid.next = self.read_engine.request_valid.val();
        self.read_engine.request_ready.next = self.work.beat_ready.val();

        // What is sent next.
        self.scheduler.plane_last.next = self.plane_last.val();
        self.scheduler.load_connection.next = self.work.load_connection.val();
        self.scheduler.load_messages.next = self.work.load_messages.val();
        self.scheduler.load_slot.next = self.work.load_slot.val();
        self.scheduler.load_last.next = self.work.load_last.val();
        self.scheduler.load_valid.next = self.work.load_valid.val();
        self.scheduler.load_wakes.next = self.work.load_wakes.val();
        self.scheduler.unfetched.next = self.work.unfetched.val();
        self.stop_write.next = self.notices.stop_valid.val() & !self.router.connection_write.val();
        self.scheduler.settings_connection.next = self.router.connection.val();
        self.scheduler.settings.next = self.router.send.val();
        self.scheduler.settings_write.next =
            self.router.connection_write.val() | self.stop_write.val();
        if self.stop_write.val() {
            self.scheduler.settings_connection.next = self.notices.stop_connection.val();
            self.scheduler.settings.next.enabled = 0.into();
        }
        self.scheduler.suspect_slot.next = self.prober.suspect_slot.val();
        self.scheduler.suspect_paths.next = self.prober.suspect_paths.val();
        self.scheduler.suspect_write.next = self.prober.suspect_write.val();
        self.scheduler.updated.next = self.processor.updated.val();
        self.scheduler.updated_valid.next = self.processor.updated_valid.val();
        self.scheduler.returned_plane.next = self.segmenter.returned_plane.val();
        self.scheduler.returned_beats.next = self.segmenter.returned_beats.val();
        self.scheduler.ack_plane.next = self.frames.ack_plane.val();
        self.scheduler.ack_beats.next = self.frames.ack_beats.val();
        self.frames.ack_room.next = self.scheduler.ack_room.val();
        for i in 0..4 {
            self.scheduler.head[i].next = self.forced.head[i].val();
            self.scheduler.head_valid[i].next = self.forced.head_valid[i].val();
            self.forced.head_ready[i].next = self.scheduler.head_ready[i].val();
            self.scheduler.freed[i].next = self.back.freed.val().get_bit(i);
        }
        self.segmenter.job.next = self.scheduler.job.val();
        self.segmenter.job_valid.next = self.scheduler.job_valid.val();
        self.scheduler.job_room.next = self.segmenter.job_room.val();
        self.segmenter.message.next = self.work.message.val();
        self.segmenter.message_address.next = self.work.message_address.val();
        self.segmenter.message_write.next = self.work.message_write.val();
        self.segmenter.mtu_connection.next = self.router.connection.val();
        self.segmenter.mtu_shift.next = self.router.send_ring.val().mtu_shift;
        self.segmenter.mtu_write.next = self.router.connection_write.val();
        self.send_memory.request.next = self.segmenter.request.val();
        self.segmenter.translated.next = self.send_memory.translated.val();
        self.send_memory.key_index.next = bit_cast::<12, 20>(self.router.index.val());
        self.send_memory.key_entry.next = self.router.key.val();
        self.send_memory.key_write.next = self.router.key_write.val();
        self.send_memory.page_index.next = self.router.index.val();
        self.send_memory.page_address.next = self.router.page_address.val();
        self.send_memory.page_write.next = self.router.page_write.val();

        // Reads: work requests before payload.
        self.read_engine.command.next = self.segmenter.read.val();
        self.read_engine.command_valid.next =
            self.segmenter.read_valid.val() | self.work.read_valid.val();
        if self.work.read_valid.val() {
            self.read_engine.command.next = self.work.read.val();
        }
        self.work.read_ready.next = self.read_engine.command_ready.val();
        self.segmenter.read_ready.next =
            self.read_engine.command_ready.val() & !self.work.read_valid.val();

        // Frames.
        self.frames.now.next = self.registers.now.val();
        self.frames.udp_port.next = self.registers.udp_port.val();
        self.frames.outgoing.next = self.segmenter.outgoing.val();
        self.frames.outgoing_valid.next = self.segmenter.outgoing_valid.val();
        self.segmenter.outgoing_ready.next = self.frames.outgoing_ready.val();
        self.frames.route_slot.next = bit_cast::<14, 20>(self.router.index.val());
        self.frames.route.next = self.router.route.val();
        self.frames.route_write.next = self.router.route_write.val();
        self.frames.entropy_pair.next = bit_cast::<17, 20>(self.router.index.val());
        self.frames.entropy.next = self.router.entropy.val();
        self.frames.entropy_write.next = self.router.entropy_write.val();
        self.frames.peer_connection.next = self.router.connection.val();
        self.frames.peer.next = self.router.peer.val();
        self.frames.peer_write.next = self.router.connection_write.val();
        self.bus_fault.d.next = self.registers.enable.val()
            & (self.bus_fault.q.val()
                | self.read_engine.read_error.val()
                | self.write.write_error.val());
        self.back.poison.next = self.bus_fault.q.val();
        self.back.request.next = self.frames.request.val();
        self.back.request_valid.next = self.frames.request_valid.val();
        self.frames.request_ready.next = self.back.request_ready.val();
        self.back.payload.next = self.read_engine.payload_data.val();
        self.back.payload_valid.next = self.read_engine.payload_valid.val();
        self.read_engine.payload_ready.next = self.back.payload_ready.val();
        self.frames.refusal.next = self.placement.refusal.val();
        self.frames.refusal_valid.next = self.placement.refusal_valid.val();
        self.frames.assembled.next = self.back.assembled.val();
        for i in 0..4 {
            self.tx_tdata[i].next = self.back.tdata[i].val();
            self.tx_tkeep[i].next = self.back.tkeep[i].val();
            self.tx_tlast[i].next = self.back.tlast[i].val();
            self.tx_tvalid[i].next = self.back.tvalid[i].val();
            self.back.tready[i].next = self.tx_tready[i].val();
        }

        // Completions: acknowledged packets, CONTROL frames sent, notices.
        self.controls_sent.write_data.next = self.frames.control_done.val();
        self.controls_sent.write_enable.next = self.frames.control_done_valid.val();
        self.completion.acked.next = self.processor.acked.val();
        self.completion.acked_valid.next =
            self.processor.acked_valid.val() | self.controls_sent.read_valid.val();
        if self.controls_sent.read_valid.val() {
            self.completion.acked.next = self.controls_sent.read_data.val();
        }
        self.controls_sent.read_ready.next = self.completion.acked_ready.val();
        self.processor.acked_ready.next =
            self.completion.acked_ready.val() & !self.controls_sent.read_valid.val();
        self.completion.time_now.next = self.registers.time_now.val();
        self.completion.load_address.next = self.work.load_address.val();
        self.completion.load_last.next = self.work.load_last.val();
        self.completion.load_valid.next = self.work.loaded.val();
        self.completion.ring_connection.next = self.router.connection.val();
        self.completion.ring.next = self.router.completion_ring.val();
        self.completion.ring_write.next = self.router.connection_write.val();
        self.notices.control.next = self.messages.control.val();
        self.notices.control_valid.next = self.messages.control_valid.val();
        self.notices.local_connection.next = self.segmenter.refused_connection.val();
        self.notices.local_valid.next = self.segmenter.refused_valid.val();
        self.notices.invalid_connection.next = self.work.refused_connection.val();
        self.notices.invalid_valid.next = self.work.refused_valid.val();
        self.notices.nack_connection.next = self.placement.nack_connection.val();
        self.notices.nack_valid.next = self.placement.nack_valid.val();
        self.notices.set_connection.next = self.router.connection.val();
        self.notices.set_valid.next = self.router.connection_write.val();
        self.notices.failed_connection.next = self.prober.failed_connection.val();
        self.notices.failed_valid.next = self.prober.failed_valid.val();
        self.completion.notice.next = self.notices.notice.val();
        self.completion.notice_valid.next = self.notices.notice_valid.val();
        self.notices.notice_ready.next = self.completion.notice_ready.val();
        self.write.record.next = self.completion.record.val();
        self.write.record_valid.next = self.completion.record_valid.val();
        self.completion.record_ready.next = self.write.record_ready.val();
        self.completion_interrupt.next = self.write.record_done_valid.val();

        // Host memory.
        self.m_axi_awaddr.next = self.write.awaddr.val();
        self.m_axi_awlen.next = self.write.awlen.val();
        self.m_axi_awvalid.next = self.write.awvalid.val();
        self.write.awready.next = self.m_axi_awready.val();
        self.m_axi_wdata.next = self.write.wdata.val();
        self.m_axi_wstrb.next = self.write.wstrb.val();
        self.m_axi_wlast.next = self.write.wlast.val();
        self.m_axi_wvalid.next = self.write.wvalid.val();
        self.write.wready.next = self.m_axi_wready.val();
        self.write.bresp.next = self.m_axi_bresp.val();
        self.write.bvalid.next = self.m_axi_bvalid.val();
        self.m_axi_bready.next = self.write.bready.val();
        self.m_axi_araddr.next = self.read_engine.araddr.val();
        self.m_axi_arlen.next = self.read_engine.arlen.val();
        self.m_axi_arvalid.next = self.read_engine.arvalid.val();
        self.read_engine.arready.next = self.m_axi_arready.val();
        self.read_engine.rdata.next = self.m_axi_rdata.val();
        self.read_engine.rresp.next = self.m_axi_rresp.val();
        self.read_engine.rlast.next = self.m_axi_rlast.val();
        self.read_engine.rvalid.next = self.m_axi_rvalid.val();
        self.m_axi_rready.next = self.read_engine.rready.val();

        // What is counted.
        self.telemetry.sent.next.pair = self.frames.sent_pair.val();
        self.telemetry.sent.next.bytes = self.frames.sent_bytes.val();
        self.telemetry.sent.next.probe = self.frames.sent.val().get_bits::<1>(1);
        self.telemetry.sent.next.resend = self.frames.sent_resend.val().into();
        self.telemetry.sent_valid.next =
            self.frames.sent.val().get_bit(0) | self.frames.sent.val().get_bit(1);
        self.telemetry.lost.next.pair = self.processor.lost_pair.val();
        self.telemetry.lost.next.rtt = 0.into();
        self.telemetry.lost.next.sampled = 0.into();
        self.telemetry.lost.next.probe = self.processor.lost_by_probe.val().into();
        self.telemetry.lost.next.timeout = self.processor.lost_by_timeout.val().into();
        self.telemetry.lost_valid.next = self.processor.lost_valid.val();
        self.telemetry.sample.next.pair = self.processor.rtt_pair.val();
        self.telemetry.sample.next.rtt = self.processor.rtt.val();
        self.telemetry.sample.next.sampled = 1.into();
        self.telemetry.sample.next.probe = 0.into();
        self.telemetry.sample.next.timeout = 0.into();
        self.telemetry.sample_valid.next = self.processor.rtt_valid.val();
        self.telemetry.read_pair.next = bit_cast::<17, 20>(self.router.index.val());
        self.telemetry.read_send.next = self.router.read_send.val();
        self.telemetry.read_loss.next = self.router.read_loss.val();
        self.events.judged.next = self.front.judged.val();
        self.events.front_reason.next = self.front.drop_reason.val();
        self.events.drop_full.next = self.front.drop_full.val();
        self.events.drop_oversize.next = self.front.drop_oversize.val();
        self.events.drop_valid.next = self.placement.drop_valid.val();
        self.events.drop_reason.next = self.placement.drop_reason.val();
        self.events.accepted.next = self.placement.accepted.val();
        self.events.sent.next = self.frames.sent.val();
        self.events.resent.next = self.frames.sent_resend.val();
        self.events.lost.next = self.processor.lost_valid.val();
        self.events.lost_by_probe.next = self.processor.lost_by_probe.val();
        self.events.lost_by_timeout.next = self.processor.lost_by_timeout.val();
        self.events.timer.next = self.prober.timer_expired.val();
        self.events.block.next = self.processor.block_taken.val();
        self.events.block_stale.next = self.processor.block_stale.val();
        self.events.block_invalid.next = self.processor.block_invalid.val();
        self.events.loaded.next = self.work.loaded.val();
        self.events.invalid_request.next = self.work.refused_valid.val();
        self.events.completion.next =
            self.write.record_done_valid.val() & !self.write.record_done_tag.val().any();
        self.events.placed.next = self.messages.complete_valid.val();
        self.events.local_refused.next = self.segmenter.refused_valid.val();
        self.events.failed.next = self.notices.stop_valid.val();
        self.events.nack.next = self.placement.nack_valid.val();
        self.events.local_bounds.next = !self.send_memory.translated.val().bad_key.any();
        self.events.control_placed.next = self.messages.control_valid.val();
        self.events.read_error.next = self.read_engine.read_error.val();
        self.events.write_error.next = self.write.write_error.val();
        self.events.doorbell.next = self.registers.doorbell_valid.val();
        self.counters.pulses.next = self.events.pulses.val();
        if self.reset_now.q.val() {
            self.ring_given.d.next = 0.into();
        }
    }
}
