//! Synchronous first-word-fall-through FIFOs over one memory.
//!
//! [`Fifo`] keeps its words in block RAM and registers them on the way out, so `read_data` is fast but a word
//! needs three cycles from `write_enable` to `read_valid`. [`SmallFifo`] keeps them in LUT RAM: one cycle, and
//! `read_data` comes out of the memory itself. Both move one word a cycle in and out. A write while `full` is
//! ignored; who must not lose words watches `level`, which counts every word inside.

use rust_hdl::prelude::*;

/// Width of `level`.
pub const LEVEL_BITS: usize = 16;

/// Up to `1 << depth_bits` words of type `D` in block RAM, 512 by default. Latency 3, throughput 1 word a cycle.
#[derive(LogicBlock)]
pub struct Fifo<D: Synth> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub write_data: Signal<In, D>,
    pub write_enable: Signal<In, Bit>,
    pub full: Signal<Out, Bit>,
    pub read_data: Signal<Out, D>,
    pub read_valid: Signal<Out, Bit>,
    pub read_ready: Signal<In, Bit>,
    pub level: Signal<Out, Bits<LEVEL_BITS>>,
    depth_bits: Constant<Bits<8>>,
}

/// Up to `1 << depth_bits` words of type `D` in LUT RAM, 64 by default. Latency 1, throughput 1 word a cycle.
#[derive(LogicBlock)]
pub struct SmallFifo<D: Synth> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub write_data: Signal<In, D>,
    pub write_enable: Signal<In, Bit>,
    pub full: Signal<Out, Bit>,
    pub read_data: Signal<Out, D>,
    pub read_valid: Signal<Out, Bit>,
    pub read_ready: Signal<In, Bit>,
    pub level: Signal<Out, Bits<LEVEL_BITS>>,
    depth_bits: Constant<Bits<8>>,
}

macro_rules! fifo {
    ($name:ident, $memory:ident, $default_bits:literal) => {
        impl<D: Synth> $name<D> {
            /// A FIFO of `1 << depth_bits` words.
            ///
            /// # Panics
            /// When the depth does not lie in 2 ..= 16384 words.
            pub fn new(depth_bits: usize) -> Self {
                assert!(
                    (1..LEVEL_BITS - 1).contains(&depth_bits),
                    concat!(stringify!($name), ": depth_bits is {}, must be 1..=14"),
                    depth_bits
                );
                Self::with_depth_bits(depth_bits)
            }

            /// In place of a FIFO that is never written: empty, and no memory.
            pub fn absent() -> Self {
                Self::with_depth_bits(0)
            }

            fn with_depth_bits(depth_bits: usize) -> Self {
                Self {
                    clock: Default::default(),
                    reset: Default::default(),
                    write_data: Default::default(),
                    write_enable: Default::default(),
                    full: Default::default(),
                    read_data: Default::default(),
                    read_valid: Default::default(),
                    read_ready: Default::default(),
                    level: Default::default(),
                    depth_bits: Constant::new((depth_bits as u64).into()),
                }
            }
        }

        impl<D: Synth> Default for $name<D> {
            fn default() -> Self {
                Self::new($default_bits)
            }
        }

        impl<D: Synth> Logic for $name<D> {
            fn update(&mut self) {}

            fn connect(&mut self) {
                self.full.connect();
                self.read_data.connect();
                self.read_valid.connect();
                self.level.connect();
            }

            fn hdl(&self) -> Verilog {
                Verilog::Custom(match self.depth_bits.val().to_u64() {
                    0 => ABSENT.to_owned(),
                    depth_bits => $memory(D::BITS, depth_bits),
                })
            }
        }
    };
}

fifo!(Fifo, block_memory, 9);
fifo!(SmallFifo, lut_memory, 6);

/// A block that waits for nothing would never run: each output is 0 by way of an input.
const ABSENT: &str = "always @(*) begin
      full = 1'b0 & write_enable;
      read_valid = 1'b0 & read_ready;
      read_data = 1'b0 ? write_data : 0;
      level = {15'd0, 1'b0 & write_enable};
    end
