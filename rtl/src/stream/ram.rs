//! Block RAM with one write port and one read port.
//!
//! The read is registered and has an enable, so that a stalled pipeline keeps its word; a read of the
//! word that is being written returns the old one. Starts at zero. The depth is given when the block is made: the low
//! bits of the addresses are used, the rest is ignored, as are bits of a gap where addresses never differ. Up to
//! 64 words lie in LUT RAM.

use rust_hdl::prelude::*;

/// Memories of fewer words are set to zero in the text itself.
const INITIALISED_WORDS_MAX: u64 = 1024;

/// A block RAM of 512 words would be mostly empty.
const LUT_WORDS_MAX: u64 = 64;

/// `1 << depth_bits` words of type `D`; `A` is the width of the address ports.
#[derive(LogicBlock)]
pub struct Ram<D: Synth, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub read_address: Signal<In, Bits<A>>,
    pub read_enable: Signal<In, Bit>,
    pub read_data: Signal<Out, D>,
    pub write_address: Signal<In, Bits<A>>,
    pub write_data: Signal<In, D>,
    pub write_enable: Signal<In, Bit>,
    depth_bits: Constant<Bits<8>>,
    gap_from: Constant<Bits<8>>,
    gap_bits: Constant<Bits<8>>,
}

impl<D: Synth, const A: usize> Ram<D, A> {
    /// A memory of `1 << depth_bits` words.
    ///
    /// # Panics
    /// When the address ports are too narrow for the depth.
    pub fn new(depth_bits: usize) -> Self {
        Self::with_gap(depth_bits, 0, 0)
    }

    /// A memory of `1 << depth_bits` words whose addresses pass over `gap_bits` bits from bit `gap_from` on.
    ///
    /// # Panics
    /// When the address ports are too narrow for depth and gap, or nothing is left above the gap.
    pub fn with_gap(depth_bits: usize, gap_from: usize, gap_bits: usize) -> Self {
        assert!(
            depth_bits >= 1 && depth_bits + gap_bits <= A && gap_from < depth_bits,
            "Ram: depth_bits is {depth_bits} with a gap of {gap_bits} from {gap_from} on, for {A} bits of address"
        );
        Self {
            clock: Default::default(),
            read_address: Default::default(),
            read_enable: Default::default(),
            read_data: Default::default(),
            write_address: Default::default(),
            write_data: Default::default(),
            write_enable: Default::default(),
            depth_bits: Constant::new((depth_bits as u64).into()),
            gap_from: Constant::new((gap_from as u64).into()),
            gap_bits: Constant::new((gap_bits as u64).into()),
        }
    }
}

impl<D: Synth, const A: usize> Default for Ram<D, A> {
    fn default() -> Self {
        Self::new(A)
    }
}

impl<D: Synth, const A: usize> Logic for Ram<D, A> {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        let depth_bits = self.depth_bits.val().to_u64();
        let last_word = (1u64 << depth_bits) - 1;
        let [from, gap] = [&self.gap_from, &self.gap_bits].map(|bits| bits.val().to_u64());
        let top = depth_bits + gap - 1;
        let at = |name: &str| match gap {
            0 => format!("{name}[{top}:0]"),
            _ => format!("{{{name}[{top}:{}], {name}[{}:0]}}", from + gap, from - 1),
        };
        let style = if last_word < LUT_WORDS_MAX {
            "(* ram_style = \"distributed\" *) "
        } else {
            ""
        };
        let data_top = D::BITS - 1;
        // Tools that unroll the loop take minutes for a large memory; those start at zero in the chip and in
        // simulation anyway, and hold nothing that is looked at before it was cleared or written.
        let clear = if last_word < INITIALISED_WORDS_MAX {
            format!("for (i = 0; i <= {last_word}; i = i + 1) mem[i] = 0;")
        } else {
            String::new()
        };
        Verilog::Custom(format!(
            "{style}reg [{data_top}:0] mem [0:{last_word}];
    integer i;
    initial begin
      i = 0;
      read_data = 0;
      {clear}
    end
    always @(posedge clock) begin
      if (read_enable) read_data <= mem[{}];
      if (write_enable) mem[{}] <= write_data;
    end
",
            at("read_address"),
            at("write_address")
        ))
    }
}
