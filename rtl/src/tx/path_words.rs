//! What the blocks of the transmit side tell each other of a path: one declaration each.

use crate::bundle;
use crate::stream::Ram;
use rust_hdl::prelude::*;

/// A memory of `1 << low_bits` words a path, for `1 << connection_bits` connections of `1 << plane_bits` planes. The
/// address is a pair with `address_low_bits` behind it, of which the lower ones are used; a pair has two bits of plane number,
/// however many planes there are.
pub(crate) fn path_ram<D: Synth, const A: usize>(
    connection_bits: usize,
    plane_bits: usize,
    address_low_bits: usize,
    low_bits: usize,
) -> Ram<D, A> {
    let pair = pair_bits_used(connection_bits, plane_bits) << PATH_BITS | ones(PATH_BITS);
    Ram::with_bits(pair << address_low_bits | ones(low_bits))
}

/// A memory of one word a (connection, plane). The address is a pair without its path.
pub(crate) fn plane_ram<D: Synth, const A: usize>(
    connection_bits: usize,
    plane_bits: usize,
) -> Ram<D, A> {
    Ram::with_bits(pair_bits_used(connection_bits, plane_bits))
}

/// The bits of (connection, plane) that differ.
fn pair_bits_used(connection_bits: usize, plane_bits: usize) -> u64 {
    ones(connection_bits) << PLANE_BITS | ones(plane_bits)
}

fn ones(bits: usize) -> u64 {
    (1 << bits) - 1
}

/// log2 of the paths a plane.
const PATH_BITS: usize = 3;
/// Of a plane's number in a pair.
const PLANE_BITS: usize = 2;

bundle! {
    /// One path block, as host-order fields.
    AckBlock {
        pair: 17, epoch: 8, cumulative: 24, ordinal: 16, echo: 16, delay: 16, vector: 64, clear: 1,
    }
}

bundle! {
    /// What the sender knows of a path from ACKs.
    PathAckState { cumulative: 24, epoch: 8, walked: 16, srtt: 19 }
}

bundle! {
    /// How far a path has sent; written by the scheduler.
    PathSent { next_psn: 24, next_ordinal: 16, epoch: 8 }
}

bundle! {
    /// One transmission: PSN mod 256, or that it was a probe, which has none: then bit 0 says that a timer alone caused it.
    /// A needless copy may be walked when the cumulative PSN is up to 128 ahead of it, hence more bits than a window's lap.
    LogEntry { psn: 8, probe: 1 }
}

bundle! {
    /// Where the payload of a PSN comes from.
    PacketRecord { slot: 6, index: 18 }
}

bundle! {
    /// What to do for one path: a resend, a probe, a CONTROL frame, or a start anew.
    Forced {
        kind: 2, pair: 17, psn: 24, slot: 6, index: 18, train: 8, timeout: 1, ordinal: 16, epoch: 8,
    }
}

bundle! {
    /// A packet of this message has arrived at the peer.
    AckedPacket { connection: 12, slot: 6 }
}

bundle! {
    /// A path's state after a block, for whoever keeps a copy.
    AckedUpdate { pair: 17, cumulative: 24, walked: 16, srtt: 19, srtt_log: 7 }
}
