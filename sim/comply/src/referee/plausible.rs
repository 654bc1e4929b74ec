//! Witness of form: a sound peer never sends what an endpoint refuses for its fields, whatever happens on the way, since
//! what is damaged there fails its CRC before.

use super::Finding;
use osprey_hls::endpoint::{Counter, Endpoint};

/// Refusals that only the sender's own error explains.
const IMPOSSIBLE: [Counter; 5] = [
    Counter::DropPath,
    Counter::DropOperation,
    Counter::DropMessageBounds,
    Counter::DropMessageSlot,
    Counter::DropAckInvalid,
];

/// Whether the endpoint has refused anything that a sound peer never sends.
pub fn plausible(endpoint: &Endpoint) -> Finding {
    let refused = |counter: &Counter| endpoint.counter(*counter);
    let found = IMPOSSIBLE.iter().find(|counter| refused(counter) > 0)?;
    Some(format!(
        "{} packets of the peer were refused that no sound peer sends: {found:?}",
        refused(found)
    ))
}
