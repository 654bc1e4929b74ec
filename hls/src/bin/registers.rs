//! Prints the register reference: `cargo run -p osprey-hls --bin registers > docs/registers.md`.

fn main() {
    print!("{}", osprey_hls::regs::reference());
}
