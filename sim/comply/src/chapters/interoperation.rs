//! Chapter 8: ends that differ settle on the least of both, in both roles, or refuse and name both values.

use super::loss::impair_all;
use crate::case::{Case, Context, Outcome, ensure};
use crate::impairment::Impairment;
use crate::session::Session;
use crate::world::Nic;
use osprey_hls::endpoint::CloseReason;
use osprey_hls::wire::RejectReason;

pub(super) const CASES: &[Case] = &[
    Case {
        number: (8, 1),
        title: "both roles at once",
        rule: "T-4.1",
        run: both_roles,
    },
    Case {
        number: (8, 2),
        title: "MTU: the smaller counts",
        rule: "T-4.3",
        run: mtu,
    },
    Case {
        number: (8, 3),
        title: "paths: the fewer count",
        rule: "T-4.3",
        run: paths,
    },
    Case {
        number: (8, 4),
        title: "streams and slots: the fewer count",
        rule: "T-4.3",
        run: streams,
    },
    Case {
        number: (8, 5),
        title: "one slot a stream",
        rule: "T-2.9",
        run: one_slot,
    },
    Case {
        number: (8, 6),
        title: "W = 128 and 256",
        rule: "T-1.9",
        run: windows,
    },
    Case {
        number: (8, 7),
        title: "W differs: refused, both values named",
        rule: "T-4.3",
        run: other_window,
    },
    Case {
        number: (8, 8),
        title: "planes differ: refused, both values named",
        rule: "T-4.3",
        run: other_planes,
    },
    Case {
        number: (8, 9),
        title: "a service that nobody offers",
        rule: "T-4.3",
        run: no_service,
    },
    Case {
        number: (8, 10),
        title: "set-up under 30 % loss",
        rule: "T-4.2",
        run: lossy_setup,
    },
];

/// Connects two NICs and moves data with some loss; what was settled on.
fn settle(
    context: &mut Context,
    nics: [Nic; 2],
) -> Result<osprey_hls::endpoint::Settled, crate::case::Failure> {
    let mut session = Session::connected(context, &nics)?;
    let connection = session.links[0].connection;
    let settled = session.world.end(0).settled(connection);
    let settled =
        settled.ok_or_else(|| crate::case::Failure::Wrong("nothing was settled".into()))?;
    context.note("settled", format!("{settled:?}"));
    impair_all(
        &mut session,
        Impairment {
            loss: 0.02,
            ..Impairment::default()
        },
    );
    for part in 0..10 {
        session.write(0, 0, part * 50_000, 50_000)?;
    }
    session.finish()?;
    Ok(settled)
}

fn both_roles(context: &mut Context) -> Outcome {
    context.needs_both_ends()?;
    let mut session = Session::pair(context)?;
    session.connect(1, 0)?;
    impair_all(
        &mut session,
        Impairment {
            loss: 0.02,
            ..Impairment::default()
        },
    );
    for part in 0..8 {
        session.write(0, 0, part * 100_000, 100_000)?;
        session.write(1, 0, part * 100_000, 100_000)?;
    }
    session.finish()
}

fn mtu(context: &mut Context) -> Outcome {
    for (ours, theirs) in [(1_024, 4_096), (4_096, 1_024), (4_052, 4_052)] {
        let nics = context.nearest([ours, theirs].map(|mtu| Nic {
            mtu,
            ..Nic::default()
        }));
        let [ours, theirs] = nics.map(|nic| nic.mtu);
        let settled = settle(context, nics)?;
        let most = if context.target.is_mixed() {
            ours
        } else {
            ours.min(theirs)
        };
        ensure(settled.mtu <= most, || {
            format!("MTU {} was settled of {ours} and {theirs}", settled.mtu)
        })?;
    }
    Ok(())
}

