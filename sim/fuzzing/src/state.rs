//! What must hold of an endpoint at any time: bounds of its state, and books of packets that agree.

use osprey_hls::endpoint::Endpoint;

/// Panics with what is too full or out of balance.
pub fn check(endpoint: &Endpoint) {
    for found in endpoint.occupancy() {
        assert!(found.used <= found.bound, "too full: {found:?}");
    }
    for connection in endpoint.connections() {
        if let Some(found) = endpoint.balance(connection) {
            let held = found.logged + found.resends + found.held + found.freed;
            assert_eq!(held, found.outstanding, "a packet is nowhere: {found:?}");
            assert_eq!(found.counted[0], found.counted[1], "in flight: {found:?}");
        }
    }
}
