//! Faults as data: what goes wrong where, from when to when.
//!
//! A fault of a scenario names a target in words (`spine 3`, `plane 1 leaf-to-host`), an action, and times. It becomes a
//! list of [`Change`]s, each at its time: set something on some links, later take it back. The fates of single packets
//! are drawn in [`crate::fate`].

use crate::error::ScenarioError;
use crate::fate::{Burst, Only};
use crate::link::{Link, LinkConfig};
use crate::topology::{Place, Topology};
use serde::{Deserialize, Serialize};

/// What a fault does to its links.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Action {
    /// Every packet disappears, and nothing says so.
    Down,
    /// Goes down and up again: `down_us` of every `period_us`.
    Flap {
        /// Length of a period, microseconds.
        period_us: f64,
        /// Of it, down.
        down_us: f64,
    },
    /// Packets are lost independently.
    Loss {
        /// Chance of a packet, 0 to 1.
        rate: f64,
    },
    /// Packets are lost in bursts.
    BurstLoss {
        /// Part of all packets, 0 to 1.
        rate: f64,
        /// Mean packets of a burst.
        length: f64,
    },
    /// Bits flip.
    Corrupt {
        /// Chance of a packet.
        rate: f64,
    },
    /// Packets arrive twice.
    Duplicate {
        /// Chance of a packet.
        rate: f64,
    },
    /// Packets are held back and overtaken.
    Delay {
        /// Chance of a packet.
        rate: f64,
        /// Longest time, nanoseconds; uniform from 0.
        max_ns: u64,
    },
    /// The line runs at a part of its rate.
    Rate {
        /// Part of the rate, above 0.
        part: f64,
    },
    /// The rate falls to a part in ten steps.
    Degrade {
        /// Part of the rate at the end.
        part: f64,
        /// Time that it takes, microseconds.
        over_us: f64,
    },
}

/// A fault of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// Links, in words; see [`Target`].
    pub target: String,
    /// Which packets.
    #[serde(default)]
    pub only: Only,
    /// From when on, microseconds.
    #[serde(default)]
    pub from_us: f64,
    /// Until when; without it, for good.
    pub until_us: Option<f64>,
    /// What happens.
    #[serde(flatten)]
    pub action: Action,
}

/// One step of a fault.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Down(bool),
    Loss(f64),
    Burst(f64, f64),
    Corrupt(f64),
    Duplicate(f64),
    Delay(f64, u64),
    Rate(f64),
}

/// Something that changes on some links at a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// When, in picoseconds.
    pub time_ps: u64,
    /// The links, by number.
    links: Vec<u32>,
    step: Step,
    only: Only,
}

impl Change {
    /// Makes the change.
    pub fn apply(&self, links: &mut [Link], config: &LinkConfig) {
        for link in &self.links {
            let link = &mut links[*link as usize];
            match self.step {
                Step::Down(down) => link.fate_mut().set_down(down, self.only),
                Step::Loss(rate) => link.fate_mut().set_loss(rate, self.only),
                Step::Burst(rate, length) => link
                    .fate_mut()
                    .set_burst(Burst::new(rate, length), self.only),
                Step::Corrupt(rate) => link.fate_mut().set_corruption(rate),
                Step::Duplicate(rate) => link.fate_mut().set_duplication(rate),
                Step::Delay(rate, max_ns) => link.fate_mut().set_delay(rate, max_ns * 1_000),
                Step::Rate(part) => link.set_rate(config, part),
            }
        }
    }
}

/// A flap that has no end is repeated this often.
const FLAPS_MAX: u32 = 10_000;
/// Steps of a gradual degradation.
const DEGRADE_STEPS: u32 = 10;

impl Fault {
    /// The changes that this fault makes.
    pub fn changes(&self, topology: &Topology) -> Result<Vec<Change>, ScenarioError> {
        self.check()?;
        let links = Target::parse(&self.target)?.links(topology)?;
        let steps = self.steps();
        let change = |(at_us, step): (f64, Step)| Change {
            time_ps: (at_us * 1e6).round() as u64,
            links: links.clone(),
            step,
            only: self.only,
        };
        Ok(steps.into_iter().map(change).collect())
    }

