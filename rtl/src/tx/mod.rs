//! The transmit side, from the doorbell to the planes, and what the peer's ACKs say of it.

pub mod ack_generator;
pub mod ack_processor;
pub mod connection_turn;
pub mod forced_queue;
pub mod frame_request;
pub mod message_completion;
pub mod path_choice;
pub mod prober;
pub mod schedule_commit;
pub mod segmenter;
pub mod spray_scheduler;
pub mod transmit_credit;
pub mod work_queue;
