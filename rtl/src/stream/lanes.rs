//! Byte lanes of a 512-bit beat: keep some, or take each from one of two beats.

use rust_hdl::prelude::*;

/// A register of a beat: lanes whose `keep` bit is clear become zero. In a block by itself that
/// costs no logic: it is the flip-flops' reset. An engine's flow makes it a LUT a bit.
#[derive(LogicBlock, Default)]
pub struct LaneMask {
    pub clock: Signal<In, Clock>,
    pub data: Signal<In, Bits<512>>,
    pub keep: Signal<In, Bits<64>>,
    /// A cycle later.
    pub masked: Signal<Out, Bits<512>>,
}

impl Logic for LaneMask {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.masked.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "integer lane;
    initial masked = 0;
    always @(posedge clock) begin
      for (lane = 0; lane < 64; lane = lane + 1)
        if (!keep[lane]) masked[8*lane +: 8] <= 8'h0;
        else masked[8*lane +: 8] <= data[8*lane +: 8];
    end
"
            .into(),
        )
    }
}

/// Lanes whose `keep` bit is clear become zero. Combinational: behind a [`LaneMerge`] it costs nothing, since a LUT has room
/// for two beats, `select` and `keep`.
#[derive(LogicBlock, Default)]
pub struct LaneKeep {
    pub data: Signal<In, Bits<512>>,
    pub keep: Signal<In, Bits<64>>,
    pub kept: Signal<Out, Bits<512>>,
}

impl Logic for LaneKeep {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.kept.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!("always @(*) kept = data & {};\n", spread("keep")))
    }
}

/// Lanes whose `select` bit is set come from `chosen`, the others from `other`. Combinational.
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
