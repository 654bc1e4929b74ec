//! Why a received frame was dropped: a reason's code is the number of its counter, 5 bits, 0 for none.
//!
//! The list stands in `hls`. Rust HDL cannot name a number in an expression, so `verdict` and `frame_buffer` spell the
//! codes out; here they are held to the list. Of several reasons the lowest code is reported.

pub use osprey_hls::regs::counters::Counter as DropReason;

const SPELT_OUT: [(DropReason, u8); 13] = [
    (DropReason::MacError, 1),
    (DropReason::Oversize, 2),
    (DropReason::Ethertype, 4),
    (DropReason::VlanDepth, 5),
    (DropReason::IpVersion, 6),
    (DropReason::IpChecksum, 7),
    (DropReason::IpLength, 8),
    (DropReason::Fragment, 9),
    (DropReason::ExtensionHeader, 10),
    (DropReason::Protocol, 11),
    (DropReason::Address, 12),
    (DropReason::Port, 13),
    (DropReason::UdpLength, 14),
];

const _: () = {
    let mut at = 0;
    while at < SPELT_OUT.len() {
        assert!(SPELT_OUT[at].0 as u8 == SPELT_OUT[at].1);
        at += 1;
    }
    assert!(DropReason::Crc as u8 == 15);
};
