//! Byte lanes of a 512-bit beat: keep some, or take each from one of two beats. Combinational.

use rust_hdl::prelude::*;

/// Lanes whose `keep` bit is clear become zero.
#[derive(LogicBlock, Default)]
pub struct LaneMask {
    pub data: Signal<In, Bits<512>>,
    pub keep: Signal<In, Bits<64>>,
    pub masked: Signal<Out, Bits<512>>,
}

impl Logic for LaneMask {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.masked.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!("always @(*) masked = data & {};\n", spread("keep")))
    }
}

/// Lanes whose `select` bit is set come from `chosen`, the others from `other`.
#[derive(LogicBlock, Default)]
pub struct LaneMerge {
    pub chosen: Signal<In, Bits<512>>,
    pub other: Signal<In, Bits<512>>,
    pub select: Signal<In, Bits<64>>,
    pub merged: Signal<Out, Bits<512>>,
}

impl Logic for LaneMerge {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.merged.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "wire [511:0] spread = {};
    always @(*) merged = (chosen & spread) | (other & ~spread);
",
            spread("select")
        ))
    }
}

/// Each bit of a 64-bit name eight times.
fn spread(name: &str) -> String {
    let lanes: Vec<_> = (0..64)
        .rev()
        .map(|lane| format!("{{8{{{name}[{lane}]}}}}"))
        .collect();
    format!("{{{}}}", lanes.join(", "))
}
