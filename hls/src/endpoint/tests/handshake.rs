//! Set-up, negotiation, repetition, restart and end of connections.

use super::pair::{BASE, Fate, Pair, address, config};
use crate::endpoint::*;
use crate::wire::{ConnectionId, Control, ControlBody, Key, RejectReason, RemoteRegion};
use std::cell::RefCell;
use std::rc::Rc;

const SERVICE: u32 = 9;

fn unconnected(seed: u64, configs: [Config; 2]) -> Pair {
    println!("seed {seed}");
    let mut pair = Pair::unconnected(seed, configs);
    pair.ends[1].endpoint.listen(SERVICE, &[]).unwrap();
    pair
}

impl Pair {
    fn connect(&mut self) -> ConnectionId {
        let peer = self.ends[1].addresses.clone();
        let now = self.now;
        self.ends[0]
            .endpoint
            .connect(now, &peer, SERVICE, &[])
            .expect("asked")
    }

    fn state(&self, end: usize, connection: ConnectionId) -> ConnectionState {
        self.ends[end]
            .endpoint
            .connection_state(connection)
            .expect("a connection")
    }

    fn close(&mut self, end: usize, connection: ConnectionId) {
        let now = self.now;
        self.ends[end]
            .endpoint
            .close(now, connection)
            .expect("closed");
    }

    fn post_write(&mut self, connection: ConnectionId, id: u64, length: u32, key: Key) {
        let operation = WorkOperation::Write {
            local: BASE,
            length,
            remote: BASE,
            key,
        };
        let (now, request) = (self.now, WorkRequest { id, operation });
        self.ends[0]
            .endpoint
            .post_send(now, connection, 0, request)
            .expect("posted");
    }
}

#[test]
fn connects_moves_data_and_closes_though_a_third_is_lost() {
    for seed in 0..8 {
        let mut pair = unconnected(seed, [config(0, 2), config(1, 2)]);
        let keys = pair.with_memory(65536);
        let region = RemoteRegion {
            address: BASE,
            length: 65536,
            key: keys[1],
        };
        pair.ends[1].endpoint.listen(SERVICE, &[region]).unwrap();
        pair.fate = Box::new(|_, _, _, chance| match chance.below(9) {
            0..3 => Fate::Drop,
            3 => Fate::Twice,
            _ => Fate::Deliver,
        });
        let ours = pair.connect();
        pair.run_for(10_000_000);
        assert_eq!(pair.state(0, ours), ConnectionState::Established);
        let theirs = pair.ends[1].endpoint.poll_accepted().unwrap();
        assert_eq!(
            pair.ends[1].endpoint.poll_accepted(),
            None,
            "one HELLO, one connection"
        );
        assert_eq!(pair.ends[0].endpoint.remote_regions(ours), [region]);
        pair.post_write(ours, 1, 65536, keys[1]);
        pair.run_until_completed(0, 1, 20_000_000);
        assert!(pair.ends[0].host.bytes == pair.ends[1].host.bytes);
        pair.close(0, ours);
        pair.run_for(20_000_000);
        assert_eq!(
            pair.state(0, ours),
            ConnectionState::Closed(CloseReason::Local)
        );
        assert_eq!(
            pair.state(1, theirs),
            ConnectionState::Closed(CloseReason::Peer)
        );
        for (end, number) in [(0, ours), (1, theirs)] {
            pair.ends[end].endpoint.release(number).unwrap();
            assert_eq!(pair.ends[end].endpoint.connection_state(number), None);
        }
    }
}

#[test]
fn all_256_streams_of_a_connection_are_settled_and_serve() {
    let many = |end| Config {
        streams: 256,
        ..config(end, 2)
    };
    let mut pair = unconnected(1, [many(0), many(1)]);
    let keys = pair.with_memory(256 * 300);
    let ours = pair.connect();
    pair.run_for(100_000);
    assert_eq!(pair.ends[0].endpoint.settled(ours).unwrap().streams, 256);
    for stream in 0..=255 {
        let at = u64::from(stream) * 300;
        pair.write(0, u64::from(stream), stream, at, 300, keys[1]);
    }
    pair.run_until_completed(0, 256, 10_000_000);
    assert_eq!(pair.ends[0].host.bytes, pair.ends[1].host.bytes);
}

