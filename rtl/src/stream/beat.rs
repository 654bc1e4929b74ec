//! What travels beside the data of a frame's beat.

use rust_hdl::prelude::*;

/// The side band of one 512-bit beat.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct BeatInfo {
    /// Valid bytes, 1..=64; 64 except in the last beat.
    pub bytes: Bits<7>,
    pub first: Bit,
    pub last: Bit,
    /// With `last`: the frame is damaged and must be dropped.
    pub error: Bit,
    pub plane: Bits<2>,
    /// Number of the beat in its frame.
    pub index: Bits<8>,
}

/// Two bytes of a frame as a number: the first byte on the wire counts most.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Be16 {
    pub low: Bits<8>,
    pub high: Bits<8>,
}
