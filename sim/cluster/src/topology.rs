//! Fabrics: which links there are, and which of them a packet takes.
//!
//! A route is chosen once, when a packet leaves its host: switches hash what identifies a flow (source, destination,
//! entropy), each tier with another salt, so the route of a path is fixed and paths differ. Planes are copies of one
//! fabric. Links are numbered plane by plane, tier by tier; [`Place`] names them for faults and reports.

use crate::error::ScenarioError;

/// Most links of a route: host, edge, aggregation, core, aggregation, edge.
pub const HOPS_MAX: usize = 6;

/// A route: the links in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Route {
    /// Links; only the first `len` count.
    pub links: [u32; HOPS_MAX],
    /// Number of links.
    pub len: u8,
}

impl Route {
    fn of(links: &[u32]) -> Self {
        let mut route = Self::default();
        route.links[..links.len()].copy_from_slice(links);
        route.len = links.len() as u8;
        route
    }
}

/// Where a link is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// From a host to its leaf (or edge switch).
    HostUp {
        /// The host.
        host: u32,
    },
    /// From a leaf to a host.
    HostDown {
        /// The host.
        host: u32,
    },
    /// From a leaf (edge switch) up to a spine (aggregation switch).
    LeafUp {
        /// The leaf.
        leaf: u32,
        /// The spine.
        spine: u32,
    },
    /// From a spine (aggregation switch) down to a leaf.
    LeafDown {
        /// The leaf.
        leaf: u32,
        /// The spine.
        spine: u32,
    },
    /// From an aggregation switch up to a core switch.
    CoreUp {
        /// The aggregation switch.
        spine: u32,
        /// The core switch.
        core: u32,
    },
    /// From a core switch down to an aggregation switch.
    CoreDown {
        /// The aggregation switch.
        spine: u32,
        /// The core switch.
        core: u32,
    },
}

/// A fabric of two or three tiers, without its planes.
///
/// Two tiers: every leaf is linked to every spine. Three tiers: leaves and spines stand in pods, each leaf is linked to
/// the spines of its pod, and spine s of every pod to the same `cores_per_spine` core switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Topology {
    planes: u32,
    pods: u32,
    leaves_per_pod: u32,
    spines_per_pod: u32,
    hosts_per_leaf: u32,
    /// 0 with two tiers.
    cores_per_spine: u32,
}

impl Topology {
    /// Two tiers. `hosts` must be a multiple of `leaves`.
    pub fn leaf_spine(
        planes: u32,
        hosts: u32,
        leaves: u32,
        spines: u32,
    ) -> Result<Self, ScenarioError> {
        positive("planes", planes, 16)?;
        positive("leaves", leaves, 1 << 12)?;
        positive("spines", spines, 1 << 12)?;
        positive("hosts", hosts, 1 << 16)?;
        if hosts % leaves != 0 {
            return Err(ScenarioError::HostsPerLeaf { hosts, leaves });
        }
        Ok(Self {
            planes,
            pods: 1,
            leaves_per_pod: leaves,
            spines_per_pod: spines,
            hosts_per_leaf: hosts / leaves,
            cores_per_spine: 0,
        })
    }

    /// Three tiers: a fat tree of switches with `ports` ports (an even number): ports^3 / 4 hosts.
    pub fn fat_tree(planes: u32, ports: u32) -> Result<Self, ScenarioError> {
        positive("planes", planes, 16)?;
        positive("ports", ports, 40)?;
        if ports % 2 != 0 {
            return Err(ScenarioError::OddPorts { ports });
        }
        let half = ports / 2;
        Ok(Self {
            planes,
            pods: ports,
            leaves_per_pod: half,
            spines_per_pod: half,
            hosts_per_leaf: half,
            cores_per_spine: half,
        })
    }

    /// Planes: copies of the fabric.
    pub fn planes(&self) -> u32 {
        self.planes
    }

    /// Hosts.
    pub fn hosts(&self) -> u32 {
        self.leaves() * self.hosts_per_leaf
    }

    /// Leaves (edge switches) of a plane.
    pub fn leaves(&self) -> u32 {
        self.pods * self.leaves_per_pod
    }

