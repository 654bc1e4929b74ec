//! From a block to Verilog text: checked, with its modules named after the block.

use crate::guard;
use rust_hdl::prelude::*;

/// The Verilog of `block`; its top module is called `name`, the inner ones `name__...`.
///
/// # Panics
/// When rust-hdl's structural checks fail (an open signal, a loop, a written input): an error of the
/// block's author, found by the block's own test. So too when [`guard`] finds an expression with two meanings.
pub fn verilog<B: Block>(name: &str, mut block: B) -> String {
    block.connect_all();
    let violations: Vec<_> = guard::check(&block)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        violations.is_empty(),
        "{name}: Rust and Verilog would differ:\n{}",
        violations.join("\n")
    );
    generate_verilog(&block)
        .replace("top$", &format!("{name}__"))
        .replace("module top(", &format!("module {name}("))
}
