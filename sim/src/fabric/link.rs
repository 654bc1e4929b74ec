//! One direction of one plane.

use super::fate::{Dice, Fate, Faults, Rule};
use crate::mac::{Frame, Rate, as_time, line_bytes, whole_cycles};
use osprey_hls::wire::locate;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// What a link is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkConfig {
    /// Line rate.
    pub rate: Rate,
    /// Cycles on the way.
    pub delay: u64,
    /// Bytes that the queue before the line holds.
    pub queue_bytes: u64,
    /// Paths differ by up to so many cycles more; a path stays in order.
    pub path_spread: u64,
    /// Random faults.
    pub faults: Faults,
}

/// Kinds of frames that are counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[repr(u8)]
pub enum Kind {
    /// DATA.
    Data = 0,
    /// ACK.
    Ack = 1,
    /// NACK.
    Nack = 2,
    /// PROBE.
    Probe = 3,
    /// FENCE.
    Fence = 4,
    /// FENCE_ACK.
    FenceAck = 5,
    /// CONTROL.
    Control = 6,
    /// Anything else.
    Other = 7,
}

/// Counts of one link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct LinkCounts {
    /// Frames that entered.
    pub entered: u64,
    /// Bytes of these on the line, overhead included.
    pub line_bytes: u64,
    /// Frames that left at the other end.
    pub delivered: u64,
    /// Frames that disappeared by chance or rule.
    pub lost: u64,
    /// Frames that found the link down.
    pub link_down: u64,
    /// Frames that found the queue full.
    pub queue_full: u64,
    /// Frames that were held back, so that others overtook them.
    pub late: u64,
    /// Frames that were doubled.
    pub duplicated: u64,
    /// Frames whose bits were flipped silently.
    pub corrupted: u64,
    /// Frames whose bits were flipped with notice.
    pub bad_check: u64,
    /// Frames that entered, by [`Kind`].
    pub entered_by_kind: [u64; 8],
    /// Frames that did not arrive intact, by [`Kind`].
    pub failed_by_kind: [u64; 8],
}

/// Counts of one UDP source port on one link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct PortCounts {
    /// DATA frames that entered.
    pub data: u64,
    /// DATA frames that did not arrive intact.
    pub data_failed: u64,
    /// Other frames that entered.
    pub other: u64,
}

/// A frame on its way: ordered by arrival, then by entry.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Travelling {
    arrival: u64,
    number: u64,
    frame: Frame,
}

impl PartialOrd for Travelling {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Travelling {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.arrival, self.number).cmp(&(other.arrival, other.number))
    }
}

/// One direction of one plane.
#[derive(Debug, Clone)]
pub struct Link {
    config: LinkConfig,
    dice: Dice,
    up: bool,
    /// When the line is free, in 2^-16 cycles.
    free_at: u64,
    travelling: BinaryHeap<Reverse<Travelling>>,
    number: u64,
    counts: LinkCounts,
    by_port: BTreeMap<u16, PortCounts>,
}

impl Link {
    /// A link whose faults come from `seed`.
    pub fn new(config: LinkConfig, seed: u64, stream: u64) -> Self {
        Self {
            config,
            dice: Dice::new(config.faults, seed, stream),
            up: true,
            free_at: 0,
            travelling: BinaryHeap::new(),
            number: 0,
            counts: LinkCounts::default(),
            by_port: BTreeMap::new(),
        }
    }

    /// Decides by hand on frames to come.
    pub fn add_rule(&mut self, rule: Rule) {
        self.dice.rules.push(rule);
    }

    /// Takes the link down (what is on its way is gone) or up.
    pub fn set_up(&mut self, up: bool) {
        self.up = up;
        if !up {
            self.counts.link_down += self.travelling.len() as u64;
            self.travelling.clear();
        }
    }

    /// Counts of the link.
    pub const fn counts(&self) -> &LinkCounts {
        &self.counts
    }

