//! Host memory: sparse pages whose neighbours are not neighbours on the bus, and the AXI slave before it.
//!
//! [`HostMemory`] is the memory itself, [`AxiMemory`] answers the engine's bursts from it.

mod port;
mod store;

pub use port::{AxiMemory, Timing};
pub use store::HostMemory;