#[test]
fn field_case_34_the_minimum_of_each_side_counts() {
    let large = Config {
        mtu: 4096,
        paths_per_plane: 16,
        slots: 256,
        streams: 8,
        ..config(0, 2)
    };
    let small = Config {
        mtu: 1024,
        paths_per_plane: 4,
        slots: 8,
        streams: 2,
        ..config(1, 2)
    };
    let mut pair = unconnected(1, [large, small]);
    let keys = pair.with_memory(65536);
    let ours = pair.connect();
    pair.run_for(100_000);
    let settled = pair.ends[0].endpoint.settled(ours).unwrap();
    let theirs = pair.ends[1].endpoint.poll_accepted().unwrap();
    assert_eq!(pair.ends[1].endpoint.settled(theirs), Some(settled));
    assert_eq!((settled.mtu, settled.paths_per_plane), (1024, 4));
    assert_eq!((settled.slots, settled.streams), (8, 2));
    pair.post_write(ours, 1, 65536, keys[1]);
    pair.run_until_completed(0, 1, 1_000_000);
    assert_eq!(pair.count(0, Counter::SentData), 64);
}

#[test]
fn what_does_not_fit_is_refused_with_both_values() {
    let handshake = config::HandshakeConfig {
        version_min: 2,
        version_max: 3,
        ..Default::default()
    };
    let cases = [
        (
            Config {
                window: 128,
                ..config(0, 2)
            },
            RejectReason::Window,
            64,
            128,
        ),
        (config(0, 1), RejectReason::Planes, 2, 1),
        (
            Config {
                handshake,
                ..config(0, 2)
            },
            RejectReason::Version,
            0x101,
            0x203,
        ),
    ];
    for (theirs, reason, ours, yours) in cases {
        let mut pair = unconnected(2, [theirs, config(1, 2)]);
        let peer = pair.ends[1].addresses[..1].to_vec();
        let connection = pair.ends[0]
            .endpoint
            .connect(0, &peer, SERVICE, &[])
            .unwrap();
        pair.run_for(100_000);
        let reject = crate::wire::Reject {
            reason,
            ours,
            yours,
        };
        let expected = ConnectionState::Closed(CloseReason::Rejected(reject));
        assert_eq!(pair.state(0, connection), expected);
        assert_eq!(pair.ends[1].endpoint.poll_accepted(), None);
    }
    let mut pair = unconnected(3, [config(0, 1), config(1, 1)]);
    let peer = pair.ends[1].addresses.clone();
    let connection = pair.ends[0]
        .endpoint
        .connect(0, &peer, SERVICE + 1, &[])
        .unwrap();
    pair.run_for(100_000);
    let ConnectionState::Closed(CloseReason::Rejected(reject)) = pair.state(0, connection) else {
        panic!("nobody listens");
    };
    assert_eq!(
        (reject.reason, reject.yours),
        (RejectReason::Service, SERVICE + 1)
    );
}

#[test]
fn features_are_those_that_both_sides_know() {
    let with = |end, features| {
        let handshake = config::HandshakeConfig {
            features,
            ..Default::default()
        };
        Config {
            handshake,
            ..config(end, 1)
        }
    };
    let mut pair = unconnected(4, [with(0, 0b1101), with(1, 0b0111)]);
    let ours = pair.connect();
    pair.run_for(100_000);
    assert_eq!(
        pair.ends[0].endpoint.settled(ours).unwrap().features,
        0b0101
    );
}

#[test]
fn a_peer_that_never_answers_is_reported() {
    let mut pair = unconnected(5, [config(0, 2), config(1, 2)]);
    let planes = Rc::new(RefCell::new(Vec::new()));
    let seen = planes.clone();
    pair.fate = Box::new(move |_, _, out, _| {
        seen.borrow_mut().push(out.plane);
        Fate::Drop
    });
    let ours = pair.connect();
    pair.run_for(50_000_000);
    assert_eq!(
        pair.state(0, ours),
        ConnectionState::Closed(CloseReason::NoAnswer(16))
    );
    assert_eq!(
        *planes.borrow(),
        [0, 1].repeat(8),
        "each time by the next plane"
    );
}

