//! The witnesses' counts against each other once a job is over.

use super::Outcome;
use crate::fabric::{Kind, Link, LinkCounts};
use crate::pair::Pair;
use crate::referee::Conservation;
use osprey_hls::regs::counters::Counter;

/// A count of one kind of frames, over all links of a side.
pub(super) fn of_kind(links: &[Link], kind: Kind, counts: fn(&LinkCounts) -> [u64; 8]) -> u64 {
    links
        .iter()
        .map(|link| counts(link.counts())[kind as usize])
        .sum()
}

/// The engines' counts against the fabric's and the paths'.
///
/// The fabric goes on counting while the connection is closed after the counters were read: only CONTROL
/// frames move then, which are left out.
pub fn conservation(pair: &Pair, outcome: &Outcome, corrupting: bool) -> Conservation {
    let mut conservation = Conservation::default();
    let counter =
        |side: usize, counter: Counter| u64::from(outcome.counters[side][counter as usize]);
    for side in 0..2 {
        let name = ["A", "B"][side];
        let kinds = [
            ("DATA", Counter::SentData, Kind::Data),
            ("ACK", Counter::SentAcks, Kind::Ack),
            ("PROBE", Counter::SentProbes, Kind::Probe),
        ];
        for (what, count, kind) in kinds {
            let seen = of_kind(pair.links(side), kind, |counts| counts.entered_by_kind);
            conservation.equal(
                &format!("{what} sent by {name}, seen by the fabric"),
                counter(side, count),
                seen,
            );
        }
    }
    let sum = |of: fn(&osprey_host::verbs::PathTelemetry) -> u32| {
        outcome
            .paths
            .iter()
            .map(|path| u64::from(of(path)))
            .sum::<u64>()
    };
    let (packets, resends) = (sum(|p| p.packets), sum(|p| p.retransmissions));
    conservation.equal(
        "DATA sent and packets of all paths",
        counter(0, Counter::SentData),
        packets,
    );
    conservation.equal(
        "resends and resends of all paths",
        counter(0, Counter::Resends),
        resends,
    );
    let firsts = packets.saturating_sub(resends);
    conservation.equal(
        "first sends of A, new packets at B",
        firsts,
        counter(1, Counter::ReceiveData),
    );
    endings(&mut conservation, outcome);
    let by_timeout = sum(|p| p.lost_by_timeout);
    let found = sum(|p| p.lost_by_ordinal) + sum(|p| p.lost_by_probe) + by_timeout;
    let failed = of_kind(pair.links(0), Kind::Data, |counts| counts.failed_by_kind);
    let late: u64 = pair.links(0).iter().map(|link| link.counts().late).sum();
    conservation.equal("losses found and resends", found, resends);
    if !corrupting {
        conservation.at_most("DATA lost by the fabric, found by A", failed, found);
        conservation.at_most(
            "losses found without a timeout, lost or overtaken in the fabric",
            found - by_timeout,
            failed + late,
        );
    }
    conservation
}

/// What was begun has ended: work requests, messages, writes of memory.
fn endings(conservation: &mut Conservation, outcome: &Outcome) {
    let counter =
        |side: usize, counter: Counter| u64::from(outcome.counters[side][counter as usize]);
    conservation.equal(
        "work requests fetched and completed by A",
        counter(0, Counter::WorkRequests),
        counter(0, Counter::SendCompletions),
    );
    conservation.equal(
        "messages completed at A, placed at B",
        outcome.completions,
        counter(1, Counter::MessagesPlaced),
    );
    for (name, [issued, done]) in ["A", "B"].iter().zip(outcome.placements) {
        let what = format!("writes ordered and answered at {name}");
        conservation.equal(&what, issued.into(), done.into());
    }
}
