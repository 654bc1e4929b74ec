//! What two sides settle on (T-4.3, T-4.6): pure functions of what each offers.

use crate::wire::{Accept, Hello, Offer, Reject, RejectReason};

/// Smallest payload of a packet that may be settled on.
pub const MTU_MIN: u16 = 256;

/// What both sides will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    /// Transport version.
    pub version: u8,
    /// Features.
    pub features: u32,
    /// Payload bytes of a packet.
    pub mtu: u16,
    /// Planes.
    pub planes: u8,
    /// Paths of each plane.
    pub paths_per_plane: u8,
    /// W, in bits.
    pub window: u16,
    /// Streams.
    pub streams: u16,
    /// Message slots a stream.
    pub slots: u16,
}

impl Settled {
    /// Whether a NIC can do this.
    pub(super) fn is_within(&self, config: &super::Config) -> bool {
        usize::from(self.planes) == config.planes.len()
            && self.window == config.window
            && (MTU_MIN..=config.mtu).contains(&self.mtu)
            && (1..=config.paths_per_plane).contains(&self.paths_per_plane)
            && (1..=config.streams).contains(&self.streams)
            && (1..=config.slots).contains(&self.slots)
    }

    /// Turns an offer into the statement of what was settled.
    pub fn state(&self, offer: &mut Offer) {
        (offer.version_min, offer.version_max) = (self.version, self.version);
        offer.features = self.features;
        offer.mtu = self.mtu;
        offer.paths_per_plane = self.paths_per_plane;
        offer.streams = self.streams;
        offer.slots = self.slots;
    }
}

/// A value of an ACCEPT that was not offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the peer accepted {name} {accepted}, offered was {offered}")]
pub struct AcceptError {
    /// The field.
    pub name: &'static str,
    /// What this side offered.
    pub offered: u32,
    /// What the peer stated.
    pub accepted: u32,
}

/// The minimum of each, or what does not fit with both values.
pub fn settle(ours: &Offer, hello: &Hello) -> Result<Settled, Reject> {
    let refuse = |reason, ours: u32, yours: u32| {
        Err(Reject {
            reason,
            ours,
            yours,
        })
    };
    let version = ours.version_max.min(hello.version_max);
    if version < ours.version_min.max(hello.version_min) {
        let range =
            |offer: &Offer| u32::from(offer.version_min) << 8 | u32::from(offer.version_max);
        return refuse(RejectReason::Version, range(ours), range(hello));
    }
    if ours.planes.len() != hello.planes.len() {
        return refuse(
            RejectReason::Planes,
            ours.planes.len() as u32,
            hello.planes.len() as u32,
        );
    }
    let mtu = ours.mtu.min(hello.mtu);
    if mtu < MTU_MIN {
        return refuse(
            RejectReason::Mtu,
            ours.mtu.max(MTU_MIN).into(),
            hello.mtu.into(),
        );
    }
    if ours.window != hello.window {
        return refuse(
            RejectReason::Window,
            ours.window.into(),
            hello.window.into(),
        );
    }
    let paths_per_plane = ours.paths_per_plane.min(hello.paths_per_plane);
    if paths_per_plane == 0 {
        return refuse(
            RejectReason::Paths,
            ours.paths_per_plane.into(),
            hello.paths_per_plane.into(),
        );
    }
    let (streams, slots) = (ours.streams.min(hello.streams), ours.slots.min(hello.slots));
    if streams == 0 || slots == 0 {
        return refuse(RejectReason::Slots, ours.slots.into(), hello.slots.into());
    }
    Ok(Settled {
        version,
        features: ours.features & hello.features,
        mtu: 1 << mtu.ilog2(),
        planes: ours.planes.len() as u8,
        paths_per_plane,
        window: ours.window,
        streams,
        slots,
    })
}

