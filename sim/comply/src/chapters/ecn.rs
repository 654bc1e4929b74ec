//! Chapter 3: marks shrink windows, receivers grant shares.

use super::loss::impair_all;
use crate::case::{Ability, Case, Context, Failure, Outcome, ensure};
use crate::impairment::Impairment;
use crate::session::Session;
use crate::world::Nic;
use osprey_hls::endpoint::Counter;

pub(super) const CASES: &[Case] = &[
    Case {
        number: (3, 1),
        title: "marked packets shrink windows",
        rule: "T-2.6",
        run: marks_shrink,
    },
    Case {
        number: (3, 2),
        title: "a mark is no loss",
        rule: "T-2.5",
        run: no_loss,
    },
    Case {
        number: (3, 3),
        title: "four senders are granted a quarter each",
        rule: "T-2.12",
        run: quarter,
    },
    Case {
        number: (3, 4),
        title: "the last sender gets all again",
        rule: "T-2.12",
        run: whole_again,
    },
];

fn marks_shrink(context: &mut Context) -> Outcome {
    context.needs(0, Ability::Congestion)?;
    let (mut found, mut first) = (Vec::new(), 0);
    for mark in [0.0, 1.0] {
        let mut session = Session::pair(context)?;
        impair_all(
            &mut session,
            Impairment {
                mark,
                ..Impairment::default()
            },
        );
        first = session.windows();
        session.write(0, 0, 0, 2 << 20)?;
        session.finish()?;
        if mark > 0.0 && session.world.is_here(1) {
            context.note("packets marked", session.world.counts_of(0).marked);
            if let Ok(seen) = session.counter(1, Counter::ReceivedMarked) {
                context.note("marks seen", seen);
            }
        }
        found.push(session.windows());
    }
    context.note(
        "windows at first, without and with marks, packets / 1024",
        format!("{first}, {found:?}"),
    );
    // In real time a path may be slow for reasons of its own: then only that marked packets let no window grow is sure.
    let most = if context.needs_virtual_time().is_ok() {
        (found[0] * 80 / 100).min(first.saturating_sub(1))
    } else {
        first.saturating_sub(1)
    };
    ensure(found[1] <= most, || {
        format!(
            "all packets were marked, and windows went from {first} to {}, where {most} are the most",
            found[1]
        )
    })
}

fn no_loss(context: &mut Context) -> Outcome {
    let mut session = Session::pair(context)?;
    impair_all(
        &mut session,
        Impairment {
            mark: 0.5,
            ..Impairment::default()
        },
    );
    session.write(0, 0, 0, 1 << 20)?;
    session.finish()?;
    let lost = session.counter(0, Counter::Losses)?;
    match context.needs_virtual_time() {
        Ok(()) => ensure(lost == 0, || {
            format!("{lost} marked packets were taken for lost")
        }),
        Err(_) => Ok(()),
    }
}

/// Four senders with work for a while; what each is granted after some of it.
fn four(context: &mut Context) -> Result<Session, Failure> {
    context.needs_virtual_time()?;
    context.needs_everywhere(Ability::Share)?;
    let mut session = Session::new(context, &[Nic::default(); 5])?;
    for sender in 1..5 {
        session.connect(sender, 0)?;
    }
    Ok(session)
}

fn shares(session: &mut Session) -> Vec<u16> {
    let links: Vec<_> = session
        .links
        .iter()
        .map(|link| (link.from, link.connection))
        .collect();
    let share = |(end, connection): (usize, _)| {
        let endpoint = session.world.behavioural(end).ok()?;
        let telemetry = endpoint.connection_telemetry(connection)?;
        Some(telemetry.share)
    };
    links.into_iter().filter_map(share).collect()
}

fn quarter(context: &mut Context) -> Outcome {
    let mut session = four(context)?;
    for link in 0..4 {
        session.write(link, 0, 0, 2 << 20)?;
    }
    session.run_for_us(100.0)?;
    let found = shares(&mut session);
    context.note("shares of 65535", format!("{found:?}"));
    ensure(
        found.iter().all(|share| (15_000..18_000).contains(share)),
        || format!("shares are {found:?}"),
    )?;
    session.finish()
}

fn whole_again(context: &mut Context) -> Outcome {
    let mut session = four(context)?;
    session.write(0, 0, 0, 4 << 20)?;
    for link in 1..4 {
        session.write(link, 0, 0, 100_000)?;
    }
    session.until("the short messages", |session| session.order.done() == 3)?;
    session.run_for_us(60.0)?;
    let found = shares(&mut session)[0];
    context.note("share of the last sender", found);
    ensure(found > 60_000, || {
        format!("the last sender is granted {found} of 65535")
    })?;
    session.finish()
}
