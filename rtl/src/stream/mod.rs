//! Building blocks that know nothing of the transport.

mod aligner;
mod beat;
mod crc32c;
mod fifo;
mod first_set;
mod lanes;
mod log2;
mod ram;
mod xor_network;

pub use aligner::{Aligner, AlignerJob, AlignerMerge, AlignerPlan, AlignerPlanner};
pub use beat::{Be16, BeatInfo};
pub use crc32c::{CrcFold, CrcResidue, CrcStep, CrcUnwind};
pub use fifo::{Fifo, LEVEL_BITS, SmallFifo};
pub use first_set::{FirstSet32, FirstSet64};
pub use lanes::{LaneKeep, LaneMask, LaneMerge};
pub use log2::Log2;
pub use ram::Ram;
