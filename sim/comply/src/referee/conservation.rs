//! Witness of conservation: when all is done, nothing is in flight, waits to be sent again, or was moved and forgotten.

use super::Finding;
use crate::world::World;
use osprey_hls::wire::{ConnectionId, PathId};

/// Whether a connection of an end that is here is at rest.
pub fn at_rest(world: &mut World, end: usize, connection: ConnectionId) -> Finding {
    let endpoint = world.endpoint(end);
    let telemetry = endpoint.connection_telemetry(connection)?;
    if telemetry.in_flight > 0 || telemetry.freed > 0 {
        return Some(format!(
            "end {end}: {} packets in flight and {} freed ones wait when all is done",
            telemetry.in_flight, telemetry.freed
        ));
    }
    (0..=u8::MAX).find_map(|path| {
        let found = endpoint.path_telemetry(connection, PathId(path))?;
        (found.in_flight > 0 || found.resends_waiting > 0).then(|| {
            format!(
                "end {end}, path {path}: {} in flight, {} to send again",
                found.in_flight, found.resends_waiting
            )
        })
    })
}
