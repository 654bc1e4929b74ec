//! Witness of bounded state: nothing that an endpoint keeps is fuller than it may be.

use super::Finding;
use osprey_hls::endpoint::Endpoint;

/// Looks at every structure that has a bound.
pub fn within_bounds(endpoint: &Endpoint) -> Finding {
    let over = |found: &osprey_hls::endpoint::Occupancy| found.used > found.bound;
    let found = endpoint.occupancy().into_iter().find(over)?;
    Some(format!(
        "{} entries are in use of {}: {}",
        found.used, found.bound, found.name
    ))
}
