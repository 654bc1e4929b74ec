//! What the blocks of the transmit side tell each other of a path: one declaration each.

use crate::bundle;
use rust_hdl::prelude::*;

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
    /// One transmission: PSN mod 128, whether it was a probe, and whether a timer alone caused it.
    LogEntry { psn: 7, probe: 1, timeout: 1 }
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
