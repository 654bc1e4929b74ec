//! Verilog under Verilator as Rust values.
