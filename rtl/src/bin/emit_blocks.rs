//! Writes the Verilog of every block of the `edge` engine, each between registers, and of the whole engine on four pins:
//! `emit_blocks DIRECTORY`.

use osprey_rtl::csr::{
    clear_sequencer::ClearSequencer, counters::Counters, csr_port::CsrPort,
    path_telemetry::PathTelemetry, registers::Registers, table_router::TableRouter,
};
use osprey_rtl::dma::{DmaRead, DmaWrite, memory_translation::MemoryTranslation};
use osprey_rtl::rx::classifier::Classifier;
use osprey_rtl::rx::message_table::MessageTable;
use osprey_rtl::rx::path_sequence::{PathSequence, PathSequence256};
use osprey_rtl::rx::placement::Placement;
use osprey_rtl::rx::{FrameBuffer, IntegrityRx, Parser, RxArbiter, RxPort};
use osprey_rtl::stream::Aligner;
use osprey_rtl::top::configuration::Configuration;
use osprey_rtl::top::events::Events;
use osprey_rtl::top::notices::Notices;
use osprey_rtl::top::wrapper::{between_registers, on_four_pins};
use osprey_rtl::tx::ack_generator::AckGenerator;
use osprey_rtl::tx::ack_hold::AckHold;
use osprey_rtl::tx::ack_processor::AckProcessor;
use osprey_rtl::tx::forced_queue::ForcedQueue;
use osprey_rtl::tx::frame_assembler::FrameAssembler;
use osprey_rtl::tx::frame_request::FrameRequest;
use osprey_rtl::tx::header_builder::HeaderBuilder;
use osprey_rtl::tx::integrity_tx::IntegrityTx;
use osprey_rtl::tx::message_completion::MessageCompletion;
use osprey_rtl::tx::prober::Prober;
use osprey_rtl::tx::segmenter::Segmenter;
use osprey_rtl::tx::spray_scheduler::SprayScheduler;
use osprey_rtl::tx::tx_port::TxPort;
use osprey_rtl::tx::work_queue::WorkQueue;
use std::path::Path;
use std::process::ExitCode;

/// A block is one large value while it is built.
const STACK_BYTES: usize = 1 << 30;

fn main() -> ExitCode {
    let Some(directory) = std::env::args().nth(1) else {
        eprintln!("error: which folder? emit_blocks DIRECTORY");
        return ExitCode::FAILURE;
    };
    let worker = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || write_all(Path::new(&directory)));
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        Ok(Ok(Err(error))) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::FAILURE,
    }
}

fn write_all(directory: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let edge = Configuration::EDGE;
    let (connections, pairs) = (edge.connection_bits, edge.pair_bits());
    let write =
        |name: &str, text: String| std::fs::write(directory.join(format!("{name}.v")), text);
    macro_rules! blocks {
        ($($name:ident = $block:expr;)*) => {
            $(write(stringify!($name), between_registers(stringify!($name), $block))?;)*
        };
    }
    blocks! {
        rx_port = RxPort::default();
        rx_arbiter = RxArbiter::default();
        parser = Parser::default();
        integrity_rx = IntegrityRx::default();
        frame_buffer = FrameBuffer::new();
        classifier = Classifier::new(connections);
        path_sequence = PathSequence::new(pairs);
        path_sequence_256 = PathSequence256::new(pairs);
        memory_translation = MemoryTranslation::new(edge.key_bits, edge.page_bits);
        placement = Placement::new();
        aligner = Aligner::default();
        dma_write = DmaWrite::new();
        dma_read = DmaRead::new();
        message_table = MessageTable::new(connections);
        ack_generator = AckGenerator::new(connections + 2);
        ack_hold = AckHold::new();
        work_queue = WorkQueue::new(connections);
        spray_scheduler = SprayScheduler::new(connections, edge.plane_bits(), edge.window_bits);
        forced_queue = ForcedQueue::new(9, edge.planes);
        segmenter = Segmenter::new(connections);
        frame_request = FrameRequest::new(connections, edge.plane_bits());
        header_builder = HeaderBuilder::new();
        frame_assembler = FrameAssembler::default();
        integrity_tx = IntegrityTx::new();
        tx_port = TxPort::default();
        ack_processor = AckProcessor::new(connections, edge.plane_bits(), edge.window_bits);
        prober = Prober::new(pairs);
        message_completion = MessageCompletion::new(connections);
        registers = Registers::new(0, edge.capabilities(), edge.capabilities2(), edge.planes);
        clear_sequencer = ClearSequencer::default();
        counters = Counters::default();
        path_telemetry = PathTelemetry::new(pairs);
        csr_port = CsrPort::default();
        table_router = TableRouter::default();
        events = Events::default();
        notices = Notices::new();
    }
    write("osprey_engine_edge", on_four_pins(&edge))
}