";

/// Memory, output register of the memory (`fetched`), output register proper. Reader and writer never meet in
/// one word: a full memory is not written.
fn block_memory(width: usize, depth_bits: u64) -> String {
    let (top, pointer, last) = (width - 1, depth_bits - 1, (1u64 << depth_bits) - 1);
    let depth = 1u64 << depth_bits;
    format!(
        "(* no_rw_check *) reg [{top}:0] mem [0:{last}];
    reg [{pointer}:0] write_at;
    reg [{pointer}:0] read_at;
    reg [{depth_bits}:0] waiting;
    reg [{top}:0] fetched;
    reg fetched_valid;
    reg [{depth_bits}:0] held;
    always @(*) level = {{{spare}'d0, held}};
    wire push = write_enable && !full;
    wire pop = read_valid && read_ready;
    wire move = fetched_valid && (!read_valid || read_ready);
    wire fetch = (waiting != 0) && (!fetched_valid || move);
    initial begin
      write_at = 0; read_at = 0; waiting = 0; fetched_valid = 0; fetched = 0;
      read_valid = 0; read_data = 0; held = 0; full = 0;
    end
    always @(posedge clock) begin
      if (push) mem[write_at] <= write_data;
      if (fetch) fetched <= mem[read_at];
      if (move) read_data <= fetched;
      if (push) write_at <= write_at + 1'b1;
      if (fetch) read_at <= read_at + 1'b1;
      if (push != fetch) waiting <= waiting + {{{{{depth_bits}{{fetch}}}}, 1'b1}};
      fetched_valid <= fetch || (fetched_valid && !move);
      read_valid <= move || (read_valid && !read_ready);
      if (push != pop) held <= held + {{{{{depth_bits}{{pop}}}}, 1'b1}};
      if (push && !pop) begin
        full <= held == {almost};
      end else if (!push && pop) begin
        full <= 1'b0;
      end
      if (reset) begin
        write_at <= 0; read_at <= 0; waiting <= 0; fetched_valid <= 0;
        read_valid <= 0; held <= 0; full <= 0;
      end
    end
",
        almost = depth - 1,
        spare = LEVEL_BITS as u64 - 1 - depth_bits,
    )
}

fn lut_memory(width: usize, depth_bits: u64) -> String {
    let (top, pointer, last) = (width - 1, depth_bits - 1, (1u64 << depth_bits) - 1);
    let depth = 1u64 << depth_bits;
    format!(
        "(* ram_style = \"distributed\" *) reg [{top}:0] mem [0:{last}];
    reg [{pointer}:0] write_at;
    reg [{pointer}:0] read_at;
    reg [{depth_bits}:0] held;
    wire push = write_enable && !full;
    wire pop = read_valid && read_ready;
    always @(*) level = {{{spare}'d0, held}};
    always @(*) read_data = mem[read_at];
    integer i;
    initial begin
      write_at = 0; read_at = 0; read_valid = 0; held = 0; full = 0;
      for (i = 0; i <= {last}; i = i + 1) mem[i] = 0;
    end
    always @(posedge clock) begin
      if (push) mem[write_at] <= write_data;
      if (push) write_at <= write_at + 1'b1;
      if (pop) read_at <= read_at + 1'b1;
      if (push != pop) held <= held + {{{{{depth_bits}{{pop}}}}, 1'b1}};
      if (push && !pop) begin
        full <= held == {almost};
        read_valid <= 1'b1;
      end else if (!push && pop) begin
        full <= 1'b0;
        read_valid <= held != 1;
      end
      if (reset) begin
        write_at <= 0; read_at <= 0; read_valid <= 0; held <= 0; full <= 0;
      end
    end
",
        almost = depth - 1,
        spare = LEVEL_BITS as u64 - 1 - depth_bits,
    )
}