#[test]
fn field_case_16_frames_of_an_earlier_life_are_dropped_and_counted() {
    let mut pair = unconnected(
        6,
        [config(0, 1), config(1, 1)].map(|c| Config {
            connections_max: 1,
            ..c
        }),
    );
    let keys = pair.with_memory(65536);
    let kept: Rc<RefCell<Vec<Packet>>> = Rc::default();
    for life in 0..5 {
        let ours = pair.connect();
        pair.run_for(100_000);
        let theirs = pair.ends[1].endpoint.poll_accepted().unwrap();
        assert_eq!(
            (ours, theirs),
            (ConnectionId::new(1), ConnectionId::new(1)),
            "used again"
        );
        let old = kept.take();
        assert_eq!(old.len(), if life == 0 { 0 } else { 3 });
        let before = pair.count(1, Counter::DropIncarnation);
        let placements = pair.ends[1].host.placements;
        for packet in &old {
            let source = address(0, 0);
            let arrival = Arrival {
                plane: 0,
                source,
                entropy: 0xc000,
                marked: false,
            };
            let (now, end) = (pair.now, &mut pair.ends[1]);
            end.endpoint
                .handle_packet(now, &arrival, packet, &[0; 4096], &mut end.host);
        }
        assert_eq!(
            pair.count(1, Counter::DropIncarnation) - before,
            old.len() as u64
        );
        assert_eq!(pair.ends[1].host.placements, placements);
        let keep = kept.clone();
        pair.fate = Box::new(move |_, _, out, _| {
            if matches!(out.packet, Packet::Data(_)) {
                keep.borrow_mut().push(out.packet.clone());
            }
            Fate::Deliver
        });
        for id in 0..3 {
            pair.post_write(ours, id, 4096, keys[1]);
        }
        let done = 3 * (life + 1);
        pair.run_until_completed(0, done, 1_000_000);
        pair.close(0, ours);
        pair.run_for(100_000);
        pair.ends[0].endpoint.release(ours).unwrap();
        pair.ends[1].endpoint.release(theirs).unwrap();
    }
}

#[test]
fn field_case_40_what_is_pending_is_flushed_in_order_and_a_late_ack_changes_nothing() {
    let mut pair = unconnected(7, [config(0, 1), config(1, 1)]);
    let keys = pair.with_memory(65536);
    let ours = pair.connect();
    pair.run_for(100_000);
    let theirs = pair.ends[1].endpoint.poll_accepted().unwrap();
    for id in 0..3 {
        pair.post_write(ours, id, 65536, keys[1]);
    }
    let receive = ReceiveRequest {
        id: 50,
        address: BASE,
        length: 64,
    };
    let now = pair.now;
    pair.ends[1]
        .endpoint
        .post_receive(now, theirs, 0, receive)
        .unwrap();
    pair.run_for(9_000);
    pair.close(0, ours);
    pair.run_for(1_000_000);
    let found: Vec<_> = pair.ends[0]
        .completions
        .iter()
        .map(|c| (c.id, c.status))
        .collect();
    assert_eq!(
        found,
        [
            (0, Status::Flushed),
            (1, Status::Flushed),
            (2, Status::Flushed)
        ]
    );
    assert!(
        pair.count(0, Counter::DropConnection) > 0,
        "the ACKs came late"
    );
    let found: Vec<_> = pair.ends[1]
        .completions
        .iter()
        .map(|c| (c.id, c.status))
        .collect();
    assert_eq!(
        found,
        [(50, Status::Flushed)],
        "the peer's receive requests too"
    );
    assert_eq!(
        pair.state(0, ours),
        ConnectionState::Closed(CloseReason::Local)
    );
}

#[test]
fn a_peer_that_has_restarted_begins_anew() {
    let mut pair = unconnected(8, [config(0, 1), config(1, 1)]);
    let keys = pair.with_memory(65536);
    let first = pair.connect();
    pair.run_for(100_000);
    let older = pair.ends[1].endpoint.poll_accepted().unwrap();
    let receive = ReceiveRequest {
        id: 1,
        address: BASE,
        length: 64,
    };
    let now = pair.now;
    pair.ends[1]
        .endpoint
        .post_receive(now, older, 0, receive)
        .unwrap();
    // The initiator's NIC forgets everything.
    pair.ends[0].endpoint = Endpoint::new(config(0, 1), 1234).unwrap();
    let again = pair.connect();
    assert_eq!(first, again, "the same number, another transaction");
    pair.run_for(100_000);
    let newer = pair.ends[1].endpoint.poll_accepted().unwrap();
    assert_eq!(
        pair.state(1, older),
        ConnectionState::Closed(CloseReason::Peer)
    );
    assert_eq!(pair.ends[1].completions[0].status, Status::Flushed);
    assert_eq!(pair.state(1, newer), ConnectionState::Established);
    pair.post_write(again, 5, 65536, keys[1]);
    pair.run_until_completed(0, 1, 1_000_000);
    assert_eq!(pair.ends[0].completions[0].status, Status::Ok);
}

