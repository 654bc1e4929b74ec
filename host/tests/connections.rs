//! Set-up, refusal, loss of set-up messages, end of connections.

mod common;

use common::{Hosts, SERVICE, addresses};
use osprey_hls::regs::{completion, table};
use osprey_hls::wire::{Reject, RejectReason};
use osprey_host::device::{DeviceError, DevicePair};
use osprey_host::verbs::{CallerError, CloseReason, ConnectionHandle, ConnectionState, Status};

fn begin(hosts: &mut Hosts, service: u32) -> ConnectionHandle {
    let (domain, to) = (hosts.domains[0], addresses(1));
    hosts.contexts[0]
        .connect(&mut hosts.pair.port(0), domain, &to, service, &[])
        .unwrap()
}

#[test]
fn set_up_settles_and_announces_regions() {
    let mut hosts = Hosts::with(|config| {
        config.mtu = if config.planes[0].mac.0[5] == 0 {
            4096
        } else {
            1024
        }
    });
    let (_, region) = hosts.region(1, 5, 1000);
    let [a, b] = hosts.connect(&[region]);
    assert_eq!(
        hosts.contexts[0].settled(a).unwrap(),
        hosts.contexts[1].settled(b).unwrap()
    );
    assert_eq!(hosts.contexts[0].settled(a).unwrap().unwrap().mtu, 1024);
    assert_eq!(
        hosts.contexts[0].peer_regions(a).unwrap(),
        [region.remote()]
    );
    let entries =
        [0, 1].map(|side| hosts.pair.engine(side).tables[&(table::CONNECTION.id, a.number())]);
    assert_eq!(
        entries[0][3].rotate_left(16),
        entries[1][3],
        "each sends what the other expects"
    );
}

#[test]
fn lost_set_up_messages_are_repeated_and_make_one_connection() {
    let mut hosts = Hosts::new();
    hosts.pair.engine(0).lose_control = 3;
    hosts.pair.engine(1).lose_control = 2;
    hosts.connect(&[]);
    assert_eq!(
        hosts.pair.engine(0).control_frames.len(),
        6,
        "3 lost, 2 whose answer was lost, 1 heard"
    );
    hosts.turns(50);
    assert_eq!(hosts.contexts[1].accept(), None);
}

#[test]
fn nobody_there_ends_after_the_attempts() {
    let mut hosts = Hosts::new();
    hosts.pair.engine(0).lose_control = 1000;
    let handle = begin(&mut hosts, SERVICE);
    hosts.turns(400);
    let failed = ConnectionState::Closed(CloseReason::NoAnswer(16));
    assert_eq!(hosts.contexts[0].state(handle).unwrap(), failed);
}

#[test]
fn refusals_name_both_values() {
    let mut hosts = Hosts::new();
    let handle = begin(&mut hosts, 99);
    hosts.turns(10);
    let rejected = CloseReason::Rejected(Reject {
        reason: RejectReason::Service,
        ours: 0,
        yours: 99,
    });
    assert_eq!(
        rejected.to_string(),
        "the peer refuses: Service, it has 0, offered was 99"
    );
    let failed = ConnectionState::Closed(rejected);
    assert_eq!(hosts.contexts[0].state(handle).unwrap(), failed);
}

#[test]
fn field_case_16_a_number_is_used_again_with_another_incarnation() {
    let mut hosts = Hosts::new();
    let mut seen = Vec::new();
    for _ in 0..4 {
        let [a, b] = hosts.connect(&[]);
        seen.push(hosts.pair.engine(1).tables[&(table::CONNECTION.id, b.number())][3] & 0xffff);
        hosts.contexts[0].close(&mut hosts.pair.port(0), a).unwrap();
        hosts.turns(10);
        assert_eq!(
            hosts.contexts[0].state(a).unwrap(),
            ConnectionState::Closed(CloseReason::Local)
        );
        assert_eq!(
            hosts.contexts[1].state(b).unwrap(),
            ConnectionState::Closed(CloseReason::Peer)
        );
        hosts.contexts[0]
            .release(&mut hosts.pair.port(0), a)
            .unwrap();
        hosts.contexts[1]
            .release(&mut hosts.pair.port(1), b)
            .unwrap();
        assert!(hosts.contexts[0].state(a).is_err());
    }
    seen.dedup();
    assert_eq!(seen.len(), 4);
}

