//! The receiver's side of a path: which packets have arrived, what an ACK echoes (T-2.8, T-3.6).
//!
//! The vector is indexed by PSN mod W and toggles with the lap, as on the wire; it is never shifted and never
//! cleared but by a new epoch. It knows nothing of messages or memory: a packet is judged first, and
//! accepted only when everything else has agreed, so a refused one leaves no trace.

use super::wire_time::{units_between, wire_time};
use crate::wire::{AckBlock, Bitvector, Epoch, Ordinal, PathId, Psn};

/// What the window says of a PSN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Fresh,
    Duplicate,
    Outside,
}

/// What a receiver knows of one path.
#[derive(Debug, Clone)]
pub(super) struct PathSequence {
    pub epoch: Epoch,
    cumulative: Psn,
    next_ordinal: Ordinal,
    /// Whether anything came in this epoch: without that there is nothing to echo.
    any: bool,
    /// Send time of the packet with the highest ordinal.
    timestamp: u16,
    /// When that packet came.
    arrived_ns: u64,
    marked: u16,
    received: u16,
    vector: Bitvector,
    /// Last block of the epoch before, until the first packet of this one (T-2.10).
    closed: Option<Box<AckBlock>>,
}

impl PathSequence {
    pub(super) fn new(window: u16) -> Self {
        Self {
            epoch: Epoch(0),
            cumulative: Psn::new(0),
            next_ordinal: Ordinal(0),
            any: false,
            timestamp: 0,
            arrived_ns: 0,
            marked: 0,
            received: 0,
            vector: Bitvector::new(window),
            closed: None,
        }
    }

    /// A path whose epoch starts with other numbers than 0 (T-6.5); `psn` is a multiple of 2 W.
    pub(super) fn starting_at(window: u16, epoch: Epoch, psn: Psn, ordinal: Ordinal) -> Self {
        Self {
            epoch,
            cumulative: psn,
            next_ordinal: ordinal,
            ..Self::new(window)
        }
    }

    /// The window's opinion of `psn`. Changes nothing.
    pub(super) fn judge(&self, psn: Psn) -> Verdict {
        let ahead = psn.distance_from(self.cumulative);
        if self.vector.received(psn, self.cumulative) {
            Verdict::Duplicate
        } else if ahead < u32::from(self.vector.window()) {
            Verdict::Fresh
        } else {
            Verdict::Outside
        }
    }

    /// Takes a fresh PSN.
    pub(super) fn accept(&mut self, psn: Psn, marked: bool) {
        debug_assert_eq!(
            self.judge(psn),
            Verdict::Fresh,
            "only a fresh packet is accepted"
        );
        self.vector.toggle(psn);
        self.received = self.received.wrapping_add(1);
        self.marked = self.marked.wrapping_add(marked.into());
        if psn == self.cumulative {
            self.advance();
        }
    }

    fn advance(&mut self) {
        let words = self.vector.offsets(self.cumulative);
        let mut run = 0;
        for word in &words[..usize::from(self.vector.window() / 64)] {
            run += word.trailing_ones();
            if *word != u64::MAX {
                break;
            }
        }
        self.cumulative = self.cumulative.advance(run);
    }

    /// A DATA or PROBE of this epoch came; says whether its ordinal shows a gap.
    pub(super) fn echo(&mut self, ordinal: Ordinal, timestamp: u16, now: u64) -> bool {
        self.closed = None;
        let ahead = ordinal.0.wrapping_sub(self.next_ordinal.0);
        if ahead & 0x8000 != 0 && self.any {
            return false;
        }
        self.any = true;
        self.next_ordinal = ordinal.next();
        self.timestamp = timestamp;
        self.arrived_ns = now;
        ahead != 0
    }

    /// The path's block, unless nothing has come in this epoch.
    pub(super) fn block(&self, path: PathId, now: u64) -> Option<AckBlock> {
        self.any.then(|| self.snapshot(path, now))
    }

    fn snapshot(&self, path: PathId, now: u64) -> AckBlock {
        AckBlock {
            path,
            epoch: self.epoch,
            cumulative: self.cumulative,
            flags: 0,
            ordinal: Ordinal(self.next_ordinal.0.wrapping_sub(1)),
            timestamp: self.timestamp,
            delay: units_between(self.arrived_ns, now),
            marked: self.marked,
            received: self.received,
            bitvector: self.vector,
        }
    }

    /// A FENCE of `epoch` came: the epoch is closed if it is the one that the path is in, and its final
    /// block is what answers, now and later. `None`: an epoch that is long gone.
    pub(super) fn fence(&mut self, epoch: Epoch, path: PathId, now: u64) -> Option<&AckBlock> {
        if epoch == self.epoch {
            let mut last = self.snapshot(path, now);
            if !self.any {
                (last.ordinal, last.timestamp) = (Ordinal(0), wire_time(now));
            }
            *self = Self {
                epoch: Epoch(epoch.0.wrapping_add(1)),
                closed: Some(Box::new(last)),
                ..Self::new(self.vector.window())
            };
        }
        self.closed().filter(|block| block.epoch == epoch)
    }

    /// The final block of the epoch before, if it still answers.
    pub(super) fn closed(&self) -> Option<&AckBlock> {
        self.closed.as_deref()
    }
}

#[cfg(test)]
mod tests;
