//! What two sides settle on (T-4.3, T-4.6): the rules are those of [`osprey_hls::endpoint`]; here stands whose fault
//! an ACCEPT outside the offer is.

use super::PeerError;
use osprey_hls::wire::{Accept, Hello};

pub use osprey_hls::endpoint::{Settled, settle};

/// What the peer settled on, if it is within the offer.
pub fn check_accept(offer: &Hello, accept: &Accept) -> Result<Settled, PeerError> {
    osprey_hls::endpoint::check_accept(offer, accept).map_err(|error| PeerError::Accept {
        name: error.name,
        offered: error.offered,
        accepted: error.accepted,
    })
}
