//! What the lint accepts and what it refuses.

use osprey_verilated::{Source, lint};

fn refusal(text: &str) -> String {
    lint(&Source::new("top", text))
        .expect_err("the text is faulty")
        .to_string()
}

#[test]
fn a_register_is_clean() {
    let text = "module top(clock,d,q); input wire clock; input wire [7:0] d; output reg [7:0] q;
        always @(posedge clock) q <= d + 32'h1; endmodule\n";
    lint(&Source::new("top", text)).unwrap();
}

#[test]
fn a_latch_is_refused() {
    let text = "module top(e,d,q); input wire e; input wire d; output reg q; always @(*) if (e) q = d; endmodule\n";
    assert!(refusal(text).contains("LATCH"));
}

#[test]
fn an_undriven_wire_is_refused() {
    let text =
        "module top(a,y); input wire a; output wire y; wire b; assign y = a & b; endmodule\n";
    let reason = refusal(text);
    assert!(
        reason.contains("UNDRIVEN") || reason.contains("no driver"),
        "{reason}"
    );
}

#[test]
fn a_loop_is_refused() {
    let text = "module top(a,y); input wire a; output wire y; wire b; assign b = a ^ y; assign y = ~b; endmodule\n";
    let reason = refusal(text);
    assert!(
        reason.contains("UNOPTFLAT") || reason.contains("logic loop"),
        "{reason}"
    );
}
