//! What each part of an engine is made with: the sizes of its configuration.

use super::Engine;
use crate::csr::{PathTelemetry, Registers};
use crate::dma::{DmaRead, DmaWrite, MemoryTranslation};
use crate::rx::{Classifier, MessageTable, PathSequence, Placement, RxFront};
use crate::stream::SmallFifo;
use crate::top::configuration::Configuration;
use crate::top::notices::Notices;
use crate::tx::ack_generator::AckGenerator;
use crate::tx::ack_hold::AckHold;
use crate::tx::ack_processor::AckProcessor;
use crate::tx::forced_queue::ForcedQueue;
use crate::tx::frame_request::FrameRequest;
use crate::tx::message_completion::MessageCompletion;
use crate::tx::prober::Prober;
use crate::tx::segmenter::Segmenter;
use crate::tx::spray_scheduler::SprayScheduler;
use crate::tx::tx_back::TxBack;
use crate::tx::work_queue::WorkQueue;
use rust_hdl::prelude::*;

impl Engine {
    /// An engine of these sizes.
    pub fn new(configuration: &Configuration) -> Self {
        let connections = configuration.connection_bits;
        let pairs = configuration.pair_bits();
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_axil_awaddr: Default::default(),
            s_axil_awvalid: Default::default(),
            s_axil_awready: Default::default(),
            s_axil_wdata: Default::default(),
            s_axil_wvalid: Default::default(),
            s_axil_wready: Default::default(),
            s_axil_bvalid: Default::default(),
            s_axil_bready: Default::default(),
            s_axil_araddr: Default::default(),
            s_axil_arvalid: Default::default(),
            s_axil_arready: Default::default(),
            s_axil_rdata: Default::default(),
            s_axil_rvalid: Default::default(),
            s_axil_rready: Default::default(),
            m_axi_awaddr: Default::default(),
            m_axi_awlen: Default::default(),
            m_axi_awvalid: Default::default(),
            m_axi_awready: Default::default(),
            m_axi_wdata: Default::default(),
            m_axi_wstrb: Default::default(),
            m_axi_wlast: Default::default(),
            m_axi_wvalid: Default::default(),
            m_axi_wready: Default::default(),
            m_axi_bresp: Default::default(),
            m_axi_bvalid: Default::default(),
            m_axi_bready: Default::default(),
            m_axi_araddr: Default::default(),
            m_axi_arlen: Default::default(),
            m_axi_arvalid: Default::default(),
            m_axi_arready: Default::default(),
            m_axi_rdata: Default::default(),
            m_axi_rresp: Default::default(),
            m_axi_rlast: Default::default(),
            m_axi_rvalid: Default::default(),
            m_axi_rready: Default::default(),
            rx_tdata: Default::default(),
            rx_tkeep: Default::default(),
            rx_tlast: Default::default(),
            rx_tuser: Default::default(),
            rx_tvalid: Default::default(),
            tx_tdata: Default::default(),
            tx_tkeep: Default::default(),
            tx_tlast: Default::default(),
            tx_tvalid: Default::default(),
            tx_tready: Default::default(),
            link_up: Default::default(),
            completion_interrupt: Default::default(),
            plane_last: Constant::new((configuration.planes as u64 - 1).into()),
            port: Default::default(),
            registers: Registers::new(
                osprey_hls::regs::MAP_HASH,
                configuration.capabilities(),
                configuration.capabilities2(),
                configuration.planes,
            ),
            router: Default::default(),
            clears: Default::default(),
            counters: Default::default(),
            events: Default::default(),
            telemetry: PathTelemetry::new(pairs),
            front: RxFront::new(),
            classifier: Classifier::new(connections),
            window: PathSequence::new(pairs),
            receive_memory: MemoryTranslation::new(configuration.key_bits, configuration.page_bits),
            placement: Placement::new(),
            write: DmaWrite::new(),
            messages: MessageTable::new(connections),
            acks: AckGenerator::new(connections + 2),
            ack_hold: AckHold::new(),
            work: WorkQueue::new(connections),
            scheduler: SprayScheduler::new(
                connections,
                configuration.plane_bits(),
                configuration.window_bits,
            ),
            forced: ForcedQueue::new(9, configuration.planes),
            segmenter: Segmenter::new(connections),
            send_memory: MemoryTranslation::new(configuration.key_bits, configuration.page_bits),
            read_engine: DmaRead::new(),
            frames: FrameRequest::new(connections, configuration.plane_bits()),
            back: TxBack::new(configuration.planes),
            processor: AckProcessor::new(
                connections,
                configuration.plane_bits(),
                configuration.window_bits,
            ),
            prober: Prober::new(pairs),
            completion: MessageCompletion::new(connections),
            notices: Notices::new(),
            controls_sent: SmallFifo::new(6),
            reset_now: Default::default(),
            ring_given: Default::default(),
            bus_fault: Default::default(),
            address: Default::default(),
            stop_write: Default::default(),
        }
    }
}