fn paths(context: &mut Context) -> Outcome {
    for (ours, theirs) in [(4, 8), (16, 8), (16, 16), (1, 1)] {
        let nics = context.nearest([ours, theirs].map(|paths| Nic {
            paths,
            ..Nic::default()
        }));
        let ours = nics[0].paths;
        let settled = settle(context, nics)?;
        ensure(settled.paths_per_plane <= ours, || {
            format!("{} paths were settled of {ours}", settled.paths_per_plane)
        })?;
    }
    Ok(())
}

fn streams(context: &mut Context) -> Outcome {
    for (ours, theirs) in [((1, 64), (4, 16)), ((4, 2), (2, 64))] {
        let nics = context.nearest([ours, theirs].map(|(streams, slots)| Nic {
            streams,
            slots,
            ..Nic::default()
        }));
        let settled = settle(context, nics)?;
        let right = settled.streams <= nics[0].streams && settled.slots <= nics[0].slots;
        ensure(right, || {
            format!(
                "{} streams and {} slots were settled",
                settled.streams, settled.slots
            )
        })?;
    }
    Ok(())
}

fn one_slot(context: &mut Context) -> Outcome {
    let nics = context.nearest(
        [Nic {
            slots: 1,
            ..Nic::default()
        }; 2],
    );
    let settled = settle(context, nics)?;
    ensure(settled.slots == 1, || format!("{} slots", settled.slots))
}

fn windows(context: &mut Context) -> Outcome {
    context.needs_both_ends()?;
    for window in [128, 256] {
        let settled = settle(
            context,
            [Nic {
                window,
                ..Nic::default()
            }; 2],
        )?;
        ensure(settled.window == window, || {
            format!("W = {}", settled.window)
        })?;
    }
    Ok(())
}

/// A set-up that must be refused for `reason`, with both values.
fn rejected(
    context: &mut Context,
    nics: [Nic; 2],
    reason: RejectReason,
    values: (u32, u32),
) -> Outcome {
    let mut session = Session::new(context, &nics)?;
    let (connection, _) = session.ask(0, 1)?;
    let mut told = None;
    session.until("the refusal", |session| {
        let _ = session.world.step();
        told = session.close_reason(0, connection);
        told.is_some()
    })?;
    context.note("told", format!("{told:?}"));
    let Some(CloseReason::Rejected(reject)) = told else {
        return ensure(false, || format!("the connection ended with {told:?}"));
    };
    let right = reject.reason == reason && (reject.ours, reject.yours) == values;
    ensure(right, || {
        format!("{reject:?} where {reason:?} of {values:?} was due")
    })
}

fn other_window(context: &mut Context) -> Outcome {
    let nics = [256, 64].map(|window| Nic {
        window,
        ..Nic::default()
    });
    rejected(context, nics, RejectReason::Window, (64, 256))
}

fn other_planes(context: &mut Context) -> Outcome {
    context.needs_both_ends()?;
    let nics = [1, 2].map(|planes| Nic {
        planes,
        ..Nic::default()
    });
    rejected(context, nics, RejectReason::Planes, (2, 1))
}

fn no_service(context: &mut Context) -> Outcome {
    let mut session = Session::new(context, &[Nic::default(); 2])?;
    let (peer, now) = (session.world.addresses(1), session.world.now_ns(0));
    let asked = session.world.end(0).connect(now, &peer, 0xdead);
    let connection = crate::session::refused(asked)?;
    session.until("the refusal", |session| {
        let _ = session.world.step();
        session.close_reason(0, connection).is_some()
    })?;
    let told = session.close_reason(0, connection);
    let right = matches!(told, Some(CloseReason::Rejected(reject)) if reject.reason == RejectReason::Service);
    ensure(right, || format!("the connection ended with {told:?}"))
}

fn lossy_setup(context: &mut Context) -> Outcome {
    let mut session = Session::new(context, &[Nic::default(); 2])?;
    let loss = Impairment {
        kind: crate::impairment::Kind::Everything,
        loss: 0.3,
        ..Impairment::default()
    };
    impair_all(&mut session, loss);
    session.connect(0, 1)?;
    impair_all(&mut session, Impairment::default());
    session.write(0, 0, 0, 100_000)?;
    session.finish()
}
