//! Chapter 2: paths and planes that differ in delay, packets that overtake each other.

use super::loss::impair_all;
use crate::case::{Case, Context, Outcome, ensure};
use crate::impairment::{Impairment, Kind};
use crate::session::Session;
use osprey_hls::endpoint::Counter;

pub(super) const CASES: &[Case] = &[
    Case {
        number: (2, 1),
        title: "one plane is late by 16 packet times",
        rule: "T-2.3",
        run: |c| late_plane(c, 5_000),
    },
    Case {
        number: (2, 2),
        title: "one plane is late by 200 us",
        rule: "T-2.3",
        run: |c| late_plane(c, 200_000),
    },
    Case {
        number: (2, 3),
        title: "2 % are overtaken by up to 2 us",
        rule: "T-2.8",
        run: |c| overtaken(c, 0.02, 2_000),
    },
    Case {
        number: (2, 4),
        title: "10 % are overtaken by up to 20 us",
        rule: "T-2.8",
        run: |c| overtaken(c, 0.1, 20_000),
    },
    Case {
        number: (2, 5),
        title: "1 % come 1 ms late",
        rule: "T-2.8",
        run: |c| overtaken(c, 0.01, 1_000_000),
    },
    Case {
        number: (2, 6),
        title: "ACKs are overtaken",
        rule: "T-7.6",
        run: late_acks,
    },
    Case {
        number: (2, 7),
        title: "everything at once",
        rule: "T-2.8",
        run: everything,
    },
];

const BYTES: usize = 1 << 20;

/// Paths reorder against each other, not inside themselves: that is no loss.
fn late_plane(context: &mut Context, delay_ns: u64) -> Outcome {
    let mut session = Session::pair(context)?;
    for end in 0..2 {
        session.world.impair(end, 1, |way| way.delay_ns = delay_ns);
    }
    session.write(0, 0, 0, BYTES)?;
    session.finish()?;
    let resent = session.counter(0, Counter::Resends)?;
    context.note("resent", resent);
    if context.needs_virtual_time().is_ok() && delay_ns < 100_000 {
        ensure(resent == 0, || {
            format!("{resent} packets were sent again because a plane is late")
        })?;
    }
    Ok(())
}

fn overtaken(context: &mut Context, late: f64, late_ns: u64) -> Outcome {
    let mut session = Session::pair(context)?;
    let impairment = Impairment {
        kind: Kind::Data,
        late,
        late_ns,
        ..Impairment::default()
    };
    impair_all(&mut session, impairment);
    session.write(0, 0, 0, BYTES)?;
    session.write(0, 1, BYTES, BYTES)?;
    session.finish()?;
    context.note("resent", session.counter(0, Counter::Resends)?);
    if session.world.is_here(1) {
        context.note(
            "duplicates dropped",
            session.counter(1, Counter::Duplicate)?,
        );
    }
    Ok(())
}

fn late_acks(context: &mut Context) -> Outcome {
    let mut session = Session::pair(context)?;
    let impairment = Impairment {
        kind: Kind::Ack,
        late: 0.3,
        late_ns: 30_000,
        ..Impairment::default()
    };
    impair_all(&mut session, impairment);
    session.write(0, 0, 0, BYTES)?;
    session.finish()?;
    let (resent, old) = (
        session.counter(0, Counter::Resends)?,
        session.counter(0, Counter::OldBlocks)?,
    );
    context.note("older blocks", old);
    if context.needs_virtual_time().is_ok() {
        ensure(resent == 0, || {
            format!("{resent} packets were sent again because ACKs came out of order")
        })?;
        ensure(old > 0, || "no ACK was overtaken".into())?;
    }
    Ok(())
}

fn everything(context: &mut Context) -> Outcome {
    let mut session = Session::pair(context)?;
    let impairment = Impairment {
        loss: 0.03,
        duplicate: 0.03,
        late: 0.05,
        late_ns: 30_000,
        flip: 0.01,
        mark: 0.05,
        ..Impairment::default()
    };
    impair_all(&mut session, impairment);
    for part in 0..16 {
        session.write(0, part % 4, usize::from(part) * 70_001, 70_001)?;
    }
    session.wait()?;
    impair_all(&mut session, Impairment::default());
    session.finish()
}
