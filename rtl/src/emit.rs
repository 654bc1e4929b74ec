//! From a block to Verilog text: checked, with its modules named after the block.

use rust_hdl::prelude::*;

/// The Verilog of `block`; its top module is called `name`, the inner ones `name__...`.
///
/// # Panics
/// When rust-hdl's structural checks fail (an open signal, a loop, a written input): an error of the
/// block's author, found by the block's own test.
pub fn verilog<B: Block>(name: &str, mut block: B) -> String {
    block.connect_all();
    generate_verilog(&block)
        .replace("top$", &format!("{name}__"))
        .replace("module top(", &format!("module {name}("))
}
