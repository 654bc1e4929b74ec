//! Random requests of all kinds in both directions under random faults: all end, memory is right, nothing
//! happens twice. A failure prints its seed; `OSPREY_SEEDS=from..to` runs others.

use super::pair::{BASE, CONNECTION, Chance, Fate, Pair, config};
use crate::endpoint::rng::Rng;
use crate::endpoint::*;
use crate::wire::Key;

/// Bytes that a request may touch, at each end: the requests of a side lie apart from each other.
const PLACE: u64 = 128 << 10;
const REQUESTS: u64 = 48;
/// The halves of memory: what end 0 asks lies in the first, what end 1 asks in the second.
const HALF: u64 = PLACE * REQUESTS;

struct Faults {
    loss_per_mille: u64,
    twice_per_mille: u64,
    late_per_mille: u64,
    late_ns: u64,
    mark_per_mille: u64,
    /// Plane that is silent from .. to.
    silent: Option<(u8, u64, u64)>,
    /// Entropies with this remainder modulo 8 lead nowhere.
    dead_entropy: Option<u16>,
}

impl Faults {
    fn draw(rng: &mut Rng, planes: u64) -> Self {
        let mut below = |n: u64| rng.next() % n;
        Self {
            loss_per_mille: [0, 1, 10, 50, 100][below(5) as usize],
            twice_per_mille: [0, 0, 20][below(3) as usize],
            late_per_mille: [0, 0, 20][below(3) as usize],
            late_ns: 1 + below(20_000),
            mark_per_mille: [0, 100, 600][below(3) as usize],
            silent: (planes > 1 && below(3) == 0).then(|| {
                let from = below(300_000);
                (below(planes) as u8, from, from + below(3_000_000))
            }),
            dead_entropy: (planes > 1 && below(4) == 0).then(|| below(8) as u16),
        }
    }

    fn decide(&self, now: u64, out: &Transmit, chance: &mut Chance) -> Fate {
        let silent = self
            .silent
            .is_some_and(|(plane, from, to)| plane == out.plane && (from..to).contains(&now));
        let dead = self
            .dead_entropy
            .is_some_and(|r| out.plane == 0 && out.entropy % 8 == r);
        let draw = chance.below(1000);
        let mut bound = self.loss_per_mille;
        if silent || dead || draw < bound {
            return Fate::Drop;
        }
        bound += self.twice_per_mille;
        if draw < bound {
            return Fate::Twice;
        }
        bound += self.late_per_mille;
        if draw < bound {
            return Fate::Late(chance.below(self.late_ns));
        }
        bound += self.mark_per_mille;
        if draw < bound {
            Fate::Mark
        } else {
            Fate::Deliver
        }
    }
}

/// What must be where when all is done.
enum Expect {
    /// These bytes at the peer are those of the asking side.
    Same(usize),
    /// These bytes at the asking side, `PLACE / 2` on, are those of the peer.
    Read(usize),
    /// An atomic: nothing but its answer.
    Atomic,
}

struct Asked {
    end: usize,
    at: u64,
    expect: Expect,
}

fn length(rng: &mut Rng) -> u32 {
    match rng.next() % 6 {
        0 => 0,
        1 => 1 + (rng.next() % 64) as u32,
        2 => 4095 + (rng.next() % 3) as u32,
        _ => (rng.next() % (PLACE / 2)) as u32,
    }
}

/// A random operation on the place of request `n` of `end`, with its length and what must come of it.
fn draw(rng: &mut Rng, end: usize, n: u64, keys: [Key; 2]) -> (WorkOperation, Expect) {
    let at = BASE + end as u64 * HALF + n * PLACE;
    let (local, remote, key, local_key) = (at, at, keys[1 - end], keys[end]);
    let length = length(rng);
    let same = Expect::Same(length as usize);
    #[rustfmt::skip]
    let drawn = match rng.next() % 7 {
        0 | 1 => (WorkOperation::Write { local, length, remote, key }, same),
        2 => (WorkOperation::WriteImm { local, length, remote, key, immediate: 7 }, same),
        3 => (WorkOperation::Send { local, length }, same),
        4 => (WorkOperation::SendImm { local, length, immediate: 8 }, same),
        5 => {
            let local = local + PLACE / 2;
            let read = WorkOperation::Read { local, local_key, length, remote, key };
            (read, Expect::Read(length as usize))
        }
        _ => {
            let remote = BASE + 2 * HALF;
            (WorkOperation::FetchAdd { local, local_key, remote, key, add: 1 }, Expect::Atomic)
        }
    };
    drawn
}

/// Posts a random request of `end`, and the receive request that it needs.
fn ask(
    pair: &mut Pair,
    rng: &mut Rng,
    (end, streams): (usize, u16),
    n: u64,
    keys: [Key; 2],
) -> Asked {
    let at = end as u64 * HALF + n * PLACE;
    let ((operation, expect), stream) = (
        draw(rng, end, n, keys),
        (rng.next() % u64::from(streams)) as u8,
    );
    if let WorkOperation::Send { length, .. } | WorkOperation::SendImm { length, .. } = operation {
        pair.receive(1 - end, stream, n, at, length.max(1));
    }
    pair.ask(end, stream, n, operation);
    Asked { end, at, expect }
}

