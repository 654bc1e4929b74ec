//! The receive side, from the planes' MACs to the completion of a message.

pub mod classifier;
mod connection_limit;
mod coverage;
mod drop_reason;
mod ethernet_fields;
mod frame_buffer;
mod header_checksum;
mod header_fields;
mod in_flight;
mod integrity_rx;
mod ip_fields;
pub mod message_table;
mod next_hole;
mod parser;
pub mod path_sequence;
pub mod placement;
mod repacker;
mod rx_arbiter;
mod rx_front;
mod rx_port;
mod udp_fields;
mod verdict;

pub use classifier::Classifier;
pub use drop_reason::DropReason;
pub use frame_buffer::{FrameBuffer, FrameInfo};
pub use integrity_rx::IntegrityRx;
pub use message_table::MessageTable;
pub use parser::{ParsedFrame, Parser};
pub use path_sequence::PathSequence;
pub use placement::Placement;
pub use rx_arbiter::RxArbiter;
pub use rx_front::RxFront;
pub use rx_port::{FRAME_BEATS_MAX, PortWord, RxPort};
