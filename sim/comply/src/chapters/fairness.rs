//! Chapter 7: senders that compete get equal parts. Virtual time: rates mean nothing on a machine that is shared.

use crate::case::{Ability, Case, Context, Outcome, ensure};
use crate::impairment::Impairment;
use crate::session::Session;
use crate::world::Nic;

pub(super) const CASES: &[Case] = &[
    Case {
        number: (7, 1),
        title: "two senders",
        rule: "T-2.12",
        run: |c| compete(c, 2, 0.0),
    },
    Case {
        number: (7, 2),
        title: "eight senders",
        rule: "T-2.12",
        run: |c| compete(c, 8, 0.0),
    },
    Case {
        number: (7, 3),
        title: "eight senders, 5 % loss for one of them",
        rule: "T-2.5",
        run: |c| compete(c, 8, 0.05),
    },
];

fn compete(context: &mut Context, senders: usize, loss_of_first: f64) -> Outcome {
    context.needs_virtual_time()?;
    context.needs_everywhere(Ability::Share)?;
    let mut session = Session::new(context, &vec![Nic::default(); senders + 1])?;
    let mut ends = Vec::new();
    for sender in 1..=senders {
        session.connect(sender, 0)?;
        ends.push(0.0);
    }
    for plane in 0..2 {
        session.world.impair(1, plane, |way| {
            *way = Impairment {
                loss: loss_of_first,
                ..Impairment::default()
            }
        });
    }
    let begun = session.world.now_us();
    let mut ids = Vec::new();
    for link in 0..senders {
        ids.push(session.write(link, 0, 0, 1 << 20)?);
    }
    while session.order.open() > 0 {
        let before = session.order.done();
        session.until("the next message", |session| session.order.done() > before)?;
        for place in before..session.order.done() {
            ends[place as usize] = session.world.now_us() - begun;
        }
    }
    session.finish()?;
    let rates: Vec<f64> = ends.iter().map(|us| 1.0 / us).collect();
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), rate| {
        (sum + rate, squares + rate * rate)
    });
    let jain = sum * sum / (rates.len() as f64 * squares);
    context.note("completions, us", format!("{ends:.0?}"));
    context.note("Jain", format!("{jain:.4}"));
    ensure(jain > 0.95, || format!("Jain's index is {jain:.4}"))
}
