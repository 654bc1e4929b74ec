//! Checks the checkers: a fault of each kind, planted into one end of a session, is found by the witness of its kind, and
//! the same session without it passes.

use osprey_comply::case::{Context, Failure, Outcome};
use osprey_comply::impairment::{Impairment, Kind};
use osprey_comply::referee::honest;
use osprey_comply::session::{Session, found};
use osprey_comply::world::{Nic, Target};
use osprey_hls::endpoint::Fault;

const SEED: u64 = 7;

/// What happens to packets and what is written.
#[derive(Clone, Copy)]
enum Traffic {
    /// Loss and duplicates on all planes, messages of several sizes on two streams.
    Lossy,
    /// One plane dies under way and its paths are fenced.
    PlaneDies,
    /// One path of one plane that is so long that W is what bounds it.
    OnePath,
    /// Requests are posted and no completion is taken.
    Greedy,
}

impl Traffic {
    fn nics(self) -> [Nic; 2] {
        let one = Nic {
            planes: 1,
            paths: 1,
            ..Nic::default()
        };
        match self {
            Self::OnePath => [one; 2],
            _ => [Nic::default(); 2],
        }
    }

    fn run(self, session: &mut Session) -> Outcome {
        let planes = self.nics()[0].planes;
        let (loss, duplicate, delay_ns) = match self {
            Self::Lossy => (0.02, 0.02, 0),
            Self::OnePath => (0.0, 0.0, 40_000),
            Self::PlaneDies | Self::Greedy => (0.0, 0.0, 0),
        };
        for plane in 0..planes {
            session.world.impair(0, plane, |way| {
                *way = Impairment {
                    kind: Kind::Data,
                    loss,
                    duplicate,
                    delay_ns,
                    ..Impairment::default()
                }
            });
        }
        for message in 0..64 {
            let length = 1 + message * 977 % 30_000;
            session.write(0, (message % 2) as u8, message * 30_000, length)?;
        }
        match self {
            Self::PlaneDies => {
                session.run_for_us(8.0)?;
                session.world.impair(0, 0, |way| {
                    (way.kind, way.down) = (Kind::Transport, true);
                });
            }
            Self::Greedy => post_without_end(session)?,
            Self::Lossy | Self::OnePath => {}
        }
        session.finish()?;
        let (connection, exact) = (session.links[0].connection, matches!(self, Self::Lossy));
        found(honest(&mut session.world, 0, connection, exact))
    }
}

/// Asks for more than the limit; what is taken in spite of it is seen by the witness of bounds.
fn post_without_end(session: &mut Session) -> Outcome {
    use osprey_hls::endpoint::{WorkOperation, WorkRequest};
    let (connection, region) = (session.links[0].connection, session.links[0].region);
    let operation = WorkOperation::Write {
        local: 0,
        length: 0,
        remote: region.address,
        key: region.key,
    };
    for id in 1_000_000..1_002_000 {
        let request = WorkRequest { id, operation };
        let endpoint = session.world.behavioural(0)?;
        if endpoint.post_send(0, connection, 1, request).is_ok() {
            session.order.posted((0, connection.value(), 1), id);
        }
    }
    found(osprey_comply::referee::within_bounds(
        session.world.behavioural(0)?,
    ))
}

/// What the witnesses say of a session with a fault at an end, if one is planted.
fn verdict(traffic: Traffic, fault: Option<(usize, Fault)>) -> Outcome {
    let context = Context {
        target: Target::Model,
        seed: SEED,
        peer: Vec::new(),
        evidence: Vec::new(),
    };
    let mut session = Session::connected(&context, &traffic.nics())?;
    if let Some((end, fault)) = fault {
        session.world.behavioural(end)?.plant(fault);
    }
    traffic.run(&mut session)
}

/// The fault is found in these words, and nothing is found without it.
fn is_found(traffic: Traffic, end: usize, fault: Fault, words: &str) {
    if let Err(error) = verdict(traffic, None) {
        panic!("seed {SEED}: without a fault: {error}");
    }
    match verdict(traffic, Some((end, fault))) {
        Err(Failure::Wrong(text)) if text.contains(words) => {}
        other => panic!("seed {SEED}: {fault:?} should be found as '{words}': {other:?}"),
    }
}

#[test]
fn memory_finds_a_byte_in_a_wrong_place() {
    is_found(
        Traffic::Lossy,
        1,
        Fault::PlacesOneByteOff,
        "bytes are wrong",
    );
}

#[test]
fn order_finds_a_request_that_ends_before_its_turn() {
    is_found(
        Traffic::Lossy,
        0,
        Fault::CompletesOutOfOrder,
        "when it was the turn of",
    );
}

#[test]
fn exactly_once_finds_a_request_that_ends_twice() {
    is_found(Traffic::Lossy, 0, Fault::CompletesTwice, "request 1 ended");
}

#[test]
fn exactly_once_finds_a_packet_that_is_placed_twice() {
    is_found(
        Traffic::Lossy,
        1,
        Fault::PlacesTwice,
        "bytes of messages of",
    );
}

#[test]
fn liveness_finds_a_path_without_answers() {
    is_found(
        Traffic::Lossy,
        1,
        Fault::SilentOnPathZero,
        "RetriesExhausted",
    );
}

#[test]
fn conservation_finds_lost_packets_that_are_forgotten() {
    is_found(Traffic::Lossy, 0, Fault::ForgetsLost, "are somewhere");
}

#[test]
fn conservation_finds_freed_packets_that_are_forgotten() {
    is_found(Traffic::PlaneDies, 0, Fault::ForgetsFreed, "are somewhere");
}

#[test]
fn conservation_finds_a_leak_of_the_window() {
    is_found(Traffic::Lossy, 0, Fault::LeaksInFlight, "the window counts");
}

#[test]
fn conservation_finds_a_slot_that_is_kept() {
    is_found(
        Traffic::Lossy,
        1,
        Fault::LeaksSlot,
        "message slots are taken",
    );
}

#[test]
fn bounds_find_a_sender_that_ignores_the_window() {
    is_found(
        Traffic::OnePath,
        0,
        Fault::IgnoresWindow,
        "entries are in use of 64",
    );
}

#[test]
fn bounds_find_a_queue_without_end() {
    is_found(Traffic::Greedy, 0, Fault::TakesAnyNumber, "send requests");
}

#[test]
fn honesty_finds_losses_that_are_not_counted() {
    is_found(Traffic::Lossy, 0, Fault::HidesLosses, "losses on plane");
}

#[test]
fn honesty_finds_resends_that_are_not_counted() {
    is_found(
        Traffic::Lossy,
        0,
        Fault::HidesResends,
        "DATA packets on plane",
    );
}
