//! Block RAM with one write port and one read port.
//!
//! The read is registered and has an enable, so that a stalled pipeline keeps its word; a read of the
//! word that is being written returns the old one, which costs a comparator, two flip-flops and a multiplexer a bit behind the
//! block RAM, unless it is made [`without collisions`](Ram::without_collisions). Starts at zero. The depth is given when the block is made: the low
//! bits of the addresses are used, the rest is ignored, as are bits of gaps where addresses need not differ. Up to
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
    /// With the data: the word was being written when it was read.
    pub met: Signal<Out, Bit>,
    pub write_address: Signal<In, Bits<A>>,
    pub write_data: Signal<In, D>,
    pub write_enable: Signal<In, Bit>,
    /// The bits of an address that are used.
    used: Constant<Bits<32>>,
    collides: Constant<Bit>,
}

impl<D: Synth, const A: usize> Ram<D, A> {
    /// A memory of `1 << depth_bits` words.
    ///
    /// # Panics
    /// When the address ports are too narrow for the depth.
    pub fn new(depth_bits: usize) -> Self {
        Self::with_bits((1 << depth_bits) - 1)
    }

    /// A memory with a word for each value of the address bits in `used`.
    ///
    /// # Panics
    /// When the address ports have no such bits, or none is used.
    pub fn with_bits(used: u64) -> Self {
        assert!(
            used != 0 && A <= 32 && used < 1 << A,
            "Ram: the bits of the address that are used are {used:#x}, of {A}"
        );
        Self {
            clock: Default::default(),
            read_address: Default::default(),
            read_enable: Default::default(),
            read_data: Default::default(),
            met: Default::default(),
            write_address: Default::default(),
            write_data: Default::default(),
            write_enable: Default::default(),
            used: Constant::new(used.into()),
            collides: Constant::new(true),
        }
    }

    /// The same for a block that never uses what it reads of a word in the cycle in which that word is written: the chip
    /// then returns anything, and so does a simulation.
    pub fn without_collisions(self) -> Self {
        Self {
            collides: Constant::new(false),
            ..self
        }
    }
}

/// The bits of `name` that are used, as Verilog, in runs from the highest on.
fn used_bits(name: &str, used: u64) -> String {
    let is_used = |bit: u32| used >> bit & 1 == 1;
    let mut runs = Vec::new();
    let mut bit = 64 - used.leading_zeros();
    while bit > 0 {
        bit -= 1;
        if is_used(bit) {
            let top = bit;
            while bit > 0 && is_used(bit - 1) {
                bit -= 1;
            }
            runs.push(format!("{name}[{top}:{bit}]"));
        }
    }
    match runs.as_slice() {
        [run] => run.clone(),
        _ => format!("{{{}}}", runs.join(", ")),
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
        self.met.connect();
    }

    fn hdl(&self) -> Verilog {
        let used = self.used.val().to_u64();
        let last_word = (1u64 << used.count_ones()) - 1;
        let (read, write) = (
            used_bits("read_address", used),
            used_bits("write_address", used),
        );
        // LUT RAM is read before the register: nothing collides there.
        let apart = !self.collides.val() && last_word >= LUT_WORDS_MAX;
        let style = match (last_word < LUT_WORDS_MAX, apart) {
            (true, _) => "(* ram_style = \"distributed\" *) ",
            (false, true) => "(* no_rw_check *) ",
            (false, false) => "",
        };
        let anything = if apart {
            format!(
                "`ifdef VERILATOR
      if (read_enable && write_enable && {read} == {write}) read_data <= ~mem[{read}];
`endif
"
            )
        } else {
            String::new()
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
      met = 0;
      {clear}
    end
    always @(posedge clock) begin
      if (read_enable) met <= write_enable && {read} == {write};
      if (read_enable) read_data <= mem[{read}];
{anything}      if (write_enable) mem[{write}] <= write_data;
    end
"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_bits_are_named_in_runs() {
        assert_eq!(used_bits("a", 0x7f), "a[6:0]");
        assert_eq!(used_bits("a", 0b1_1101_0011), "{a[8:6], a[4:4], a[1:0]}");
    }
}