#[test]
fn a_lost_bye_is_repeated() {
    let mut hosts = Hosts::new();
    let [a, b] = hosts.connect(&[]);
    hosts.pair.engine(0).lose_control = 2;
    hosts.pair.engine(1).lose_control = 2;
    hosts.contexts[0].close(&mut hosts.pair.port(0), a).unwrap();
    hosts.turns(120);
    assert_eq!(
        hosts.contexts[0].state(a).unwrap(),
        ConnectionState::Closed(CloseReason::Local)
    );
    assert_eq!(
        hosts.contexts[1].state(b).unwrap(),
        ConnectionState::Closed(CloseReason::Peer)
    );
}

#[test]
fn field_case_40_closing_flushes_in_order_and_late_completions_do_nothing() {
    let mut hosts = Hosts::new();
    let (_, from) = hosts.region(0, 0, 64);
    let (_, to) = hosts.region(1, 0, 64);
    let [a, _] = hosts.connect(&[to]);
    hosts.pair.engine(0).hold = true;
    for user in 0..3 {
        let request = hosts.write_request(&from, &to, user);
        hosts.contexts[0]
            .post_send(&mut hosts.pair.port(0), a, &request)
            .unwrap();
    }
    let entry = hosts.pair.engine(0).tables[&(table::CONNECTION.id, a.number())];
    hosts.contexts[0].close(&mut hosts.pair.port(0), a).unwrap();
    let flushed: Vec<_> = hosts.poll(0, a).iter().map(|c| (c.id, c.status)).collect();
    assert_eq!(flushed, [0, 1, 2].map(|user| (user, Status::Flushed)));
    hosts
        .pair
        .engine(0)
        .tables
        .insert((table::CONNECTION.id, a.number()), entry);
    hosts
        .pair
        .engine(0)
        .complete(a.number(), completion::KIND_SEND, 0, (0, 0, 64, 0));
    assert_eq!(hosts.poll(0, a), []);
}

#[test]
fn a_failed_connection_yields_its_requests_and_names_the_peer() {
    let mut hosts = Hosts::new();
    let (_, from) = hosts.region(0, 0, 64);
    let (_, to) = hosts.region(1, 0, 64);
    let [a, _] = hosts.connect(&[to]);
    hosts.pair.engine(0).hold = true;
    let request = hosts.write_request(&from, &to, 5);
    hosts.contexts[0]
        .post_send(&mut hosts.pair.port(0), a, &request)
        .unwrap();
    let error = completion::KIND_CONNECTION_ERROR;
    hosts
        .pair
        .engine(0)
        .complete(a.number(), error, completion::STATUS_RETRIES, (0, 0, 0, 0));
    assert_eq!(hosts.poll(0, a)[0].status, Status::Flushed);
    let failed = ConnectionState::Closed(CloseReason::Failed(Status::RetriesExhausted));
    assert_eq!(hosts.contexts[0].state(a).unwrap(), failed);
    let after = hosts.contexts[0].post_send(&mut hosts.pair.port(0), a, &request);
    assert_eq!(after, Err(CallerError::NotEstablished.into()));
}

#[test]
fn a_status_that_the_map_does_not_define_is_the_devices_fault() {
    let mut hosts = Hosts::new();
    let (_, from) = hosts.region(0, 0, 64);
    let (_, to) = hosts.region(1, 0, 64);
    let [a, _] = hosts.connect(&[to]);
    hosts.pair.engine(0).hold = true;
    let request = hosts.write_request(&from, &to, 5);
    hosts.contexts[0]
        .post_send(&mut hosts.pair.port(0), a, &request)
        .unwrap();
    let (kind, status) = (completion::KIND_SEND, 15);
    hosts
        .pair
        .engine(0)
        .complete(a.number(), kind, status, (0, 0, 64, 0));
    let polled = hosts.contexts[0].poll(&mut hosts.pair.port(0), a, &mut Vec::new());
    let connection = a.number();
    let undefined = DeviceError::Status { connection, status };
    assert_eq!(polled, Err(undefined.into()));
}
