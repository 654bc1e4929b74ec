//! Chapter 5: duplicates, late copies, packets of an earlier life.

use super::loss::impair_all;
use crate::case::{Case, Context, Outcome, ensure};
use crate::impairment::{Impairment, Kind};
use crate::session::Session;
use osprey_hls::endpoint::Counter;

pub(super) const CASES: &[Case] = &[
    Case {
        number: (5, 1),
        title: "20 % of packets come twice",
        rule: "T-2.8",
        run: |c| doubled(c, 0.2),
    },
    Case {
        number: (5, 2),
        title: "every packet comes twice",
        rule: "T-2.8",
        run: |c| doubled(c, 1.0),
    },
    Case {
        number: (5, 3),
        title: "copies of old DATA write nothing over new bytes",
        rule: "T-2.8",
        run: old_data,
    },
    Case {
        number: (5, 4),
        title: "DATA of an earlier connection is dropped and counted",
        rule: "T-4.8",
        run: earlier_life,
    },
];

fn doubled(context: &mut Context, duplicate: f64) -> Outcome {
    let mut session = Session::pair(context)?;
    impair_all(
        &mut session,
        Impairment {
            duplicate,
            ..Impairment::default()
        },
    );
    for part in 0..4 {
        session.write(0, part, usize::from(part) << 18, 1 << 18)?;
    }
    session.finish()?;
    let copies = session.world.counts_of(0).doubled;
    context.note("packets doubled", copies);
    ensure(copies > 0, || "nothing was doubled".into())?;
    if session.world.is_here(1) {
        let dropped = session.counter(1, Counter::Duplicate)?;
        context.note("duplicates dropped", dropped);
        ensure(dropped > 0, || "no duplicate was counted".into())?;
    }
    Ok(())
}

/// Writes, with 5 % of DATA held back for long; when that is acknowledged, writes other bytes to the same place. The late
/// packets come after their places have been written anew.
fn old_data(context: &mut Context) -> Outcome {
    let mut session = Session::pair(context)?;
    let late_ns = if context.needs_virtual_time().is_ok() {
        300_000
    } else {
        30_000_000
    };
    impair_all(
        &mut session,
        Impairment {
            kind: Kind::Data,
            late: 0.05,
            late_ns,
            ..Impairment::default()
        },
    );
    session.write(0, 0, 0, 1 << 18)?;
    session.wait()?;
    impair_all(&mut session, Impairment::default());
    session.write(0, 0, 0, 1 << 18)?;
    session.wait()?;
    session.run_for_us(late_ns as f64 / 1e3 * 2.0)?;
    session.finish()
}

fn earlier_life(context: &mut Context) -> Outcome {
    context.needs_both_ends()?;
    let mut session = Session::pair(context)?;
    let late_ns = if context.needs_virtual_time().is_ok() {
        400_000
    } else {
        40_000_000
    };
    impair_all(
        &mut session,
        Impairment {
            kind: Kind::Data,
            late: 0.2,
            late_ns,
            ..Impairment::default()
        },
    );
    session.write(0, 0, 0, 1 << 18)?;
    session.wait()?;
    impair_all(&mut session, Impairment::default());
    let (connection, accepted) = (session.links[0].connection, session.links[0].accepted);
    let now = session.world.now_ns(0);
    crate::session::refused(session.world.end(0).close(now, connection))?;
    session.until("the end", |session| {
        let state = session.world.end(0).connection_state(connection);
        matches!(
            state,
            Some(osprey_hls::endpoint::ConnectionState::Closed(_))
        )
    })?;
    crate::session::refused(session.world.end(0).release(connection))?;
    if let Some(accepted) = accepted {
        crate::session::refused(session.world.end(1).release(accepted))?;
    }
    let old = session.links.remove(0);
    let link = session.connect(0, 1)?;
    session.write(link, 0, 0, 1 << 18)?;
    session.wait()?;
    session.run_for_us(2.0 * late_ns as f64 / 1e3)?;
    session.judge_memory(link)?;
    let dropped = session.counter(1, Counter::DropIncarnation)?
        + session.counter(1, Counter::DropConnection)?;
    context.note("packets of the earlier life, dropped", dropped);
    ensure(dropped > 0, || {
        "no packet of the earlier life was counted".into()
    })?;
    let before = session.world.memory(1).read(old.region.address, 1 << 18);
    ensure(before.is_ok(), || "the earlier region is gone".into())
}
