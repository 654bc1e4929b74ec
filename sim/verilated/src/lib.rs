//! Verilog under Verilator as Rust values, built when a test asks for it.
//!
//! [`Model::build`] takes Verilog text, has Verilator and the C++ compiler make a library of it (once for
//! each text: the result is kept under `target/verilated`), loads it and finds its ports by name. Nothing
//! here knows a block of the engine. Begin with [`Source`] and [`Model`]; [`Record`] packs bundles by
//! field name, [`Stall`] draws random stalls.

mod build;
mod error;
mod fields;
mod header;
mod lint;
mod model;
mod port;
mod registered;
mod shim;
mod stall;
mod tools;
mod value;

pub use error::BuildError;
pub use fields::{Fields, Record};
pub use header::Direction;
pub use lint::{WAIVED, lint};
pub use model::{Model, Source};
pub use port::Port;
pub use stall::Stall;
pub use tools::{Verilator, workspace_root};
pub use value::Value;
