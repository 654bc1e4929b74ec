//! Witness of conservation: at any time every packet that was given to a path and has not arrived is somewhere, and when
//! all is done, nothing is in flight, waits to be sent again, or holds a slot.

use super::Finding;
use osprey_hls::endpoint::Endpoint;
use osprey_hls::wire::{ConnectionId, PathId};

/// Whether the books of a connection agree with each other.
pub fn balanced(endpoint: &Endpoint, connection: ConnectionId) -> Finding {
    let found = endpoint.balance(connection)?;
    let held = found.logged + found.resends + found.held + found.freed;
    if held != found.outstanding {
        return Some(format!(
            "of {} packets that have not arrived {held} are somewhere: {found:?}",
            found.outstanding
        ));
    }
    let [counts, should] = found.counted;
    (counts != should)
        .then(|| format!("the window counts {counts} packets in flight, {should} are: {found:?}"))
}

/// Whether a connection of an endpoint is at rest.
pub fn at_rest(endpoint: &Endpoint, connection: ConnectionId) -> Finding {
    let telemetry = endpoint.connection_telemetry(connection)?;
    if telemetry.in_flight > 0 || telemetry.freed > 0 {
        return Some(format!(
            "{} packets in flight and {} freed ones wait when all is done",
            telemetry.in_flight, telemetry.freed
        ));
    }
    (0..=u8::MAX).find_map(|path| {
        let found = endpoint.path_telemetry(connection, PathId(path))?;
        (found.in_flight > 0 || found.resends_waiting > 0).then(|| {
            format!(
                "path {path}: {} in flight, {} to send again",
                found.in_flight, found.resends_waiting
            )
        })
    })
}

/// Whether no slot is taken at the receiver when all messages have been delivered.
pub fn slots_free(endpoint: &Endpoint, connection: ConnectionId) -> Finding {
    let [_, _, slots] = endpoint.balance(connection)?.open;
    (slots > 0).then(|| format!("{slots} message slots are taken when all is done"))
}
