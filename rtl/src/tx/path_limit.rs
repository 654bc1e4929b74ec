//! What may be sent on a path, by how much is on its way. Combinational.
//!
//! A sender keeps `1 << window_bits` PSNs of a path open at most, W or less: so many indexes the ACK processor has room for, and
//! twice as many log entries and slots. New data leaves half of the log to copies and probes: a copy that proves needless is
//! walked when its PSN is long acknowledged, and its slot is kept for as many PSNs as the log has places. Probes leave
//! eight places to what was queued before them.

use rust_hdl::prelude::*;

#[derive(LogicBlock)]
pub struct PathLimit {
    /// Transmissions that are not walked.
    pub in_flight: Signal<In, Bits<8>>,
    /// PSNs from the cumulative one on.
    pub span: Signal<In, Bits<8>>,
    /// The connection's setting.
    pub window: Signal<In, Bits<8>>,
    /// New data may be sent.
    pub open: Signal<Out, Bit>,
    /// A probe may be sent.
    pub log_room: Signal<Out, Bit>,
    window_most: Constant<Bits<8>>,
    log_most: Constant<Bits<8>>,
}

/// Places of the log that probes leave.
const PROBES_LEAVE: u64 = 8;

impl PathLimit {
    /// For `1 << window_bits` open PSNs.
    ///
    /// # Panics
    /// When `window_bits` is not 4 to 6.
    pub fn new(window_bits: usize) -> Self {
        assert!(
            (4..=6).contains(&window_bits),
            "PathLimit: window_bits is {window_bits}, must be 4..=6"
        );
        Self {
            in_flight: Default::default(),
            span: Default::default(),
            window: Default::default(),
            open: Default::default(),
            log_room: Default::default(),
            window_most: Constant::new((1u64 << window_bits).into()),
            log_most: Constant::new(((2u64 << window_bits) - PROBES_LEAVE).into()),
        }
    }
}

impl Default for PathLimit {
    fn default() -> Self {
        Self::new(6)
    }
}

impl Logic for PathLimit {
    #[hdl_gen]
    fn update(&mut self) {
        self.open.next = (self.in_flight.val() < self.window.val())
            & (self.in_flight.val() < self.window_most.val())
            & (self.span.val() < self.window_most.val());
        self.log_room.next = self.in_flight.val() < self.log_most.val();
    }
}
