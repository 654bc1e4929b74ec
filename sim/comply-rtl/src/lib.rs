//! The verilated engine as a target of the compliance suite: an engine with its host library at one end, a behavioural
//! endpoint at the other, in the engine's cycles.
//!
//! The suite itself knows no engine; what links this crate gives it [`targets`]. `world.rs` joins the ends and their ways,
//! `engine_end.rs` is the engine as a test sees it, `edge.rs` what happens to frames on their way, `fault.rs` what tests of
//! the suite plant. Two engines against each other are `osprey-sim`'s.

mod edge;
mod engine_end;
mod fault;
mod world;

pub use fault::Fault;
pub use world::open;

use osprey_comply::world::{Engine, Nic, Open, Target};
use osprey_sim::engine::{EngineError, source};

/// The configuration of the engine that is put under test.
const CONFIGURATION: &str = "edge";

/// The engine in both roles: it asks and sends, it accepts and receives.
pub fn targets() -> Vec<Target> {
    let sound = |end, nics: &[Nic], ways, seed| open(end, nics, ways, seed, None);
    [0, 1].map(|end| target(end, sound)).into()
}

/// The engine as one end, opened by a function of a test's own, which may plant a fault.
pub fn target(end: usize, open: Open) -> Target {
    Target::Rtl(Engine { end, open, nearest })
}

/// Whether the Verilog of the engine is there; its text is built at the first test.
pub fn check() -> Result<(), EngineError> {
    source(CONFIGURATION, false).map(|_| ())
}

/// What the engine offers in place of what a test asks for.
fn nearest(nic: Nic) -> Nic {
    Nic {
        planes: nic.planes.min(2),
        paths: nic.paths.min(8),
        window: 64,
        mtu: nic.mtu.clamp(256, 4_096).next_power_of_two(),
        streams: 1,
        slots: 64,
        versions: (1, 1),
        features: 0,
    }
}