    fn check(&self) -> Result<(), ScenarioError> {
        let chance = |name, value| range(name, value, 0.0, 1.0);
        range("from_us", self.from_us, 0.0, 1e9)?;
        if let Some(until) = self.until_us {
            range("until_us", until, self.from_us, 1e9)?;
        }
        match self.action {
            Action::Down => Ok(()),
            Action::Flap { period_us, down_us } => {
                range("period_us", period_us, 1.0, 1e9)?;
                range("down_us", down_us, 0.0, period_us)
            }
            Action::BurstLoss { rate, length } => {
                range("length", length, 1.0, 1e6)?;
                chance("rate", rate)
            }
            Action::Loss { rate } | Action::Corrupt { rate } | Action::Duplicate { rate } => {
                chance("rate", rate)
            }
            Action::Delay { rate, max_ns } => {
                range("max_ns", max_ns as f64, 0.0, 1e9)?;
                chance("rate", rate)
            }
            Action::Rate { part } => range("part", part, 0.001, 1.0),
            Action::Degrade { part, over_us } => {
                range("over_us", over_us, 0.0, 1e9)?;
                range("part", part, 0.001, 1.0)
            }
        }
    }

    /// Steps with their times in microseconds.
    fn steps(&self) -> Vec<(f64, Step)> {
        let (set, lift) = match self.action {
            Action::Flap { period_us, down_us } => return self.flaps(period_us, down_us),
            Action::Degrade { part, over_us } => return self.degradation(part, over_us),
            Action::Down => (Step::Down(true), Step::Down(false)),
            Action::Loss { rate } => (Step::Loss(rate), Step::Loss(0.0)),
            Action::BurstLoss { rate, length } => (Step::Burst(rate, length), Step::Loss(0.0)),
            Action::Corrupt { rate } => (Step::Corrupt(rate), Step::Corrupt(0.0)),
            Action::Duplicate { rate } => (Step::Duplicate(rate), Step::Duplicate(0.0)),
            Action::Delay { rate, max_ns } => (Step::Delay(rate, max_ns), Step::Delay(0.0, 0)),
            Action::Rate { part } => (Step::Rate(part), Step::Rate(1.0)),
        };
        let end = self.until_us.map(|until| (until, lift));
        std::iter::once((self.from_us, set)).chain(end).collect()
    }

    fn flaps(&self, period_us: f64, down_us: f64) -> Vec<(f64, Step)> {
        let until = self.until_us.unwrap_or(f64::INFINITY);
        (0..FLAPS_MAX)
            .map(|index| self.from_us + f64::from(index) * period_us)
            .take_while(|start| *start < until)
            .flat_map(|start| {
                [
                    (start, Step::Down(true)),
                    (start + down_us, Step::Down(false)),
                ]
            })
            .collect()
    }

    fn degradation(&self, part: f64, over_us: f64) -> Vec<(f64, Step)> {
        let step = |index: u32| {
            let done = f64::from(index) / f64::from(DEGRADE_STEPS);
            (
                self.from_us + done * over_us,
                Step::Rate(1.0 - done * (1.0 - part)),
            )
        };
        let end = self.until_us.map(|until| (until, Step::Rate(1.0)));
        (1..=DEGRADE_STEPS).map(step).chain(end).collect()
    }
}

/// `Ok` if a value is within its range.
pub(crate) fn range(
    name: &'static str,
    value: f64,
    least: f64,
    most: f64,
) -> Result<(), ScenarioError> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(ScenarioError::Range {
            name,
            value,
            least,
            most,
        })
    }
}

/// Which links a fault touches: at most one of each word, `plane P` in front for one plane only.
///
/// `all`, `leaf-to-host`, `host-to-leaf`, `host H`, `leaf L`, `spine S`, `core C`, `leaf L spine S`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Target {
    written: String,
    plane: Option<u32>,
    host: Option<u32>,
    leaf: Option<u32>,
    spine: Option<u32>,
    core: Option<u32>,
    to_host: bool,
    to_leaf: bool,
}

const TARGETS: &str = "name 'all', 'leaf-to-host', 'host-to-leaf', 'host H', 'leaf L', 'spine S', 'core C' or \
                       'leaf L spine S', with 'plane P' in front for one plane";

