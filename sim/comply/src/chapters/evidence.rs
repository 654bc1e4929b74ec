//! Chapter 10: failures are visible: what was sent, lost, dropped or condemned stands in counters and events.

use super::loss::impair_all;
use crate::case::{Ability, Case, Context, Outcome, ensure};
use crate::impairment::Impairment;
use crate::referee::honest;
use crate::session::{Session, found};
use osprey_hls::endpoint::{Counter, EventKind, Status};

pub(super) const CASES: &[Case] = &[
    Case {
        number: (10, 1),
        title: "counts of paths are what the ways saw",
        rule: "T-2.13",
        run: counts,
    },
    Case {
        number: (10, 2),
        title: "every packet is counted once where it arrives",
        rule: "T-5.1",
        run: arrivals,
    },
    Case {
        number: (10, 3),
        title: "changes of health stand in the ring",
        rule: "T-2.13",
        run: health,
    },
    Case {
        number: (10, 4),
        title: "a refused access is told at both ends",
        rule: "T-5.3",
        run: access,
    },
    Case {
        number: (10, 5),
        title: "a closed connection flushes in order, and late ACKs count",
        rule: "T-4.7",
        run: close,
    },
];

fn counts(context: &mut Context) -> Outcome {
    context.needs_virtual_time()?;
    let mut session = Session::pair(context)?;
    impair_all(
        &mut session,
        Impairment {
            loss: 0.04,
            duplicate: 0.02,
            flip: 0.01,
            ..Impairment::default()
        },
    );
    session.write(0, 0, 0, 3 << 20)?;
    session.finish()?;
    let connection = session.links[0].connection;
    let ways = session.world.counts_of(0);
    context.note(
        "DATA sent, deleted, corrupted",
        format!("{}, {}, {}", ways.data, ways.data_lost, ways.flipped),
    );
    found(honest(&mut session.world, 0, connection, false))
}

fn arrivals(context: &mut Context) -> Outcome {
    context.needs_virtual_time()?;
    let mut session = Session::pair(context)?;
    impair_all(
        &mut session,
        Impairment {
            loss: 0.05,
            duplicate: 0.05,
            late: 0.02,
            late_ns: 20_000,
            ..Impairment::default()
        },
    );
    session.write(0, 0, 0, 2 << 20)?;
    session.finish()?;
    session.run_for_us(100.0)?;
    let ways = session.world.counts_of(0);
    let taken =
        session.counter(1, Counter::ReceivedData)? + session.counter(1, Counter::Duplicate)?;
    let dropped = session.counter(1, Counter::DropWindow)?;
    // Copies of probes count as probes; of DATA as duplicates. A doubled packet may have been either.
    let (least, most) = (
        ways.data - ways.data_lost,
        ways.data - ways.data_lost + ways.doubled,
    );
    context.note("DATA that arrived, counted", taken + dropped);
    ensure((least..=most).contains(&(taken + dropped)), || {
        format!(
            "{} DATA packets were counted, {least} to {most} arrived",
            taken + dropped
        )
    })
}

fn health(context: &mut Context) -> Outcome {
    context.needs_everywhere(Ability::Fences)?;
    let mut session = Session::pair(context)?;
    session.write(0, 0, 0, 1 << 20)?;
    session.run_for_us(10.0)?;
    for end in 0..2 {
        session.world.impair(end, 1, |way| way.down = true);
    }
    session.write(0, 0, 1 << 20, 1 << 20)?;
    session.finish()?;
    let wait_us = if context.needs_virtual_time().is_ok() {
        1_000.0
    } else {
        300_000.0
    };
    session.run_for_us(wait_us)?;
    let changes = session
        .events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::Health { .. }))
        .count();
    let timeouts = session
        .events
        .iter()
        .filter(|event| event.kind == EventKind::Timeout)
        .count();
    context.note("changes of health", changes);
    context.note("timeouts", timeouts);
    ensure(changes > 0 && timeouts > 0, || {
        format!("{changes} changes of health and {timeouts} timeouts were told")
    })
}

fn access(context: &mut Context) -> Outcome {
    let mut session = Session::pair(context)?;
    let mut region = session.links[0].region;
    region.key = osprey_hls::wire::Key(region.key.0 ^ 1);
    let local = session.world.memory(0).allocate(64);
    let operation = osprey_hls::endpoint::WorkOperation::Write {
        local,
        length: 64,
        remote: region.address,
        key: region.key,
    };
    session.post(0, 0, operation)?;
    session.until("the refusal", |session| session.order.open() == 0)?;
    session.failed_with(context, Status::RemoteAccess, 1)?;
    if session.world.is_here(1) {
        let dropped =
            session.counter(1, Counter::DropKey)? + session.counter(1, Counter::DropBounds)?;
        ensure(dropped > 0, || {
            "the receiver counts no refused access".into()
        })?;
        ensure(session.world.memory(1).placed() == 0, || {
            "bytes were placed under a wrong key".into()
        })?;
    }
    Ok(())
}

fn close(context: &mut Context) -> Outcome {
    let mut session = Session::pair(context)?;
    impair_all(
        &mut session,
        Impairment {
            delay_ns: 200_000,
            ..Impairment::default()
        },
    );
    for part in 0..3 {
        session.write(0, 0, part * 200_000, 200_000)?;
    }
    session.run_for_us(20.0)?;
    let (connection, now) = (session.links[0].connection, session.world.now_ns(0));
    crate::session::refused(session.world.end(0).close(now, connection))?;
    session.until("the flush", |session| session.order.open() == 0)?;
    found(session.order.finding())?;
    let statuses: Vec<Status> = session
        .failed
        .iter()
        .map(|completion| completion.status)
        .collect();
    context.note("statuses", format!("{statuses:?}"));
    ensure(
        statuses.len() == 3 && statuses.iter().all(|status| *status == Status::Flushed),
        || format!("requests ended with {statuses:?}"),
    )?;
    session.run_for_us(500.0)?;
    ensure(
        session.order.open() == 0 && session.order.finding().is_none(),
        || "something ended twice".into(),
    )
}
