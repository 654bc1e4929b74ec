//! The engine: wiring only.

pub mod configuration;
pub mod engine;
pub mod events;
pub mod notices;
pub mod wrapper;