impl Target {
    /// Reads a target.
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        let mut target = Self {
            written: text.to_owned(),
            ..Self::default()
        };
        let mut words = text.split_whitespace();
        if text.trim().is_empty() {
            return Err(target.wrong(TARGETS));
        }
        while let Some(word) = words.next() {
            let mut number = || words.next().and_then(|number| number.parse().ok());
            let found = match word {
                "all" => true,
                "leaf-to-host" => set(&mut target.to_host),
                "host-to-leaf" => set(&mut target.to_leaf),
                "plane" => number().map(|n| target.plane = Some(n)).is_some(),
                "host" => number().map(|n| target.host = Some(n)).is_some(),
                "leaf" => number().map(|n| target.leaf = Some(n)).is_some(),
                "spine" => number().map(|n| target.spine = Some(n)).is_some(),
                "core" => number().map(|n| target.core = Some(n)).is_some(),
                _ => false,
            };
            if !found {
                return Err(target.wrong(TARGETS));
            }
        }
        Ok(target)
    }

    fn wrong(&self, message: &str) -> ScenarioError {
        ScenarioError::Target {
            target: self.written.clone(),
            message: message.to_owned(),
        }
    }

    /// The links that this names; an error if there are none.
    pub fn links(&self, topology: &Topology) -> Result<Vec<u32>, ScenarioError> {
        let all = 0..topology.planes() * topology.links_per_plane();
        let links: Vec<u32> = all
            .filter(|link| self.names(topology.place(*link)))
            .collect();
        if links.is_empty() {
            let message = format!(
                "no such link: there are {} planes, {} hosts, {} leaves, {} spines, {} cores",
                topology.planes(),
                topology.hosts(),
                topology.leaves(),
                topology.spines(),
                topology.cores()
            );
            return Err(self.wrong(&message));
        }
        Ok(links)
    }

    fn names(&self, (plane, place): (u32, Place)) -> bool {
        let is = |asked: Option<u32>, found: Option<u32>| asked.is_none() || asked == found;
        let (host, leaf, spine, core) = match place {
            Place::HostUp { host } | Place::HostDown { host } => (Some(host), None, None, None),
            Place::LeafUp { leaf, spine } | Place::LeafDown { leaf, spine } => {
                (None, Some(leaf), Some(spine), None)
            }
            Place::CoreUp { spine, core } | Place::CoreDown { spine, core } => {
                (None, None, Some(spine), Some(core))
            }
        };
        let direction = match place {
            Place::HostUp { .. } => !self.to_host,
            Place::HostDown { .. } => !self.to_leaf,
            _ => !self.to_host && !self.to_leaf,
        };
        direction
            && is(self.plane, Some(plane))
            && is(self.host, host)
            && is(self.leaf, leaf)
            && is(self.spine, spine)
            && is(self.core, core)
    }
}

fn set(flag: &mut bool) -> bool {
    *flag = true;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(topology: &Topology, target: &str) -> usize {
        Target::parse(target)
            .unwrap()
            .links(topology)
            .unwrap()
            .len()
    }

    #[test]
    fn targets_name_the_links_that_they_say() {
        let fabric = Topology::leaf_spine(2, 64, 8, 4).unwrap();
        assert_eq!(count(&fabric, "all"), 2 * (128 + 64));
        assert_eq!(count(&fabric, "plane 1"), 128 + 64);
        assert_eq!(count(&fabric, "leaf-to-host"), 128);
        assert_eq!(count(&fabric, "plane 0 host-to-leaf host 3"), 1);
        assert_eq!(count(&fabric, "spine 2"), 2 * 16);
        assert_eq!(count(&fabric, "plane 0 leaf 1 spine 2"), 2);
    }

    #[test]
    fn a_target_that_is_not_there_is_refused_by_name() {
        let fabric = Topology::leaf_spine(1, 64, 8, 4).unwrap();
        let told = Target::parse("spine 9")
            .unwrap()
            .links(&fabric)
            .unwrap_err()
            .to_string();
        assert!(
            told.contains("spine 9") && told.contains("4 spines"),
            "{told}"
        );
        assert!(
            Target::parse("spline 1").is_err()
                && Target::parse("spine x").is_err()
                && Target::parse(" ").is_err()
        );
    }

    #[test]
    fn flaps_and_degradations_unfold() {
        let fabric = Topology::leaf_spine(1, 4, 2, 2).unwrap();
        let fault = |action| Fault {
            target: "spine 0".into(),
            only: Only::All,
            from_us: 10.0,
            until_us: Some(40.0),
            action,
        };
        let flap = fault(Action::Flap {
            period_us: 10.0,
            down_us: 4.0,
        });
        let times: Vec<u64> = flap
            .changes(&fabric)
            .unwrap()
            .iter()
            .map(|c| c.time_ps / 1_000_000)
            .collect();
        assert_eq!(times, [10, 14, 20, 24, 30, 34]);
        let worse = fault(Action::Degrade {
            part: 0.5,
            over_us: 20.0,
        });
        assert_eq!(
            worse.changes(&fabric).unwrap().last().unwrap().step,
            Step::Rate(1.0)
        );
        assert!(fault(Action::Loss { rate: 2.0 }).changes(&fabric).is_err());
    }
}