    /// Spines (aggregation switches) of a plane.
    pub fn spines(&self) -> u32 {
        self.pods * self.spines_per_pod
    }

    /// Core switches of a plane.
    pub fn cores(&self) -> u32 {
        self.spines_per_pod * self.cores_per_spine
    }

    /// The leaf of a host.
    pub fn leaf_of(&self, host: u32) -> u32 {
        host / self.hosts_per_leaf
    }

    /// Links of one plane.
    pub fn links_per_plane(&self) -> u32 {
        2 * (self.hosts() + self.leaf_links() + self.core_links())
    }

    /// Links on the way between two hosts of different leaves (of different pods, with three tiers).
    pub fn hops_max(&self) -> u32 {
        if self.cores_per_spine == 0 { 4 } else { 6 }
    }

    fn leaf_links(&self) -> u32 {
        self.leaves() * self.spines_per_pod
    }

    fn core_links(&self) -> u32 {
        self.spines() * self.cores_per_spine
    }

    /// Number of the link from a leaf to spine `s` of its pod, counted among those.
    fn leaf_link(&self, leaf: u32, s: u32) -> u32 {
        leaf * self.spines_per_pod + s
    }

    /// Number of the link from spine `s` of `pod` to its core switch `c`, counted among those.
    fn core_link(&self, pod: u32, s: u32, c: u32) -> u32 {
        (pod * self.spines_per_pod + s) * self.cores_per_spine + c
    }

    /// The route of a packet. Hosts must differ.
    pub fn route(&self, plane: u32, from: u32, to: u32, entropy: u16) -> Route {
        debug_assert!(from != to, "a host has no route to itself");
        let base = plane * self.links_per_plane();
        let up = base;
        let down = up + self.hosts();
        let (leaf_from, leaf_to) = (self.leaf_of(from), self.leaf_of(to));
        if leaf_from == leaf_to {
            return Route::of(&[up + from, down + to]);
        }
        let leaf_up = down + self.hosts();
        let leaf_down = leaf_up + self.leaf_links();
        let key = flow_key(from, to, entropy, plane);
        let s = pick(key, 1, self.spines_per_pod);
        let (pod_from, pod_to) = (
            leaf_from / self.leaves_per_pod,
            leaf_to / self.leaves_per_pod,
        );
        let rise = leaf_up + self.leaf_link(leaf_from, s);
        let fall = leaf_down + self.leaf_link(leaf_to, s);
        if pod_from == pod_to {
            return Route::of(&[up + from, rise, fall, down + to]);
        }
        let core_up = leaf_down + self.leaf_links();
        let core_down = core_up + self.core_links();
        let c = pick(key, 2, self.cores_per_spine);
        Route::of(&[
            up + from,
            rise,
            core_up + self.core_link(pod_from, s, c),
            core_down + self.core_link(pod_to, s, c),
            fall,
            down + to,
        ])
    }

    /// Plane and place of a link.
    pub fn place(&self, link: u32) -> (u32, Place) {
        let plane = link / self.links_per_plane();
        let mut rest = link % self.links_per_plane();
        for host_side in [true, false] {
            if rest < self.hosts() {
                let host = rest;
                let up = Place::HostUp { host };
                return (
                    plane,
                    if host_side {
                        up
                    } else {
                        Place::HostDown { host }
                    },
                );
            }
            rest -= self.hosts();
        }
        if rest < 2 * self.leaf_links() {
            let (leaf, spine) = self.leaf_ends(rest % self.leaf_links());
            let up = rest < self.leaf_links();
            return (
                plane,
                if up {
                    Place::LeafUp { leaf, spine }
                } else {
                    Place::LeafDown { leaf, spine }
                },
            );
        }
        rest -= 2 * self.leaf_links();
        let (spine, core) = self.core_ends(rest % self.core_links());
        let up = rest < self.core_links();
        (
            plane,
            if up {
                Place::CoreUp { spine, core }
            } else {
                Place::CoreDown { spine, core }
            },
        )
    }

    fn leaf_ends(&self, number: u32) -> (u32, u32) {
        let (leaf, s) = (number / self.spines_per_pod, number % self.spines_per_pod);
        (leaf, leaf / self.leaves_per_pod * self.spines_per_pod + s)
    }

