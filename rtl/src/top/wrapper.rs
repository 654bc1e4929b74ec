//! The engine behind plain port names: what board shells, simulators and test benches attach to.

use crate::emit;
use crate::top::configuration::Configuration;
use crate::top::engine::Engine;
use std::fmt::Write as _;

/// The Verilog of a block between registers, its top called `name`: what synthesis measures, so that a
/// block's own paths count from register to register.
pub fn between_registers<B: rust_hdl::prelude::Block>(name: &str, block: B) -> String {
    let core = format!("{name}_core");
    let mut text = emit::verilog(&core, block);
    let ports = ports(&text, &core);
    let mut list = vec!["  input wire clock".to_owned()];
    let (mut body, mut pins) = (String::new(), Vec::new());
    for port in &ports {
        let (flat, width) = (port.inside.replace('$', "_"), port.width - 1);
        if port.inside == "clock" {
            pins.push("    .clock(clock)".to_owned());
            continue;
        }
        pins.push(format!("    .{}({flat}_inner)", port.inside));
        if port.output {
            list.push(format!("  output reg [{width}:0] {flat}"));
            body += &format!(
                "  wire [{width}:0] {flat}_inner;\n  always @(posedge clock) {flat} <= {flat}_inner;\n"
            );
        } else {
            list.push(format!("  input wire [{width}:0] {flat}"));
            body += &format!(
                "  reg [{width}:0] {flat}_inner;\n  always @(posedge clock) {flat}_inner <= {flat};\n"
            );
        }
    }
    writeln!(
        text,
        "\nmodule {name}(\n{}\n);\n{body}  {core} core(\n{}\n  );\nendmodule",
        list.join(",\n"),
        pins.join(",\n")
    )
    .expect("a string can be written to");
    text
}

/// The Verilog of an engine and of `osprey_engine_<configuration>_chip`, which needs four pins: what place and route
/// measures, since no chip has thousands. A chain of flip-flops drives every input but clock and reset; the outputs are folded
/// four to one, a register a step.
pub fn on_four_pins(configuration: &Configuration) -> String {
    let mut text = verilog(configuration);
    let name = format!("osprey_engine_{}", configuration.name);
    let (mut inputs, mut outputs) = (0, 0);
    let mut pins = String::new();
    for port in ports(&text, &name) {
        let (bus, at) = match (port.inside.as_str(), port.output) {
            ("clock" | "reset", _) => continue,
            (_, true) => ("outputs", &mut outputs),
            (_, false) => ("chain", &mut inputs),
        };
        let end = *at + port.width;
        writeln!(pins, "    .{}({bus}[{}:{at}]),", port.inside, end - 1)
            .expect("a string can be written to");
        *at = end;
    }
    let (fold, last) = folded(outputs);
    writeln!(
        text,
        "
module {name}_chip(
  input wire clock,
  input wire reset,
  input wire in,
  output wire out
);
  reg reset_in;
  reg [{0}:0] chain;
  wire [{1}:0] outputs;
  wire [{1}:0] fold0 = outputs;
  always @(posedge clock) begin
    reset_in <= reset;
    chain <= {{chain[{2}:0], in}};
  end
{fold}  assign out = fold{last};
  {name} engine(
{pins}    .clock(clock),
    .reset(reset_in)
  );
endmodule",
        inputs - 1,
        outputs - 1,
        inputs - 2,
    )
    .expect("a string can be written to");
    text
}

/// Registers `fold1` and on, each a quarter of the one before, down to one bit; the last one's number.
fn folded(mut width: usize) -> (String, usize) {
    let (mut text, mut step) = (String::new(), 0);
    while width > 1 {
        let next = width.div_ceil(4);
        step += 1;
        let groups = (0..next).rev().map(|group| {
            let top = (4 * group + 3).min(width - 1);
            format!("^fold{}[{top}:{}]", step - 1, 4 * group)
        });
        let groups: Vec<_> = groups.collect();
        text += &format!(
            "  reg [{}:0] fold{step};\n  always @(posedge clock) fold{step} <= {{{}}};\n",
            next - 1,
            groups.join(", ")
        );
        width = next;
    }
    (text, step)
}

