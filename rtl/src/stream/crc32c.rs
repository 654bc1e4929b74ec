//! CRC-32C over 512-bit beats as constant XOR networks.
//!
//! Everything is linear when the state starts at 0: a beat's contribution does not depend on the state ([`CrcFold`]), the
//! state only passes through one fixed matrix a beat ([`CrcStep`]), and zero bytes behind a message can be taken back
//! by the inverse ([`CrcUnwind`]).

use super::xor_network::xor_network;
use rust_hdl::prelude::*;

const POLYNOMIAL: u32 = 0x82f6_3b78;

/// Bits that are summed in the first of two cycles: a beat in four parts.
const CHUNK: usize = 128;
const CHUNKS: usize = 512 / CHUNK;

/// The state after one zero byte.
pub(crate) fn advance(state: u32, bytes: usize) -> u32 {
    (0..8 * bytes).fold(state, |state, _| {
        if state & 1 == 1 {
            state >> 1 ^ POLYNOMIAL
        } else {
            state >> 1
        }
    })
}

/// The state before as many zero bytes.
pub(crate) fn unwind(state: u32, bytes: usize) -> u32 {
    // The polynomial's top bit is set, so the bit that was shifted out shows in bit 31.
    (0..8 * bytes).fold(state, |state, _| {
        if state >> 31 == 1 {
            (state ^ POLYNOMIAL) << 1 | 1
        } else {
            state << 1
        }
    })
}

/// State from 0 over a message.
#[cfg(test)]
pub(crate) fn state_of(message: &[u8], start: u32) -> u32 {
    message
        .iter()
        .fold(start, |state, &byte| advance(state ^ u32::from(byte), 1))
}

/// What a linear function makes of each bit of a value of `width` bits alone.
fn columns(width: usize, function: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..width).map(|bit| function(1 << bit)).collect()
}

/// The contribution of each beat, two cycles after it.
#[derive(LogicBlock, Default)]
pub struct CrcFold {
    pub clock: Signal<In, Clock>,
    pub data: Signal<In, Bits<512>>,
    pub valid: Signal<In, Bit>,
    pub contribution: Signal<Out, Bits<32>>,
}

impl Logic for CrcFold {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.contribution.connect();
    }

    fn hdl(&self) -> Verilog {
        let mut text = String::from("reg valid_later;\n");
        let mut steps = String::new();
        for chunk in 0..CHUNKS {
            let low = CHUNK * chunk;
            let alone = |bit: usize| advance(1 << (bit % 8), 64 - (low + bit) / 8);
            let columns: Vec<u32> = (0..CHUNK).map(alone).collect();
            text += &format!(
                "    reg [31:0] part{chunk};\n    wire [{}:0] chunk{chunk} = data[{}:{low}];\n",
                CHUNK - 1,
                low + CHUNK - 1
            );
            text += &xor_network(&format!("sum{chunk}"), &format!("chunk{chunk}"), &columns);
            steps += &format!("        part{chunk} <= sum{chunk};\n");
        }
        let sum: Vec<_> = (0..CHUNKS).map(|chunk| format!("part{chunk}")).collect();
        text += &format!(
            "    always @(posedge clock) begin
      valid_later <= valid;
      if (valid) begin
{steps}      end
      if (valid_later) contribution <= {};
    end
",
            sum.join(" ^ ")
        );
        Verilog::Custom(text)
    }
}

/// The state behind a beat: from the state before it, unless it is a message's first, and its contribution.
/// Combinational.
#[derive(LogicBlock, Default)]
pub struct CrcStep {
    pub previous: Signal<In, Bits<32>>,
    pub first: Signal<In, Bit>,
    pub contribution: Signal<In, Bits<32>>,
    pub after: Signal<Out, Bits<32>>,
}

impl Logic for CrcStep {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.after.connect();
    }

    fn hdl(&self) -> Verilog {
        let moved = xor_network("moved", "previous", &columns(32, |bit| advance(bit, 64)));
        Verilog::Custom(format!(
            "{moved}    always @(*) after = contribution ^ (first ? 32'h0 : moved);
"
        ))
    }
}

/// Takes a number of zero bytes back if `enable`. Combinational.
#[derive(LogicBlock)]
pub struct CrcUnwind {
    pub previous: Signal<In, Bits<32>>,
    pub enable: Signal<In, Bit>,
    pub after: Signal<Out, Bits<32>>,
    bytes: Constant<Bits<8>>,
}

impl CrcUnwind {
    /// Takes this many zero bytes back.
    pub fn new(bytes: usize) -> Self {
        Self {
            previous: Default::default(),
            enable: Default::default(),
            after: Default::default(),
            bytes: Constant::new((bytes as u64).into()),
        }
    }
}

impl Default for CrcUnwind {
    fn default() -> Self {
        Self::new(1)
    }
}

impl Logic for CrcUnwind {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.after.connect();
    }

    fn hdl(&self) -> Verilog {
        let bytes = self.bytes.val().to_u64() as usize;
        let unwound = xor_network(
            "unwound",
            "previous",
            &columns(32, |bit| unwind(bit, bytes)),
        );
        Verilog::Custom(format!(
            "{unwound}    always @(*) after = enable ? unwound : previous;\n"
        ))
    }
}

/// The state behind a message with its right CRC and then zeros to the end of the beat, by the beat's valid bytes
/// (64 written as 0). Combinational.
#[derive(LogicBlock, Default)]
pub struct CrcResidue {
    pub bytes: Signal<In, Bits<6>>,
    pub state: Signal<Out, Bits<32>>,
}

impl Logic for CrcResidue {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.state.connect();
    }

    fn hdl(&self) -> Verilog {
        let mut cases = String::new();
        for bytes in 0..64 {
            let zeros = (64 - bytes) % 64;
            cases += &format!("        6'd{bytes}: state = 32'h{:08x};\n", residue(zeros));
        }
        Verilog::Custom(format!("always @(*) case (bytes)\n{cases}      endcase\n"))
    }
}

fn residue(zeros: usize) -> u32 {
    advance(u32::MAX, 4 + zeros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_polynomial_gives_the_check_value() {
        assert_eq!(!state_of(b"123456789", u32::MAX), 0xe306_9283);
    }

    #[test]
    fn zeros_can_be_taken_back() {
        for bytes in [1, 2, 4, 8, 16, 32] {
            assert_eq!(unwind(advance(0xdead_beef, bytes), bytes), 0xdead_beef);
        }
    }

    #[test]
    fn a_right_crc_leaves_the_residue() {
        let mut message = b"a message of some bytes".to_vec();
        let state = state_of(&message, 0);
        message.extend((!state).to_le_bytes());
        assert_eq!(state_of(&message, 0), residue(0));
        message.extend([0; 5]);
        assert_eq!(state_of(&message, 0), residue(5));
    }
}
