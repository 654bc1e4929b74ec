//! The transmit side, from the doorbell to the planes, and what the peer's ACKs say of it.

pub mod ack_generator;
pub mod ack_hold;
pub mod ack_processor;
pub mod ack_unpack;
pub mod connection_turn;
pub mod forced_queue;
pub mod frame_assembler;
pub mod frame_request;
pub mod header_builder;
pub mod integrity_tx;
pub mod message_completion;
pub mod path_choice;
pub mod path_limit;
pub mod path_words;
pub mod prober;
pub mod schedule_commit;
pub mod segmenter;
pub mod spray_scheduler;
pub mod transmit_credit;
pub mod tx_back;
pub mod tx_port;
pub mod work_queue;

pub use header_builder::FrameRequest;
pub use tx_back::TxBack;
