//! Is a connection number one that this engine has? Combinational.
//!
//! Tables are addressed with the low bits, so a number that is too high would look like another connection.

use rust_hdl::prelude::*;

#[derive(LogicBlock)]
pub struct ConnectionLimit {
    pub connection: Signal<In, Bits<24>>,
    pub beyond: Signal<Out, Bit>,
    count: Constant<Bits<24>>,
}

impl ConnectionLimit {
    /// For `1 << connection_bits` connections.
    pub fn new(connection_bits: usize) -> Self {
        Self {
            connection: Default::default(),
            beyond: Default::default(),
            count: Constant::new((1u64 << connection_bits).into()),
        }
    }
}

impl Default for ConnectionLimit {
    fn default() -> Self {
        Self::new(12)
    }
}

impl Logic for ConnectionLimit {
    #[hdl_gen]
    fn update(&mut self) {
        self.beyond.next = self.connection.val() >= self.count.val();
    }
}