/// What the peer settled on, if it is within the offer.
pub fn check_accept(offer: &Hello, accept: &Accept) -> Result<Settled, AcceptError> {
    let within = |name, offered: u32, accepted: u32, ok: bool| {
        if ok {
            Ok(())
        } else {
            Err(AcceptError {
                name,
                offered,
                accepted,
            })
        }
    };
    let at_most = |name, offered: u32, accepted: u32| {
        within(name, offered, accepted, (1..=offered).contains(&accepted))
    };
    let (version, planes) = (accept.version_max, accept.planes.len());
    let known =
        version == accept.version_min && (offer.version_min..=offer.version_max).contains(&version);
    within("version", offer.version_max.into(), version.into(), known)?;
    within(
        "planes",
        offer.planes.len() as u32,
        planes as u32,
        planes == offer.planes.len(),
    )?;
    let power = accept.mtu.is_power_of_two() && (MTU_MIN..=offer.mtu).contains(&accept.mtu);
    within("MTU", offer.mtu.into(), accept.mtu.into(), power)?;
    at_most(
        "paths",
        offer.paths_per_plane.into(),
        accept.paths_per_plane.into(),
    )?;
    within(
        "W",
        offer.window.into(),
        accept.window.into(),
        offer.window == accept.window,
    )?;
    at_most("streams", offer.streams.into(), accept.streams.into())?;
    at_most("slots", offer.slots.into(), accept.slots.into())?;
    within(
        "features",
        offer.features,
        accept.features,
        accept.features & !offer.features == 0,
    )?;
    Ok(Settled {
        version,
        features: accept.features,
        mtu: accept.mtu,
        planes: planes as u8,
        paths_per_plane: accept.paths_per_plane,
        window: accept.window,
        streams: accept.streams,
        slots: accept.slots,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{ConnectionId, Incarnation, PlaneAddress};

    fn offer() -> Offer {
        Offer {
            version_min: 1,
            version_max: 1,
            features: 0,
            mtu: 4096,
            paths_per_plane: 8,
            window: 64,
            streams: 1,
            slots: 64,
            incarnation: Incarnation(1),
            connection: ConnectionId::new(1),
            service: 0,
            planes: vec![PlaneAddress::default(); 2],
            regions: vec![],
        }
    }

    #[test]
    fn field_case_34_the_minimum_counts_or_both_values_are_named() {
        let hello = Offer {
            mtu: 1024,
            paths_per_plane: 4,
            slots: 16,
            ..offer()
        };
        let settled = settle(&offer(), &hello).unwrap();
        assert_eq!(
            (settled.mtu, settled.paths_per_plane, settled.slots),
            (1024, 4, 16)
        );
        let odd = settle(
            &offer(),
            &Offer {
                mtu: 1500,
                ..offer()
            },
        )
        .unwrap();
        assert_eq!(odd.mtu, 1024, "payload is cut at powers of two");
        let refused = settle(
            &offer(),
            &Offer {
                mtu: 255,
                ..offer()
            },
        )
        .unwrap_err();
        assert_eq!(
            refused,
            Reject {
                reason: RejectReason::Mtu,
                ours: 4096,
                yours: 255
            }
        );
    }

    #[test]
    fn unequal_windows_planes_and_versions_are_refused() {
        let cases = [
            (
                Offer {
                    window: 128,
                    ..offer()
                },
                RejectReason::Window,
                64,
                128,
            ),
            (
                Offer {
                    planes: vec![],
                    ..offer()
                },
                RejectReason::Planes,
                2,
                0,
            ),
            (
                Offer {
                    version_min: 2,
                    version_max: 3,
                    ..offer()
                },
                RejectReason::Version,
                0x101,
                0x203,
            ),
            (
                Offer {
                    paths_per_plane: 0,
                    ..offer()
                },
                RejectReason::Paths,
                8,
                0,
            ),
            (
                Offer {
                    slots: 0,
                    ..offer()
                },
                RejectReason::Slots,
                64,
                0,
            ),
        ];
        for (hello, reason, ours, yours) in cases {
            assert_eq!(
                settle(&offer(), &hello),
                Err(Reject {
                    reason,
                    ours,
                    yours
                })
            );
        }
    }

    #[test]
    fn an_accept_outside_the_offer_is_the_peers_fault() {
        assert!(check_accept(&offer(), &offer()).is_ok());
        let cases = [
            Offer {
                mtu: 8192,
                ..offer()
            },
            Offer {
                mtu: 1500,
                ..offer()
            },
            Offer {
                paths_per_plane: 9,
                ..offer()
            },
            Offer {
                window: 256,
                ..offer()
            },
            Offer {
                slots: 0,
                ..offer()
            },
            Offer {
                features: 1,
                ..offer()
            },
            Offer {
                version_max: 2,
                ..offer()
            },
            Offer {
                planes: vec![],
                ..offer()
            },
        ];
        for accept in cases {
            assert!(check_accept(&offer(), &accept).is_err(), "{accept:?}");
        }
    }
}
