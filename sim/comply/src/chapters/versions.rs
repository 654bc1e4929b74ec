//! Chapter 11: the highest common version and the common features, or a refusal that names both ranges.

use crate::case::{Case, Context, Outcome, ensure};
use crate::session::Session;
use crate::world::Nic;
use osprey_hls::endpoint::CloseReason;
use osprey_hls::wire::RejectReason;

pub(super) const CASES: &[Case] = &[
    Case {
        number: (11, 1),
        title: "the initiator speaks newer versions too",
        rule: "T-4.3",
        run: |c| common(c, (1, 7), (1, 1)),
    },
    Case {
        number: (11, 2),
        title: "the responder speaks newer versions too",
        rule: "T-4.3",
        run: |c| common(c, (1, 1), (1, 9)),
    },
    Case {
        number: (11, 3),
        title: "no common version: refused, both ranges named",
        rule: "T-4.3",
        run: none_common,
    },
    Case {
        number: (11, 4),
        title: "features that a side does not know are cleared",
        rule: "T-3.8",
        run: features,
    },
];

fn nics(ours: (u8, u8), theirs: (u8, u8)) -> [Nic; 2] {
    [ours, theirs].map(|versions| Nic {
        versions,
        ..Nic::default()
    })
}

fn common(context: &mut Context, ours: (u8, u8), theirs: (u8, u8)) -> Outcome {
    let mut session = Session::connected(context, &nics(ours, theirs))?;
    let connection = session.links[0].connection;
    let version = session
        .world
        .end(0)
        .settled(connection)
        .map(|settled| settled.version);
    context.note("version", format!("{version:?}"));
    ensure(version == Some(1), || {
        format!("version {version:?} was settled")
    })?;
    session.write(0, 0, 0, 100_000)?;
    session.finish()
}

fn none_common(context: &mut Context) -> Outcome {
    let mut session = Session::new(context, &nics((5, 7), (1, 1)))?;
    let (connection, _) = session.ask(0, 1)?;
    session.until("the refusal", |session| {
        let _ = session.world.step();
        session.close_reason(0, connection).is_some()
    })?;
    let told = session.close_reason(0, connection);
    context.note("told", format!("{told:?}"));
    let Some(CloseReason::Rejected(reject)) = told else {
        return ensure(false, || format!("the connection ended with {told:?}"));
    };
    let right =
        reject.reason == RejectReason::Version && (reject.ours, reject.yours) == (0x0101, 0x0507);
    ensure(right, || format!("{reject:?}"))
}

fn features(context: &mut Context) -> Outcome {
    context.needs_both_ends()?;
    let nics = [0b1110, 0b0111].map(|features| Nic {
        features,
        ..Nic::default()
    });
    let mut session = Session::connected(context, &nics)?;
    let connection = session.links[0].connection;
    let features = session
        .world
        .end(0)
        .settled(connection)
        .map(|settled| settled.features);
    ensure(features == Some(0b0110), || {
        format!("features {features:?} of 0b1110 and 0b0111")
    })
}
