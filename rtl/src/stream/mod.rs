//! Building blocks that know nothing of the transport.

mod fifo;
mod ram;

pub use fifo::{Fifo, LEVEL_BITS, SmallFifo};
pub use ram::Ram;
