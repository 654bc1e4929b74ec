//! Witness of honesty: what an endpoint says that it sent and lost is what the ways saw.

use super::Finding;
use crate::world::World;
use osprey_hls::wire::ConnectionId;

/// Compares the counts of an end's only connection with its ways, plane by plane. `exact`: nothing was held back or
/// fenced, so that every packet that a way lost was found as lost, and no other.
pub fn honest(world: &mut World, end: usize, connection: ConnectionId, exact: bool) -> Finding {
    let mut said = std::collections::BTreeMap::<u8, (u64, u64)>::new();
    for path in world.end(end).paths(connection) {
        let sums = said.entry(path.plane).or_default();
        sums.0 += path.sent;
        sums.1 += path.lost;
    }
    said.into_iter().find_map(|(plane, (sent, lost))| {
        let seen = world.counts(end, plane);
        if sent != seen.data {
            return Some(format!(
                "end {end} says {sent} DATA packets on plane {plane}, the way saw {}",
                seen.data
            ));
        }
        let gone = seen.data_lost + seen.flipped;
        (exact && lost != gone).then(|| {
            format!("end {end} says {lost} losses on plane {plane}, the way deleted {gone}")
        })
    })
}
