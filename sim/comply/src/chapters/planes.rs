//! Chapter 4: planes that die, come back and flap, also while another path is poor.

use super::loss::impair_all;
use crate::case::{Ability, Case, Context, Outcome, ensure};
use crate::impairment::Impairment;
use crate::session::Session;
use crate::world::Nic;
use osprey_hls::endpoint::{Counter, EventKind, Health, Status};

pub(super) const CASES: &[Case] = &[
    Case {
        number: (4, 1),
        title: "a plane dies silently: all arrives over the other",
        rule: "T-2.10",
        run: dies,
    },
    Case {
        number: (4, 2),
        title: "it comes back: it carries data again",
        rule: "T-2.10",
        run: |c| returns(c, 0.0),
    },
    Case {
        number: (4, 3),
        title: "it comes back while the other loses 5 %",
        rule: "T-2.10",
        run: |c| returns(c, 0.05),
    },
    Case {
        number: (4, 4),
        title: "three of four planes die one after the other",
        rule: "T-2.10",
        run: three_of_four,
    },
    Case {
        number: (4, 5),
        title: "one direction of a plane dies",
        rule: "T-2.7",
        run: one_direction,
    },
    Case {
        number: (4, 6),
        title: "a plane flaps",
        rule: "T-2.10",
        run: flaps,
    },
    Case {
        number: (4, 7),
        title: "every plane dies: the host is told",
        rule: "T-2.4",
        run: all_die,
    },
    Case {
        number: (4, 8),
        title: "a plane swallows DATA and answers probes",
        rule: "T-2.10",
        run: swallows,
    },
];

/// How long a dead plane stays dead: until its paths are fenced, also with the timers of sockets.
fn long_us(context: &Context) -> f64 {
    if context.needs_virtual_time().is_ok() {
        600.0
    } else {
        60_000.0
    }
}

/// Both directions of a plane.
fn plane(session: &mut Session, plane: u8, impairment: Impairment) {
    for end in 0..2 {
        session.world.impair(end, plane, |way| *way = impairment);
    }
}

const DEAD: Impairment = Impairment {
    kind: crate::impairment::Kind::Everything,
    down: true,
    loss: 0.0,
    burst: 0.0,
    duplicate: 0.0,
    late: 0.0,
    late_ns: 0,
    delay_ns: 0,
    flip: 0.0,
    mark: 0.0,
};

fn dies(context: &mut Context) -> Outcome {
    context.needs_everywhere(Ability::Fences)?;
    let mut session = Session::pair(context)?;
    session.write(0, 0, 0, 1 << 20)?;
    session.run_for_us(20.0)?;
    plane(&mut session, 1, DEAD);
    session.write(0, 1, 1 << 20, 1 << 20)?;
    session.finish()?;
    let (condemned, moved) = (
        session.counter(0, Counter::Condemned)?,
        session.counter(0, Counter::Moved)?,
    );
    context.note("paths condemned", condemned);
    context.note("packets moved", moved);
    let events = session.events.iter();
    let told = events
        .filter(|event| {
            matches!(
                event.kind,
                EventKind::Health {
                    to: Health::Suspect,
                    ..
                }
            )
        })
        .count();
    ensure(told > 0, || "a plane died and no event says so".into())
}

fn returns(context: &mut Context, loss_elsewhere: f64) -> Outcome {
    context.needs_everywhere(Ability::Fences)?;
    let mut session = Session::pair(context)?;
    plane(
        &mut session,
        0,
        Impairment {
            loss: loss_elsewhere,
            ..Impairment::default()
        },
    );
    plane(&mut session, 1, DEAD);
    session.write(0, 0, 0, 1 << 20)?;
    session.wait()?;
    let long_us = long_us(context);
    session.run_for_us(long_us)?;
    plane(&mut session, 1, Impairment::default());
    session.run_for_us(10.0 * long_us)?;
    let before = session.world.counts(0, 1).data;
    for part in 0..2 {
        session.write(0, 0, (1 + part) << 20, 1 << 20)?;
    }
    session.finish()?;
    let after = session.world.counts(0, 1).data - before;
    context.note("DATA packets on the restored plane", after);
    let least = if context.needs_virtual_time().is_ok() {
        100
    } else {
        0
    };
    ensure(after > least, || {
        format!("{after} packets went over the plane that came back")
    })
}

fn three_of_four(context: &mut Context) -> Outcome {
    context.needs_everywhere(Ability::Fences)?;
    context.needs_both_ends()?;
    let mut session = Session::connected(
        context,
        &[Nic {
            planes: 4,
            ..Nic::default()
        }; 2],
    )?;
    for dead in 1..4 {
        session.write(0, 0, usize::from(dead - 1) << 20, 1 << 20)?;
        session.run_for_us(15.0)?;
        plane(&mut session, dead, DEAD);
    }
    session.finish()
}

fn one_direction(context: &mut Context) -> Outcome {
    context.needs(1, Ability::OtherPlanes)?;
    let mut session = Session::pair(context)?;
    session.world.impair(1, 1, |way| *way = DEAD);
    session.write(0, 0, 0, 2 << 20)?;
    session.finish()?;
    context.note("resent", session.counter(0, Counter::Resends)?);
    Ok(())
}

fn flaps(context: &mut Context) -> Outcome {
    let mut session = Session::pair(context)?;
    let step_us = long_us(context) / 8.0;
    for turn in 0..12 {
        session.write(0, 0, turn * 200_000, 200_000)?;
        plane(
            &mut session,
            1,
            if turn % 2 == 0 {
                DEAD
            } else {
                Impairment::default()
            },
        );
        session.run_for_us(step_us)?;
    }
    plane(&mut session, 1, Impairment::default());
    session.finish()
}

fn all_die(context: &mut Context) -> Outcome {
    let mut session = Session::pair(context)?;
    impair_all(&mut session, DEAD);
    for part in 0..3 {
        session.write(0, 0, part * 100_000, 100_000)?;
    }
    session.until("an error", |session| session.order.open() == 0)?;
    session.failed_with(context, Status::RetriesExhausted, 3)
}

fn swallows(context: &mut Context) -> Outcome {
    context.needs_everywhere(Ability::Fences)?;
    let mut session = Session::pair(context)?;
    let impairment = Impairment {
        kind: crate::impairment::Kind::Data,
        ..DEAD
    };
    session.world.impair(0, 1, |way| *way = impairment);
    session.write(0, 0, 0, 1 << 20)?;
    session.finish()?;
    context.note("paths condemned", session.counter(0, Counter::Condemned)?);
    Ok(())
}
