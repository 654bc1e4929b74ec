//! Chapter 6: what happens in a stream stays in it.

use super::loss::impair_all;
use crate::case::{Ability, Case, Context, Outcome, ensure};
use crate::impairment::Impairment;
use crate::session::{Session, refused};
use osprey_hls::endpoint::{ReceiveRequest, Side, WorkOperation};

pub(super) const CASES: &[Case] = &[
    Case {
        number: (6, 1),
        title: "a receiver that is not ready holds up its stream alone",
        rule: "T-2.9",
        run: not_ready,
    },
    Case {
        number: (6, 2),
        title: "a long message lets short ones of another stream pass",
        rule: "T-2.9",
        run: long_and_short,
    },
    Case {
        number: (6, 3),
        title: "streams complete in their own order under loss",
        rule: "T-2.9",
        run: own_order,
    },
    Case {
        number: (6, 4),
        title: "messages of no bytes keep their place",
        rule: "T-3.4",
        run: empty,
    },
];

/// A SEND without a receive request waits; a WRITE of another stream does not.
fn not_ready(context: &mut Context) -> Outcome {
    context.needs_both_ends()?;
    context.needs_everywhere(Ability::Send)?;
    let mut session = Session::pair(context)?;
    let local = session.world.memory(0).allocate(1_000);
    session.post(
        0,
        0,
        WorkOperation::Send {
            local,
            length: 1_000,
        },
    )?;
    session.write(0, 1, 0, 1 << 20)?;
    session.until("the other stream", |session| session.order.done() == 1)?;
    ensure(session.order.open() == 1, || {
        "a SEND ended without a receive request".into()
    })?;
    let target = session.world.memory(1).allocate(1_000);
    let Some(accepted) = session.links[0].accepted else {
        return Ok(());
    };
    let now = session.world.now_ns(1);
    let request = ReceiveRequest {
        id: 77,
        address: target,
        length: 1_000,
    };
    let endpoint = session.world.behavioural(1)?;
    refused(endpoint.post_receive(now, accepted, 0, request))?;
    session.wait()?;
    session.until("the message", |session| !session.received.is_empty())?;
    let (_, completion) = session.received[0];
    ensure(
        (completion.side, completion.id) == (Side::Receive, 77),
        || format!("the receiver was told {completion:?}"),
    )?;
    session.judge_memory(0)
}

fn long_and_short(context: &mut Context) -> Outcome {
    context.needs_virtual_time()?;
    context.needs_everywhere(Ability::Streams)?;
    let mut session = Session::pair(context)?;
    session.write(0, 0, 0, 3 << 20)?;
    session.run_for_us(20.0)?;
    let begun = session.world.now_us();
    session.write(0, 1, 3 << 20, 4_096)?;
    session.until("the short message", |session| session.order.done() > 0)?;
    let took = session.world.now_us() - begun;
    context.note("short message, us", took);
    ensure(session.order.open() == 1 && took < 60.0, || {
        format!("the short message took {took} us")
    })?;
    session.finish()
}

fn own_order(context: &mut Context) -> Outcome {
    context.needs_everywhere(Ability::Streams)?;
    let mut session = Session::pair(context)?;
    impair_all(
        &mut session,
        Impairment {
            loss: 0.05,
            ..Impairment::default()
        },
    );
    let mut offset = 0;
    for index in 0..120_usize {
        let length = [1, 4_095, 4_097, 20_000, 64][index % 5];
        session.write(0, (index % 4) as u8, offset, length)?;
        offset += length;
    }
    session.finish()
}

fn empty(context: &mut Context) -> Outcome {
    let mut session = Session::pair(context)?;
    impair_all(
        &mut session,
        Impairment {
            loss: 0.1,
            ..Impairment::default()
        },
    );
    for index in 0..40 {
        session.write(0, 0, index * 100, if index % 2 == 0 { 0 } else { 100 })?;
    }
    session.finish()
}
