//! The host library: opens a NIC, registers memory, sets up connections, posts work, polls completions.
//!
//! Start with [`verbs`]: an application is written for the trait [`verbs::Nic`] and runs over the engine
//! ([`verbs::EngineNic`]; the way to it is a [`device::Device`], which is a [`bar::Bar`] and [`dma::DmaMemory`]) or, without
//! a card, over sockets ([`udp::UdpNic`]). [`fake`] is a pair of joined engines without wires, for tests.
//!
//! It reads no clock and draws no randomness of its own: time is the device's TIME register, and the seed
//! is the caller's; [`udp::UdpNic`] alone has a clock. It never waits for an engine without calling
//! [`device::Device::idle`], so a simulated device can let its time go on. It knows nothing of how the engine is built or
//! simulated.

pub mod bar;
pub mod device;
pub mod dma;
pub mod fake;
pub mod udp;
pub mod verbs;
