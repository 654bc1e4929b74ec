//! Rings: refused posts, laps, order.

mod common;

use common::Hosts;
use osprey_host::device::DevicePair;
use osprey_host::verbs::{CallerError, Error, Status};

#[test]
fn field_case_22_a_refused_post_takes_nothing() {
    let mut hosts = Hosts::with(|config| config.log2_send_ring = 3);
    let (_, from) = hosts.region(0, 0, 16);
    let (_, to) = hosts.region(1, 0, 16);
    let [a, _] = hosts.connect(&[to]);
    let request = hosts.write_request(&from, &to, 0);
    let mut next = 0;
    for _ in 0..100 {
        hosts.pair.engine(0).hold = true;
        for _ in 0..8 {
            let index = hosts.contexts[0]
                .post_send(&mut hosts.pair.port(0), a, &request)
                .unwrap();
            assert_eq!(index, next, "indices have no gap");
            next += 1;
        }
        let refused = hosts.contexts[0].post_send(&mut hosts.pair.port(0), a, &request);
        assert_eq!(refused, Err(Error::Caller(CallerError::Full { max: 8 })));
        hosts.pair.engine(0).hold = false;
        hosts.turns(10);
        let done = hosts.poll(0, a);
        assert_eq!(done.len(), 8);
        assert!(done.iter().all(|c| c.status == Status::Ok));
    }
}

#[test]
fn no_more_messages_are_open_than_the_peer_has_slots() {
    let mut hosts = Hosts::with(|config| config.log2_send_ring = 8);
    let (_, from) = hosts.region(0, 0, 16);
    let (_, to) = hosts.region(1, 0, 16);
    let [a, _] = hosts.connect(&[to]);
    let request = hosts.write_request(&from, &to, 0);
    for _ in 0..64 {
        hosts.contexts[0]
            .post_send(&mut hosts.pair.port(0), a, &request)
            .unwrap();
    }
    let refused = hosts.contexts[0].post_send(&mut hosts.pair.port(0), a, &request);
    assert_eq!(refused, Err(Error::Caller(CallerError::Full { max: 64 })));
}

#[test]
fn domains_and_strange_memory_are_kept_apart() {
    let mut hosts = Hosts::new();
    let (_, from) = hosts.region(0, 0, 16);
    let (_, to) = hosts.region(1, 0, 16);
    hosts.domains[0] = hosts.contexts[0].protection_domain();
    let [a, _] = hosts.connect(&[to]);
    let request = hosts.write_request(&from, &to, 0);
    let refused = hosts.contexts[0].post_send(&mut hosts.pair.port(0), a, &request);
    assert_eq!(refused, Err(Error::Caller(CallerError::Domain)));
    // Of another buffer, which only the other side has.
    hosts.region(1, 0, 1 << 16);
    let (_, unknown) = hosts.region(1, 0, 16);
    let request = hosts.write_request(&unknown, &to, 0);
    let refused = hosts.contexts[0].post_send(&mut hosts.pair.port(0), a, &request);
    let (address, length) = (unknown.address, unknown.length);
    assert_eq!(
        refused,
        Err(Error::Caller(CallerError::Unregistered { address, length }))
    );
}