    fn core_ends(&self, number: u32) -> (u32, u32) {
        let (spine, c) = (number / self.cores_per_spine, number % self.cores_per_spine);
        (
            spine,
            spine % self.spines_per_pod * self.cores_per_spine + c,
        )
    }
}

fn positive(name: &'static str, value: u32, most: u32) -> Result<(), ScenarioError> {
    if (1..=most).contains(&value) {
        Ok(())
    } else {
        Err(ScenarioError::Range {
            name,
            value: value.into(),
            least: 1.0,
            most: most.into(),
        })
    }
}

/// What a switch hashes.
fn flow_key(from: u32, to: u32, entropy: u16, plane: u32) -> u64 {
    mix(u64::from(from) << 40 ^ u64::from(to) << 20 ^ u64::from(plane) << 60 ^ u64::from(entropy))
}

fn pick(key: u64, tier: u64, among: u32) -> u32 {
    let hash = mix(key.wrapping_add(tier)) >> 32;
    (hash * u64::from(among) >> 32) as u32
}

/// A 64-bit finaliser: every input bit reaches every output bit.
fn mix(mut value: u64) -> u64 {
    value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A route goes from its host to its host, and each link starts where the last one ended.
    fn check(topology: &Topology, plane: u32, from: u32, to: u32, entropy: u16) {
        let route = topology.route(plane, from, to, entropy);
        let places: Vec<Place> = route.links[..usize::from(route.len)]
            .iter()
            .map(|link| {
                let (found, place) = topology.place(*link);
                assert_eq!(found, plane);
                place
            })
            .collect();
        assert_eq!(places[0], Place::HostUp { host: from });
        assert_eq!(places[places.len() - 1], Place::HostDown { host: to });
        let middle = &places[1..places.len() - 1];
        match *middle {
            [] => assert_eq!(topology.leaf_of(from), topology.leaf_of(to)),
            [
                Place::LeafUp { leaf: a, spine: s },
                Place::LeafDown { leaf: b, spine: t },
            ] => {
                assert_eq!((a, b, s), (topology.leaf_of(from), topology.leaf_of(to), t));
            }
            [
                Place::LeafUp { leaf: a, spine: s },
                Place::CoreUp { spine: s2, core: c },
                Place::CoreDown {
                    spine: t2,
                    core: c2,
                },
                Place::LeafDown { leaf: b, spine: t },
            ] => {
                assert_eq!((a, b), (topology.leaf_of(from), topology.leaf_of(to)));
                assert_eq!((s, t, c), (s2, t2, c2));
            }
            _ => panic!("{places:?}"),
        }
    }

    #[test]
    fn routes_are_chains_of_links_from_host_to_host() {
        for topology in [
            Topology::leaf_spine(2, 64, 8, 8).unwrap(),
            Topology::fat_tree(2, 4).unwrap(),
            Topology::fat_tree(1, 8).unwrap(),
        ] {
            for from in 0..topology.hosts() {
                for to in (0..topology.hosts()).filter(|to| *to != from) {
                    check(
                        &topology,
                        topology.planes() - 1,
                        from,
                        to,
                        (from * 7) as u16,
                    );
                }
            }
        }
    }

    #[test]
    fn entropies_spread_over_all_spines() {
        let topology = Topology::leaf_spine(1, 64, 8, 8).unwrap();
        let mut uses = [0u32; 8];
        for entropy in 0..8_000 {
            let route = topology.route(0, 0, 63, entropy);
            if let (_, Place::LeafUp { spine, .. }) = topology.place(route.links[1]) {
                uses[spine as usize] += 1;
            }
        }
        assert!(
            uses.iter().all(|count| (850..1_150).contains(count)),
            "{uses:?}"
        );
    }

    #[test]
    fn impossible_sizes_are_refused() {
        assert!(Topology::leaf_spine(1, 65, 8, 8).is_err());
        assert!(Topology::leaf_spine(0, 64, 8, 8).is_err());
        assert!(Topology::fat_tree(1, 5).is_err());
    }
}
