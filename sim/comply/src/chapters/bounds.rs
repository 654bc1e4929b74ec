//! Chapter 9: whatever happens, no queue passes its bound, and what is refused costs nothing.

use super::loss::impair_all;
use crate::case::{Ability, Case, Context, Outcome, ensure};
use crate::impairment::Impairment;
use crate::session::{Session, refused};
use osprey_hls::endpoint::{Counter, PostError, WorkOperation, WorkRequest};

pub(super) const CASES: &[Case] = &[
    Case {
        number: (9, 1),
        title: "paths stay within W under everything at once",
        rule: "T-2.6",
        run: within_window,
    },
    Case {
        number: (9, 2),
        title: "the receiver holds no packet back",
        rule: "T-2.1",
        run: no_reordering,
    },
    Case {
        number: (9, 3),
        title: "a queue that is full refuses, and nothing is lost",
        rule: "T-6.7",
        run: full_queue,
    },
    Case {
        number: (9, 4),
        title: "evidence that nobody takes is bounded and counted",
        rule: "T-2.13",
        run: events,
    },
    Case {
        number: (9, 5),
        title: "a SEND that finds no request is asked for again, not stored",
        rule: "T-3.7",
        run: not_stored,
    },
];

/// Most packets in flight on a path, where that can be seen.
fn most_in_flight(session: &mut Session) -> Option<u32> {
    let paths = session.paths(0).into_iter();
    paths.filter_map(|path| path.out).max()
}

fn within_window(context: &mut Context) -> Outcome {
    let mut session = Session::pair(context)?;
    impair_all(
        &mut session,
        Impairment {
            loss: 0.1,
            duplicate: 0.05,
            late: 0.1,
            late_ns: 100_000,
            ..Impairment::default()
        },
    );
    for part in 0..4 {
        session.write(0, part, usize::from(part) << 20, 1 << 20)?;
    }
    let mut most = most_in_flight(&mut session);
    session.until("completions", |session| {
        if most.is_some() {
            most = most.max(most_in_flight(session));
        }
        session.order.open() == 0
    })?;
    impair_all(&mut session, Impairment::default());
    if let Some(most) = most {
        context.note("most packets of a path that are out", most);
        ensure(most <= 64, || {
            format!("{most} packets of one path are out, W is 64")
        })?;
    }
    if session.world.is_here(1) {
        let outside = session.counter(1, Counter::DropWindow)?;
        context.note("packets outside the receiver's window", outside);
        ensure(outside == 0, || {
            format!("{outside} packets were outside the receiver's window")
        })?;
    }
    session.finish()
}

/// Bytes that may be accepted and not yet placed: of an endpoint a packet; of an engine what its pipeline holds between the
/// window and the bus.
fn room(context: &Context) -> u64 {
    if context.target.engine() == Some(1) {
        8 * 4_096
    } else {
        4_096
    }
}

/// What has been acknowledged lies in memory, though an earlier packet is missing: nothing waits in between.
fn no_reordering(context: &mut Context) -> Outcome {
    context.needs_both_ends()?;
    let mut session = Session::pair(context)?;
    impair_all(
        &mut session,
        Impairment {
            late: 0.3,
            late_ns: 50_000,
            ..Impairment::default()
        },
    );
    session.write(0, 0, 0, 1 << 20)?;
    let mut behind = 0;
    session.until("completions", |session| {
        let accepted = session.counter(1, Counter::ReceivedData).unwrap_or(0) * 4_096;
        behind = behind.max(accepted.saturating_sub(session.world.memory(1).placed()));
        session.order.open() == 0
    })?;
    context.note("accepted bytes that were not in memory, most", behind);
    ensure(behind <= room(context), || {
        format!("{behind} bytes were accepted and not placed")
    })?;
    impair_all(&mut session, Impairment::default());
    session.finish()
}

fn full_queue(context: &mut Context) -> Outcome {
    let mut session = Session::pair(context)?;
    let connection = session.links[0].connection;
    let region = session.links[0].region;
    let stream = session.folded(0, 2);
    let operation = WorkOperation::Write {
        local: 0,
        length: 0,
        remote: region.address,
        key: region.key,
    };
    let mut refusals = 0;
    for turn in 0..3 {
        let mut posted = 0_u64;
        loop {
            let (now, id) = (session.world.now_ns(0), turn << 32 | posted);
            match session.world.end(0).post_send(
                now,
                connection,
                stream,
                WorkRequest { id, operation },
            ) {
                Ok(()) => session.order.posted((0, connection.value(), stream), id),
                Err(PostError::Full { .. }) => break,
                Err(error) => return ensure(false, || format!("refused with {error}")),
            }
            posted += 1;
            ensure(posted < 1 << 20, || {
                "a queue takes more than a million requests".into()
            })?;
        }
        refusals += 1;
        session.wait()?;
    }
    context.note("times that the queue was full", refusals);
    session.write(0, 2, 0, 10_000)?;
    session.finish()
}

fn events(context: &mut Context) -> Outcome {
    context.needs_both_ends()?;
    context.needs(1, Ability::Events)?;
    let mut session = Session::pair(context)?;
    // End 1 sends; nobody takes its evidence.
    session.connect(1, 0)?;
    for plane in 0..2 {
        session.world.impair(1, plane, |way| way.loss = 0.3);
    }
    for turn in 0..8 {
        session.write(1, 0, turn * 400_000, 400_000)?;
    }
    session.finish()?;
    let mut held = 0;
    while session.world.behavioural(1)?.poll_event().is_some() {
        held += 1;
    }
    let lost = session.counter(1, Counter::EventsLost)?;
    context.note("records held", held);
    context.note("records lost, counted", lost);
    ensure(held <= 1 << 14, || {
        format!("{held} records in a ring of {}", 1 << 14)
    })
}

fn not_stored(context: &mut Context) -> Outcome {
    context.needs_both_ends()?;
    context.needs_everywhere(Ability::Send)?;
    let mut session = Session::pair(context)?;
    let local = session.world.memory(0).allocate(1 << 18);
    for _ in 0..4 {
        session.post(
            0,
            3,
            WorkOperation::Send {
                local,
                length: 1 << 18,
            },
        )?;
    }
    session.run_for_us(500.0)?;
    let placed = session.world.memory(1).placed();
    context.note("bytes placed without a request", placed);
    ensure(placed == 0, || {
        format!("{placed} bytes of SENDs without a receive request were placed")
    })?;
    let connection = session.links[0].connection;
    let now = session.world.now_ns(0);
    refused(session.world.end(0).close(now, connection))?;
    session.until("the flush", |session| session.order.open() == 0)?;
    ensure(session.failed.len() == 4, || {
        format!("{} requests were flushed of 4", session.failed.len())
    })
}
