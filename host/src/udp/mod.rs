//! The behavioural endpoint over UDP sockets: a NIC in software, between processes and machines.
//!
//! Every local address is a plane; the endpoint itself is [`osprey_hls::endpoint`], unchanged. Here are its clock, its
//! memory ([`Buffers`]), its ports (`sockets.rs`: one UDP source port a path, segmentation offload, ECN) and the loop that
//! joins them ([`UdpNic`]). One thread serves all planes. Applications use it by [`crate::verbs::Nic`] (`verbs.rs`), as they
//! use the engine. What the engine does in hardware this does in software, packet for packet, so both can talk to each
//! other's kind; `docs/transport.md` T-8 says how datagrams differ from frames.

mod address;
mod buffers;
pub mod codec;
mod edge;
mod nic;
mod settings;
mod sockets;
mod verbs;

pub use address::{plane_address, socket_address};
pub use buffers::Buffers;
pub use edge::{Decide, Direction, Fate, flip};
pub use nic::{UdpError, UdpNic};
pub use settings::UdpSettings;