fn check(pair: &Pair, asked: &Asked, seed: u64) {
    let (own, peer) = (&pair.ends[asked.end].host, &pair.ends[1 - asked.end].host);
    let at = asked.at as usize;
    let once = |host: &super::pair::Host, at: usize, length: usize| {
        assert!(
            host.placed[at..at + length].iter().all(|n| *n == 1),
            "seed {seed} at {at:#x}"
        );
    };
    match asked.expect {
        Expect::Same(length) => {
            assert!(
                own.bytes[at..at + length] == peer.bytes[at..at + length],
                "seed {seed}"
            );
            once(peer, at, length);
        }
        Expect::Read(length) => {
            let to = at + PLACE as usize / 2;
            assert!(
                own.bytes[to..to + length] == peer.bytes[at..at + length],
                "seed {seed}"
            );
            once(own, to, length);
        }
        Expect::Atomic => once(own, at, 8),
    }
}

/// Nothing is fuller than its bound, and every packet is somewhere.
fn check_state(pair: &Pair, seed: u64) {
    for end in &pair.ends {
        for found in end.endpoint.occupancy() {
            assert!(found.used <= found.bound, "seed {seed}: {found:?}");
        }
        let balance = end.endpoint.balance(CONNECTION).expect("a connection");
        let held = balance.logged + balance.resends + balance.held + balance.freed;
        assert_eq!(held, balance.outstanding, "seed {seed}: {balance:?}");
        assert_eq!(balance.counted[0], balance.counted[1], "seed {seed}");
    }
}

fn run(seed: u64) {
    let mut rng = Rng::new(seed);
    let planes = 1 + rng.next() % 3;
    let paths_per_plane = [1, 2, 8, 16][(rng.next() % 4) as usize];
    let window = [64, 128, 256][(rng.next() % 3) as usize];
    let mtu = [256, 1024, 4096][(rng.next() % 3) as usize];
    let slots = [1, 4, 64][(rng.next() % 3) as usize];
    let slack = [0, 0, 3][(rng.next() % 3) as usize];
    let congestion = match rng.next() % 3 {
        0 => config::Congestion::Nscc,
        _ => config::Congestion::default(),
    };
    let share = config::ShareConfig {
        raise_idle: rng.next() % 2 == 0,
        ..Default::default()
    };
    let streams = [1, 4, 256][(rng.next() % 3) as usize];
    let with = |end| Config {
        streams,
        paths_per_plane,
        window,
        mtu,
        slots,
        slack,
        congestion,
        share,
        ..config(end, planes as usize)
    };
    let mut pair = Pair::with(seed, [with(0), with(1)]);
    let keys = pair.with_memory(2 * HALF as usize + 8);
    let counters = [0, 1].map(|end| pair.ends[end].host.load(BASE + 2 * HALF));
    let faults = Faults::draw(&mut rng, planes);
    pair.fate = Box::new(move |now, _, out, chance| faults.decide(now, out, chance));
    let mut asked = Vec::new();
    for n in 0..REQUESTS {
        for end in 0..2 {
            asked.push(ask(&mut pair, &mut rng, (end, streams), n, keys));
        }
        pair.run_for(rng.next() % 20_000);
        check_state(&pair, seed);
    }
    let sends = |pair: &Pair, end: usize| {
        let own = pair.ends[end]
            .completions
            .iter()
            .filter(|c| c.side == Side::Send);
        own.map(|c| assert_eq!(c.status, Status::Ok, "seed {seed}"))
            .count()
    };
    let limit = pair.now + 100_000_000;
    while [0, 1]
        .iter()
        .any(|end| sends(&pair, *end) < REQUESTS as usize)
    {
        let done = [0, 1].map(|end| sends(&pair, end));
        assert!(pair.step(limit), "seed {seed}: {done:?} of {REQUESTS}");
    }
    check_state(&pair, seed);
    // What is on its way arrives: nothing more may happen.
    pair.run_for(1_000_000);
    for request in &asked {
        check(&pair, request, seed);
    }
    for end in 0..2 {
        let adds = |a: &&Asked| a.end != end && matches!(a.expect, Expect::Atomic);
        let added = asked.iter().filter(adds).count() as u64;
        let counter = pair.ends[end].host.load(BASE + 2 * HALF);
        assert_eq!(counter, counters[end].wrapping_add(added), "seed {seed}");
    }
}

fn seeds() -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("OSPREY_SEEDS") else {
        return 0..24;
    };
    let (from, to) = text.split_once("..").expect("from..to");
    from.parse().expect("a number")..to.parse().expect("a number")
}

#[test]
fn everything_ends_and_memory_is_right_whatever_happens() {
    for seed in seeds() {
        run(seed);
    }
}
