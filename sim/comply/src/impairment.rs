//! Faults on the way from one end to another, as data; everything is drawn from one seed.

use osprey_hls::endpoint::Packet;
use osprey_hls::wire::PacketType;
use osprey_host::udp::Fate;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Which packets a fault touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// All but CONTROL: set-up is impaired by tests that say so.
    #[default]
    Transport,
    /// DATA alone.
    Data,
    /// ACK alone.
    Ack,
    /// Everything, CONTROL too.
    Everything,
}

impl Kind {
    fn touches(self, packet: &Packet) -> bool {
        match self {
            Self::Everything => true,
            Self::Transport => !matches!(packet, Packet::Control(_)),
            Self::Data => matches!(packet, Packet::Data(_)),
            Self::Ack => matches!(packet, Packet::Ack(ack) if ack.kind == PacketType::Ack),
        }
    }
}

/// Chances of what happens to a packet on one plane in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Impairment {
    /// Which packets.
    pub kind: Kind,
    /// Nothing passes.
    pub down: bool,
    /// Chance to disappear.
    pub loss: f64,
    /// Packets of a burst on average; 0 or 1 is uniform loss.
    pub burst: f64,
    /// Chance to arrive twice.
    pub duplicate: f64,
    /// Chance to be held back.
    pub late: f64,
    /// Longest time that a packet is held back, nanoseconds.
    pub late_ns: u64,
    /// Every packet is held back so long.
    pub delay_ns: u64,
    /// Chance that a bit flips.
    pub flip: f64,
    /// Chance of a congestion mark.
    pub mark: f64,
}

/// What one direction of one plane did, in packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WayCounts {
    /// DATA packets that came to it.
    pub data: u64,
    /// All packets that came to it.
    pub all: u64,
    /// DATA packets deleted.
    pub data_lost: u64,
    /// Packets deleted.
    pub lost: u64,
    /// Packets doubled.
    pub doubled: u64,
    /// Packets with a flipped bit.
    pub flipped: u64,
    /// DATA packets marked.
    pub marked: u64,
}

/// One direction of one plane.
#[derive(Debug)]
pub struct Way {
    /// What may happen.
    pub impairment: Impairment,
    /// What did happen.
    pub counts: WayCounts,
    random: Xoshiro256PlusPlus,
    in_burst: bool,
}

impl Way {
    /// A way without faults, whose chances come from `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            impairment: Impairment::default(),
            counts: WayCounts::default(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            in_burst: false,
        }
    }

    /// A packet found the queue before its destination full.
    pub(crate) fn note_queue_full(&mut self, data: bool) {
        self.counts.lost += 1;
        self.counts.data_lost += u64::from(data);
    }

    /// What becomes of a packet.
    pub fn decide(&mut self, packet: &Packet) -> Fate {
        let data = u64::from(matches!(packet, Packet::Data(_)));
        self.counts.data += data;
        self.counts.all += 1;
        if !self.impairment.kind.touches(packet) {
            return self.in_time();
        }
        if self.impairment.down || self.loses() {
            self.counts.lost += 1;
            self.counts.data_lost += data;
            return Fate::Drop;
        }
        if self.happens(self.impairment.flip) {
            self.counts.flipped += 1;
            return Fate::Flip(self.random.random());
        }
        if self.happens(self.impairment.duplicate) {
            self.counts.doubled += 1;
            return Fate::Twice;
        }
        if self.happens(self.impairment.late) {
            return Fate::Late(
                self.impairment.delay_ns + self.random.random_range(0..=self.impairment.late_ns),
            );
        }
        if data == 1 && self.happens(self.impairment.mark) {
            self.counts.marked += 1;
            return Fate::Mark;
        }
        self.in_time()
    }

    fn in_time(&self) -> Fate {
        match self.impairment.delay_ns {
            0 => Fate::Pass,
            delay_ns => Fate::Late(delay_ns),
        }
    }

    fn happens(&mut self, chance: f64) -> bool {
        chance > 0.0 && self.random.random_bool(chance)
    }

    /// Uniform loss, or Gilbert and Elliott's bursts.
    fn loses(&mut self) -> bool {
        let Impairment { loss, burst, .. } = self.impairment;
        if burst <= 1.0 {
            return self.happens(loss);
        }
        let leave = 1.0 / burst;
        let enter = leave * loss / (1.0 - loss).max(1e-9);
        let change = if self.in_burst { leave } else { enter.min(1.0) };
        self.in_burst ^= self.happens(change);
        self.in_burst
    }
}
