//! Running counts of everything that is sent, accepted, dropped or found (T-2.13, T-5.1).
//!
//! Nothing is dropped without being counted under exactly one reason.

macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $name:ident,)*) => {
        /// A counter of the endpoint.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Counter {
            $($(#[doc = $doc])+ $name,)*
        }

        impl Counter {
            /// All of them, in order.
            pub const ALL: &[Self] = &[$(Self::$name,)*];
        }
    };
}

counters! {
    /// DATA packets sent, resends included.
    SentData,
    /// ACKs sent.
    SentAcks,
    /// Path blocks in the ACKs that were sent.
    SentAckBlocks,
    /// PROBEs sent.
    SentProbes,
    /// FENCEs sent.
    SentFences,
    /// FENCE_ACKs sent.
    SentFenceAcks,
    /// NACKs sent.
    SentNacks,
    /// CONTROL packets sent.
    SentControl,
    /// DATA packets sent again on their path.
    Resends,
    /// DATA packets that a fence has moved to another path.
    Moved,
    /// Packets that the log has shown as lost.
    Losses,
    /// First probe timers that expired.
    ProbeTimers,
    /// Paths that were condemned.
    Condemned,
    /// Entropies that were drawn again for poor paths.
    Redraws,
    /// New DATA packets accepted.
    ReceivedData,
    /// New DATA packets accepted that a switch had marked.
    ReceivedMarked,
    /// ACKs accepted.
    ReceivedAcks,
    /// PROBEs accepted.
    ReceivedProbes,
    /// FENCEs accepted.
    ReceivedFences,
    /// FENCE_ACKs accepted.
    ReceivedFenceAcks,
    /// NACKs accepted.
    ReceivedNacks,
    /// CONTROL packets accepted.
    ReceivedControl,
    /// Dropped: no such connection, or one that is not established.
    DropConnection,
    /// Dropped: another incarnation.
    DropIncarnation,
    /// Dropped: path that does not exist, or of another plane.
    DropPath,
    /// Dropped: stream that does not exist, or operation that is not served.
    DropOperation,
    /// Dropped: payload outside its message, or longer than the MTU.
    DropMessageBounds,
    /// Dropped: epoch that the path is not in.
    DropEpoch,
    /// Dropped: PSN outside the window.
    DropWindow,
    /// Received before; acknowledged again.
    Duplicate,
    /// Dropped: key not valid or without the right.
    DropKey,
    /// Dropped: outside the bounds of the registered memory.
    DropBounds,
    /// Dropped: message outside the slots, or at odds with what its slot holds.
    DropMessageSlot,
    /// Dropped: no receive request or room for an answer; the sender tries again.
    NotReady,
    /// Streams that were held since the receiver was not ready.
    Holds,
    /// Dropped: ACK, FENCE_ACK or NACK whose content is impossible.
    DropAckInvalid,
    /// ACK blocks of another epoch, or of a path that is condemned.
    StaleBlocks,
    /// ACK blocks that told nothing new.
    OldBlocks,
    /// Dropped: answers that found the queue full.
    DropQueueFull,
    /// Evidence records that found the ring full.
    EventsLost,
}

/// The counts.
#[derive(Debug, Clone)]
pub(super) struct Counters([u64; Counter::ALL.len()]);

impl Counters {
    pub(super) const fn new() -> Self {
        Self([0; Counter::ALL.len()])
    }

    pub(super) fn add(&mut self, counter: Counter, count: u64) {
        self.0[counter as usize] += count;
    }

    pub(super) fn bump(&mut self, counter: Counter) {
        self.add(counter, 1);
    }

    pub(super) fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize]
    }
}
