//! Building blocks that know nothing of the transport.

mod fifo;
mod first_set;
mod log2;
mod ram;

pub use fifo::{Fifo, LEVEL_BITS, SmallFifo};
pub use first_set::{FirstSet64, FirstSet256};
pub use log2::Log2;
pub use ram::Ram;

impl<D: rust_hdl::prelude::Synth> Default for Fifo<D> {
    fn default() -> Self {
        Self::new(9)
    }
}

impl<D: rust_hdl::prelude::Synth> Default for SmallFifo<D> {
    fn default() -> Self {
        Self::new(4)
    }
}