    /// Counts by UDP source port.
    pub const fn ports(&self) -> &BTreeMap<u16, PortCounts> {
        &self.by_port
    }

    /// Frames on their way.
    pub fn travelling(&self) -> usize {
        self.travelling.len()
    }

    /// A frame enters at `now`; the dice decide what happens to it.
    pub fn enter(&mut self, now: u64, bytes: Vec<u8>) {
        let (kind, port) = classify(&bytes);
        let fate = self.dice.decide(kind as u8, port);
        self.enter_as(now, bytes, fate);
    }

    /// A frame enters at `now`, and this happens to it.
    pub fn enter_as(&mut self, now: u64, mut bytes: Vec<u8>, fate: Fate) {
        let (kind, port) = classify(&bytes);
        self.counts.entered += 1;
        self.counts.line_bytes += line_bytes(bytes.len());
        self.counts.entered_by_kind[kind as usize] += 1;
        let of_port = self.by_port.entry(port).or_default();
        if kind == Kind::Data {
            of_port.data += 1;
        } else {
            of_port.other += 1;
        }
        let waiting = self.free_at.saturating_sub(as_time(now));
        let queued = whole_cycles(waiting) as f64 * self.config.rate.bytes_per_cycle();
        let lost = if !self.up {
            Some(&mut self.counts.link_down)
        } else if fate == Fate::Lose {
            Some(&mut self.counts.lost)
        } else if queued > self.config.queue_bytes as f64 {
            Some(&mut self.counts.queue_full)
        } else {
            None
        };
        if let Some(count) = lost {
            *count += 1;
            self.fail(kind, port);
            return;
        }
        let bad = fate == Fate::BadCheck;
        if matches!(fate, Fate::Corrupt | Fate::BadCheck) {
            self.dice.corrupt(&mut bytes);
            self.fail(kind, port);
            let count = if bad {
                &mut self.counts.bad_check
            } else {
                &mut self.counts.corrupted
            };
            *count += 1;
        }
        let frame = Frame { bytes, bad };
        if let Fate::Duplicate | Fate::Again(_) = fate {
            self.counts.duplicated += 1;
            let later = if let Fate::Again(cycles) = fate {
                cycles
            } else {
                0
            };
            self.travel(now, port, frame.clone(), later);
        }
        let later = if let Fate::Late(cycles) = fate {
            self.counts.late += 1;
            cycles
        } else {
            0
        };
        self.travel(now, port, frame, later);
    }

    fn fail(&mut self, kind: Kind, port: u16) {
        self.counts.failed_by_kind[kind as usize] += 1;
        if kind == Kind::Data {
            self.by_port.entry(port).or_default().data_failed += 1;
        }
    }

    fn travel(&mut self, now: u64, port: u16, frame: Frame, later: u64) {
        self.free_at =
            self.free_at.max(as_time(now)) + self.config.rate.frame_time(frame.bytes.len());
        let spread = (u64::from(port.wrapping_mul(0x9e37)) * self.config.path_spread) >> 16;
        let arrival = whole_cycles(self.free_at) + self.config.delay + spread + later;
        self.number += 1;
        self.travelling.push(Reverse(Travelling {
            arrival,
            number: self.number,
            frame,
        }));
    }

    /// The next frame that has arrived at `now`.
    pub fn leave(&mut self, now: u64) -> Option<Frame> {
        if self
            .travelling
            .peek()
            .is_none_or(|Reverse(first)| first.arrival > now)
        {
            return None;
        }
        self.counts.delivered += 1;
        self.travelling.pop().map(|Reverse(first)| first.frame)
    }
}

