//! The host library: opens an engine, registers memory, sets up connections, posts work, polls completions.
//!
//! It reads no clock and draws no randomness of its own: time is the device's TIME register, and the seed
//! is the caller's. It never waits without calling [`device::Device::idle`], so a simulated device can let
//! its time go on. It knows nothing of how the engine is built or simulated.
//!
//! Start with [`verbs::Context`]; the way to a device is [`device::Device`], which is a [`bar::Bar`] and
//! [`dma::DmaMemory`]. Without a device, [`udp::UdpNic`] is a NIC in software; it alone reads a clock. [`fake`] is a pair of joined engines without wires, for tests.

pub mod bar;
pub mod device;
pub mod dma;
pub mod fake;
pub mod udp;
pub mod verbs;
