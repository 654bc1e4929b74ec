//! Why a received frame was dropped: a reason's code is the number of its counter, 5 bits, 0 for none.
//!
//! The list stands in `hls`. Rust HDL cannot name a number in an expression, so `verdict` and `frame_buffer` spell the
//! codes out; here they are held to the list. Of several reasons the lowest code is reported.

pub use osprey_hls::regs::counters::Counter as DropReason;

const SPELT_OUT: [(DropReason, u8); 12] = [
    (DropReason::MacError, 1),
    (DropReason::MacAddress, 2),
    (DropReason::Ethertype, 3),
    (DropReason::IpHeader, 4),
    (DropReason::IpChecksum, 5),
    (DropReason::Fragment, 6),
    (DropReason::ExtensionHeader, 7),
    (DropReason::Protocol, 8),
    (DropReason::IpAddress, 9),
    (DropReason::Length, 10),
    (DropReason::Port, 11),
    (DropReason::Crc, 12),
];

const _: () = {
    let mut at = 0;
    while at < SPELT_OUT.len() {
        assert!(SPELT_OUT[at].0 as u8 == SPELT_OUT[at].1);
        at += 1;
    }
};
