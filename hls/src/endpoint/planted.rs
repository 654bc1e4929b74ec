//! Faults planted on purpose, so that whoever checks endpoints can show that the check finds something.
//!
//! Each fault is one line at the place that it breaks, asking [`Planted::is`]. Without the feature `planted`, which is
//! never a default, that is a constant and the line is gone. Who finds which fault: `sim/comply/tests/planted.rs`.

/// What is wrong with an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Memory: a receiver places every payload one byte further.
    PlacesOneByteOff,
    /// Exactly once: a receiver places the payload of a duplicate again.
    PlacesTwice,
    /// Exactly once: a sender completes every request twice.
    CompletesTwice,
    /// Order: of two requests of a stream that complete together, the later one comes first.
    CompletesOutOfOrder,
    /// Liveness: a receiver answers nothing that comes on path 0, probes and fences neither.
    SilentOnPathZero,
    /// Liveness, conservation: a sender forgets the packets that were lost.
    ForgetsLost,
    /// Conservation: a sender forgets the packets that a fence has freed.
    ForgetsFreed,
    /// Conservation: a lost packet goes on counting in the connection's window.
    LeaksInFlight,
    /// Conservation: the slot of a message that was delivered is not given back.
    LeaksSlot,
    /// Bounded state: a sender goes on beyond W.
    IgnoresWindow,
    /// Bounded state: requests are taken without end.
    TakesAnyNumber,
    /// Honesty: of lost packets half are counted.
    HidesLosses,
    /// Honesty: a resend is not counted as sent.
    HidesResends,
}

/// Which fault is planted, if any.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Planted {
    #[cfg(feature = "planted")]
    fault: Option<Fault>,
}

#[cfg(not(feature = "planted"))]
impl Planted {
    /// No fault ever is.
    #[allow(clippy::unused_self)]
    pub(super) const fn is(self, _: Fault) -> bool {
        false
    }
}

#[cfg(feature = "planted")]
impl Planted {
    /// Whether this fault is planted.
    pub(super) fn is(self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }
}

#[cfg(feature = "planted")]
impl super::Endpoint {
    /// Plants a fault into all connections that are there now.
    pub fn plant(&mut self, fault: Fault) {
        let fault = Some(fault);
        for connection in self.connections.iter_mut() {
            connection.planted = Planted { fault };
        }
    }
}