#[test]
fn a_connection_that_fails_tells_its_peer() {
    let mut pair = unconnected(9, [config(0, 1), config(1, 1)]);
    pair.with_memory(4096);
    let ours = pair.connect();
    pair.run_for(100_000);
    let theirs = pair.ends[1].endpoint.poll_accepted().unwrap();
    pair.post_write(ours, 1, 4096, Key(77));
    pair.run_for(1_000_000);
    assert_eq!(pair.ends[0].completions[0].status, Status::RemoteAccess);
    let reason = CloseReason::Failed(Status::RemoteAccess);
    assert_eq!(pair.state(0, ours), ConnectionState::Closed(reason));
    assert_eq!(
        pair.state(1, theirs),
        ConnectionState::Closed(CloseReason::Peer)
    );
}

#[test]
fn a_silent_network_ends_in_a_reported_error_on_both_sides() {
    let mut pair = unconnected(10, [config(0, 2), config(1, 2)]);
    let keys = pair.with_memory(4096);
    let ours = pair.connect();
    pair.run_for(100_000);
    pair.fate = Box::new(|_, _, _, _| Fate::Drop);
    pair.post_write(ours, 1, 4096, keys[1]);
    pair.run_until_completed(0, 1, 2_000_000_000);
    pair.run_for(50_000_000);
    let reason = CloseReason::Failed(Status::RetriesExhausted);
    assert_eq!(pair.state(0, ours), ConnectionState::Closed(reason));
}

#[test]
fn an_unwanted_accept_is_answered_by_bye() {
    let mut pair = unconnected(11, [config(0, 1), config(1, 1)]);
    let ours = pair.connect();
    // The initiator has given up before the answer comes.
    pair.run_for(1_000);
    pair.close(0, ours);
    pair.run_for(1_000_000);
    let theirs = pair.ends[1].endpoint.poll_accepted().unwrap();
    assert_eq!(
        pair.state(1, theirs),
        ConnectionState::Closed(CloseReason::Peer)
    );
}

#[test]
fn a_bye_for_nobody_is_answered_with_zeros() {
    let mut pair = unconnected(12, [config(0, 1), config(1, 1)]);
    let bye = crate::wire::Bye {
        answer: false,
        connection: ConnectionId::new(3),
        incarnation: crate::wire::Incarnation(4),
        address: address(0, 0),
    };
    let packet = Packet::Control(Control::new(99, ControlBody::Bye(bye)));
    let arrival = Arrival {
        plane: 0,
        source: address(0, 0),
        entropy: 0xc000,
        marked: false,
    };
    let end = &mut pair.ends[1];
    end.endpoint
        .handle_packet(0, &arrival, &packet, &[], &mut end.host);
    let mut out = Transmit::default();
    assert!(end.endpoint.poll_transmit(0, 0, &mut out));
    let Packet::Control(Control {
        transaction: 99,
        body: ControlBody::Bye(answer),
        ..
    }) = out.packet
    else {
        panic!("{:?}", out.packet);
    };
    assert!(answer.answer);
    assert_eq!(
        (answer.connection, answer.incarnation.0),
        (ConnectionId::CONTROL, 0)
    );
    assert_eq!(out.destination, address(0, 0));
}

#[test]
fn a_released_number_leaves_no_turn_behind() {
    let mut pair = Pair::new(13, 1);
    let keys = pair.with_memory(65536);
    let connection = super::pair::CONNECTION;
    for life in 0..3 {
        pair.post_write(connection, life, 65536, keys[1]);
        let turn = pair.ends[0].endpoint.core.planes[0].turn.len();
        assert_eq!(turn, 1, "life {life}: one turn a connection");
        pair.ends[0].endpoint.release(connection).unwrap();
        let established = pair.established(0);
        pair.ends[0].endpoint.establish(0, established).unwrap();
    }
}
