//! Congestion kernels: how reports of arrived and marked packets move the window of a path.
//!
//! Each is a pure function of integers, one file each, with its constants and where they come from; beside
//! it stands a slow formula in floating point, written from the source, as its test. No kernel knows time
//! other than what it is given, and none sees a loss: a loss never cuts a window (T-2.5). Windows are
//! fixed point, packets x 2^10 (11.10).

pub mod aimd;
pub mod nscc;

/// Fraction bits of a window.
pub const FRACTION_BITS: u32 = 10;
/// One packet.
pub const ONE_PACKET: u32 = 1 << FRACTION_BITS;

/// What an ACK block newly reports of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Report {
    /// Packets newly reported as arrived, marked ones included.
    pub arrived: u16,
    /// Packets newly reported as arrived with a congestion mark.
    pub marked: u16,
    /// Packets in flight on the path after the report.
    pub in_flight: u16,
    /// What packets of the path lately waited in queues on the way there, in the mean.
    pub queue_ns: u32,
    /// Round trip of the empty network.
    pub base_rtt_ns: u32,
}
