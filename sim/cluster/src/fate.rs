//! What faults do to the packets of one link: loss (uniform or in bursts), corruption, duplication, delay.
//!
//! A [`Fate`] is set and lifted by the faults of a scenario ([`crate::fault`]); it draws from the network's one
//! generator, so that a seed names a run.

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Which packets a fault touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Only {
    /// All.
    #[default]
    All,
    /// What senders send: DATA, PROBE, FENCE.
    Data,
    /// What receivers answer: ACK, FENCE_ACK, NACK.
    Ack,
}

/// What happens to one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It goes on.
    Pass,
    /// It disappears.
    Lose,
    /// Bits flip.
    Corrupt,
    /// It arrives twice.
    Duplicate,
    /// It arrives this much later, in picoseconds; others overtake it.
    Delay(u64),
}

/// A loss that comes in bursts, after Gilbert and Elliott: in the bad state everything is lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Burst {
    /// Chance that a packet is the first of a burst.
    enter: f64,
    /// Chance that the burst is over after a packet.
    leave: f64,
    bad: bool,
}

impl Burst {
    /// Bursts of `length` packets on average that lose `loss` of all packets in the long run.
    pub fn new(loss: f64, length: f64) -> Self {
        let leave = 1.0 / length.max(1.0);
        let enter = if loss >= 1.0 {
            1.0
        } else {
            leave * loss / (1.0 - loss)
        };
        Self {
            enter: enter.min(1.0),
            leave,
            bad: false,
        }
    }

    fn loses(&mut self, random: &mut Xoshiro256PlusPlus) -> bool {
        let chance = if self.bad { self.leave } else { self.enter };
        if random.random_bool(chance) {
            self.bad = !self.bad;
        }
        self.bad
    }
}

/// What a link does to packets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fate {
    /// False while nothing here can happen: the common case costs one test.
    armed: bool,
    /// Everything that `down_only` names disappears.
    down: u32,
    down_only: Only,
    loss: f64,
    loss_only: Only,
    burst: Option<Burst>,
    corruption: f64,
    duplication: f64,
    delay: f64,
    delay_max_ps: u64,
}

impl Fate {
    /// Whether anything can happen to a packet here.
    #[inline]
    pub fn is_armed(&self) -> bool {
        self.armed
    }

    /// Takes the link down, or up again; two faults that overlap must both be over.
    pub fn set_down(&mut self, down: bool, only: Only) {
        self.down = if down {
            self.down + 1
        } else {
            self.down.saturating_sub(1)
        };
        self.down_only = only;
        self.arm();
    }

    /// Loses packets independently with chance `loss`.
    pub fn set_loss(&mut self, loss: f64, only: Only) {
        (self.loss, self.loss_only, self.burst) = (loss, only, None);
        self.arm();
    }

    /// Loses packets in bursts.
    pub fn set_burst(&mut self, burst: Burst, only: Only) {
        (self.burst, self.loss_only) = (Some(burst), only);
        self.arm();
    }

    /// Flips bits with chance `corruption`.
    pub fn set_corruption(&mut self, corruption: f64) {
        self.corruption = corruption;
        self.arm();
    }

    /// Doubles packets with chance `duplication`.
    pub fn set_duplication(&mut self, duplication: f64) {
        self.duplication = duplication;
        self.arm();
    }

    /// Holds packets back with chance `delay`, by up to `max_ps`.
    pub fn set_delay(&mut self, delay: f64, max_ps: u64) {
        (self.delay, self.delay_max_ps) = (delay, max_ps);
        self.arm();
    }

    fn arm(&mut self) {
        self.armed = self.down > 0
            || self.burst.is_some()
            || self.loss + self.corruption + self.duplication + self.delay > 0.0;
    }

    /// What happens to a packet; `ack` says whether a receiver sent it.
    pub fn decide(&mut self, ack: bool, random: &mut Xoshiro256PlusPlus) -> Outcome {
        let touches = |only| only == Only::All || (only == Only::Ack) == ack;
        if self.down > 0 && touches(self.down_only) {
            return Outcome::Lose;
        }
        if touches(self.loss_only) && self.loses(random) {
            return Outcome::Lose;
        }
        let mut happens = |chance: f64| chance > 0.0 && random.random_bool(chance);
        if happens(self.corruption) {
            Outcome::Corrupt
        } else if happens(self.duplication) {
            Outcome::Duplicate
        } else if happens(self.delay) {
            Outcome::Delay(random.random_range(0..=self.delay_max_ps))
        } else {
            Outcome::Pass
        }
    }

    fn loses(&mut self, random: &mut Xoshiro256PlusPlus) -> bool {
        match &mut self.burst {
            Some(burst) => burst.loses(random),
            None => self.loss > 0.0 && random.random_bool(self.loss),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn random() -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(3)
    }

    #[test]
    fn bursts_have_the_length_and_the_loss_that_were_asked_for() {
        let mut random = random();
        let mut fate = Fate::default();
        fate.set_burst(Burst::new(0.05, 16.0), Only::All);
        let (mut lost, mut bursts, mut before) = (0, 0, false);
        for _ in 0..2_000_000 {
            let now = fate.decide(false, &mut random) == Outcome::Lose;
            lost += u32::from(now);
            bursts += u32::from(now && !before);
            before = now;
        }
        assert!((90_000..110_000).contains(&lost), "{lost} lost");
        let length = f64::from(lost) / f64::from(bursts);
        assert!((15.0..17.0).contains(&length), "bursts of {length}");
    }

    #[test]
    fn a_fault_touches_only_what_it_names() {
        let mut random = random();
        let mut fate = Fate::default();
        assert!(!fate.is_armed());
        fate.set_down(true, Only::Ack);
        assert_eq!(fate.decide(true, &mut random), Outcome::Lose);
        assert_eq!(fate.decide(false, &mut random), Outcome::Pass);
        fate.set_down(false, Only::Ack);
        assert!(!fate.is_armed());
    }
}
