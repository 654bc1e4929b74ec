//! Chapter 1: loss, uniform and in bursts, of data and of ACKs.

use crate::case::{Ability, Case, Context, Outcome, ensure};
use crate::impairment::Impairment;
use crate::impairment::Kind;
use crate::referee::honest;
use crate::session::{Session, found};
use osprey_hls::endpoint::Counter;

const BYTES: usize = 2 << 20;

pub(super) const CASES: &[Case] = &[
    Case {
        number: (1, 1),
        title: "no loss: nothing is sent twice",
        rule: "T-2.3",
        run: none,
    },
    Case {
        number: (1, 2),
        title: "0.1 % uniform",
        rule: "T-2.3",
        run: |c| uniform(c, 0.001),
    },
    Case {
        number: (1, 3),
        title: "1 % uniform",
        rule: "T-2.3",
        run: |c| uniform(c, 0.01),
    },
    Case {
        number: (1, 4),
        title: "5 % uniform",
        rule: "T-2.3",
        run: |c| uniform(c, 0.05),
    },
    Case {
        number: (1, 5),
        title: "10 % uniform",
        rule: "T-2.3",
        run: |c| uniform(c, 0.1),
    },
    Case {
        number: (1, 6),
        title: "30 % uniform",
        rule: "T-2.4",
        run: |c| uniform(c, 0.3),
    },
    Case {
        number: (1, 7),
        title: "5 % in bursts of 4",
        rule: "T-2.3",
        run: |c| bursts(c, 4.0),
    },
    Case {
        number: (1, 8),
        title: "5 % in bursts of 16",
        rule: "T-2.4",
        run: |c| bursts(c, 16.0),
    },
    Case {
        number: (1, 9),
        title: "30 % of ACKs alone",
        rule: "T-2.7",
        run: acks,
    },
    Case {
        number: (1, 10),
        title: "the last ACKs are lost",
        rule: "T-2.8",
        run: last_acks,
    },
    Case {
        number: (1, 11),
        title: "corruption is loss",
        rule: "T-3.9",
        run: corruption,
    },
    Case {
        number: (1, 12),
        title: "a loss cuts no window",
        rule: "T-2.5",
        run: no_cut,
    },
];

/// Impairs both planes in both directions.
pub(super) fn impair_all(session: &mut Session, impairment: Impairment) {
    for end in 0..2 {
        for plane in 0..2 {
            session.world.impair(end, plane, |way| *way = impairment);
        }
    }
}

fn transfer(
    context: &mut Context,
    impairment: Impairment,
) -> Result<Session, crate::case::Failure> {
    let mut session = Session::pair(context)?;
    impair_all(&mut session, impairment);
    for part in 0..8 {
        session.write(0, 0, part * BYTES / 8 + 5, BYTES / 8)?;
    }
    session.wait()?;
    impair_all(&mut session, Impairment::default());
    session.finish()?;
    let counts = session.world.counts_of(0);
    context.note("DATA packets", counts.data);
    context.note("deleted", counts.data_lost);
    context.note("resent", session.counter(0, Counter::Resends)?);
    Ok(session)
}

fn none(context: &mut Context) -> Outcome {
    context.needs_virtual_time()?;
    let mut session = transfer(context, Impairment::default())?;
    let resent = session.counter(0, Counter::Resends)?;
    ensure(resent == 0, || {
        format!("{resent} packets were sent again without a loss")
    })
}

fn uniform(context: &mut Context, loss: f64) -> Outcome {
    let mut session = transfer(
        context,
        Impairment {
            loss,
            ..Impairment::default()
        },
    )?;
    if context.needs_virtual_time().is_ok() && loss <= 0.1 {
        if let Ok(moved) = session.counter(0, Counter::Condemned) {
            ensure(moved == 0, || {
                format!("{moved} paths were condemned by uniform loss")
            })?;
        }
        let connection = session.links[0].connection;
        return found(honest(&mut session.world, 0, connection, true));
    }
    Ok(())
}

fn bursts(context: &mut Context, burst: f64) -> Outcome {
    transfer(
        context,
        Impairment {
            loss: 0.05,
            burst,
            ..Impairment::default()
        },
    )
    .map(|_| ())
}

fn acks(context: &mut Context) -> Outcome {
    let impairment = Impairment {
        kind: Kind::Ack,
        loss: 0.3,
        ..Impairment::default()
    };
    let mut session = transfer(context, impairment)?;
    if context.needs_virtual_time().is_ok() {
        let resent = session.counter(0, Counter::Resends)?;
        ensure(resent == 0, || {
            format!("{resent} packets were sent again for lost ACKs")
        })?;
    }
    Ok(())
}

/// All ACKs are lost while the message arrives; then they pass: what was asked again must bring them.
fn last_acks(context: &mut Context) -> Outcome {
    let mut session = Session::pair(context)?;
    for plane in 0..2 {
        session.world.impair(1, plane, |way| {
            *way = Impairment {
                kind: Kind::Ack,
                down: true,
                ..Impairment::default()
            };
        });
    }
    session.write(0, 0, 0, 4 * 4_096)?;
    session.run_for_us(60.0)?;
    ensure(session.order.open() == 1, || {
        "the request ended without an ACK".into()
    })?;
    impair_all(&mut session, Impairment::default());
    session.finish()?;
    context.note("probes", session.counter(0, Counter::SentProbes)?);
    Ok(())
}

fn corruption(context: &mut Context) -> Outcome {
    let mut session = transfer(
        context,
        Impairment {
            flip: 0.02,
            ..Impairment::default()
        },
    )?;
    let flipped = session.world.counts_of(0).flipped;
    ensure(flipped > 0, || "nothing was corrupted".into())?;
    if session.world.is_here(1) {
        let refused = session.world.refused(1);
        context.note("datagrams refused", refused);
        ensure(refused >= flipped, || {
            format!("{flipped} datagrams were corrupted, {refused} refused")
        })?;
    }
    Ok(())
}

fn no_cut(context: &mut Context) -> Outcome {
    context.needs_virtual_time()?;
    context.needs(0, Ability::Congestion)?;
    let mut windows = Vec::new();
    for loss in [0.0, 0.1] {
        let mut session = Session::pair(context)?;
        impair_all(
            &mut session,
            Impairment {
                kind: Kind::Data,
                loss,
                ..Impairment::default()
            },
        );
        session.write(0, 0, 0, BYTES)?;
        session.run_for_us(60.0)?;
        windows.push(session.windows());
    }
    context.note(
        "windows without and with 10 % loss, packets / 1024",
        format!("{windows:?}"),
    );
    ensure(windows[1] * 10 >= windows[0] * 9, || {
        format!("windows fell from {} to {}", windows[0], windows[1])
    })
}