/// Kind and UDP source port of a frame.
fn classify(bytes: &[u8]) -> (Kind, u16) {
    let Ok(located) = locate(bytes) else {
        return (Kind::Other, 0);
    };
    let kind = match bytes.get(located.transport).map(|byte| byte & 15) {
        Some(0) => Kind::Data,
        Some(1) => Kind::Ack,
        Some(2) => Kind::Nack,
        Some(3) => Kind::Probe,
        Some(4) => Kind::Fence,
        Some(5) => Kind::FenceAck,
        Some(6) => Kind::Control,
        _ => Kind::Other,
    };
    (kind, located.source_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(faults: Faults) -> LinkConfig {
        let rate = Rate::new(25.0, 250.0);
        LinkConfig {
            rate,
            delay: 100,
            queue_bytes: 1 << 40,
            path_spread: 0,
            faults,
        }
    }

    fn frame(number: u32) -> Vec<u8> {
        let mut bytes = vec![0; 200];
        bytes[100..104].copy_from_slice(&number.to_be_bytes());
        bytes
    }

    fn arrivals(link: &mut Link) -> Vec<Frame> {
        std::iter::from_fn(|| link.leave(u64::MAX)).collect()
    }

    #[test]
    fn faults_come_at_their_rates_and_replay_by_seed() {
        let faults = Faults {
            loss: 0.1,
            duplication: 0.05,
            corruption: 0.02,
            bad_check: 0.01,
        };
        let run = |seed| {
            let mut link = Link::new(config(faults), seed, 3);
            (0..20_000).for_each(|n| link.enter(u64::from(n), frame(n)));
            let frames = arrivals(&mut link);
            (*link.counts(), frames)
        };
        let (counts, frames) = run(7);
        assert_eq!(run(7), (counts, frames.clone()));
        assert_ne!(run(8).0, counts);
        for (count, expected) in [
            (counts.lost, 2000),
            (counts.duplicated, 1000),
            (counts.corrupted, 400),
            (counts.bad_check, 200),
        ] {
            assert!(
                count.abs_diff(expected) < expected / 5,
                "{count} of {expected}"
            );
        }
        assert_eq!(counts.delivered, 20_000 - counts.lost + counts.duplicated);
        assert_eq!(
            frames.iter().filter(|f| f.bad).count() as u64,
            counts.bad_check
        );
    }

    #[test]
    fn rate_delay_and_queue_are_kept() {
        let mut link = Link::new(
            LinkConfig {
                queue_bytes: 1000,
                ..config(Faults::default())
            },
            1,
            0,
        );
        for n in 0..10 {
            link.enter(0, frame(n));
        }
        // 224 bytes on the line each, 12.5 a cycle: 17.92 cycles; five fit before more than 1000 bytes wait.
        assert_eq!(link.counts().queue_full, 5);
        assert_eq!(link.leave(117), None);
        assert!(link.leave(118).is_some());
        assert_eq!(link.leave(118), None);
        assert_eq!(arrivals(&mut link).len(), 4);
    }

    #[test]
    fn rules_decide_before_the_dice_and_links_go_down() {
        let mut link = Link::new(config(Faults::default()), 1, 0);
        link.add_rule(Rule {
            kind: None,
            source_port: None,
            skip: 2,
            count: 1,
            fate: Fate::Lose,
        });
        (0..4).for_each(|n| link.enter(0, frame(n)));
        let numbers: Vec<u8> = arrivals(&mut link)
            .iter()
            .map(|frame| frame.bytes[103])
            .collect();
        assert_eq!(numbers, [0, 1, 3]);
        for fate in [Fate::Late(900), Fate::Again(900)] {
            let mut link = Link::new(config(Faults::default()), 1, 0);
            link.add_rule(Rule {
                kind: None,
                source_port: None,
                skip: 0,
                count: 1,
                fate,
            });
            (0..2).for_each(|n| link.enter(0, frame(n)));
            let order: Vec<u8> = arrivals(&mut link)
                .iter()
                .map(|frame| frame.bytes[103])
                .collect();
            let expected = if fate == Fate::Late(900) {
                vec![1, 0]
            } else {
                vec![0, 1, 0]
            };
            assert_eq!(order, expected);
        }
        link.set_up(false);
        link.enter(0, frame(9));
        link.set_up(true);
        assert_eq!((arrivals(&mut link).len(), link.counts().link_down), (0, 1));
    }
}