/// A port of the wrapper: direction, width in bits, name outside, name inside.
struct Port {
    output: bool,
    width: usize,
    outside: String,
    inside: String,
}

/// The Verilog of an engine and its wrapper `osprey_engine_<configuration>`.
pub fn verilog(configuration: &Configuration) -> String {
    let core = format!("osprey_core_{}", configuration.name);
    let text = emit::verilog(&core, Engine::new(configuration));
    let ports = ports(&text, &core);
    let mut out = text;
    let name = format!("osprey_engine_{}", configuration.name);
    let shown: Vec<_> = ports
        .iter()
        .filter(|port| plane_of(&port.inside).is_none_or(|plane| plane < configuration.planes))
        .collect();
    let declared: Vec<_> = shown.iter().map(|port| declaration(port)).collect();
    let extra = [
        "  input wire [3:0] s_axil_wstrb",
        "  output wire [1:0] s_axil_bresp",
        "  output wire [1:0] s_axil_rresp",
    ]
    .map(str::to_owned);
    let all: Vec<_> = declared.into_iter().chain(extra).collect();
    let idle: String = ports
        .iter()
        .filter(|port| {
            port.output && plane_of(&port.inside).is_some_and(|plane| plane >= configuration.planes)
        })
        .map(|port| format!("  wire [{}:0] idle_{};\n", port.width - 1, port.outside))
        .collect();
    let connected: Vec<_> = ports
        .iter()
        .map(|port| connection(port, configuration.planes))
        .collect();
    writeln!(
        out,
        "\nmodule {name}(\n{}\n);\n  assign s_axil_bresp = 2'b00;\n  assign s_axil_rresp = 2'b00;\n{idle}  {core} core(\n{}\n  );\nendmodule",
        all.join(",\n"),
        connected.join(",\n")
    )
    .expect("a string can be written to");
    out
}

/// The plane of a stream port, if it is one: `rx_tdata$2` is of plane 2.
fn plane_of(inside: &str) -> Option<usize> {
    inside
        .split_once('$')
        .and_then(|(_, plane)| plane.parse().ok())
}

/// The core's ports, from the declarations of its module.
fn ports(text: &str, core: &str) -> Vec<Port> {
    let start = text
        .find(&format!("module {core}("))
        .expect("the core's module is in the text");
    text[start..]
        .lines()
        .skip(1)
        .map(str::trim)
        .take_while(|line| !line.starts_with("endmodule"))
        .filter_map(port)
        .collect()
}

/// `input wire  [511:0] rx_tdata$0;`
fn port(line: &str) -> Option<Port> {
    let output = line.starts_with("output ");
    if !output && !line.starts_with("input ") {
        return None;
    }
    let mut words = line.trim_end_matches([';', ',']).split_whitespace().skip(2);
    let first = words.next()?;
    let (width, inside) = match first
        .strip_prefix('[')
        .and_then(|range| range.strip_suffix(":0]"))
    {
        Some(top) => (top.parse::<usize>().ok()? + 1, words.next()?),
        None => (1, first),
    };
    let outside = match inside.split_once('$') {
        Some((name, plane)) => name.replacen('_', &format!("{plane}_"), 1),
        None => inside.to_owned(),
    };
    Some(Port {
        output,
        width,
        outside,
        inside: inside.to_owned(),
    })
}

fn declaration(port: &Port) -> String {
    let direction = if port.output {
        "output wire"
    } else {
        "input wire"
    };
    if port.width == 1 {
        format!("  {direction} {}", port.outside)
    } else {
        format!("  {direction} [{}:0] {}", port.width - 1, port.outside)
    }
}

/// A plane that the configuration has not is idle: nothing comes in, and what would go out is taken.
fn connection(port: &Port, planes: usize) -> String {
    let outside = if plane_of(&port.inside).is_none_or(|plane| plane < planes) {
        port.outside.clone()
    } else if port.output {
        format!("idle_{}", port.outside)
    } else if port.outside.ends_with("tready") {
        "1'b1".to_owned()
    } else {
        format!("{}'d0", port.width)
    };
    format!("    .{}({outside})", port.inside)
}
