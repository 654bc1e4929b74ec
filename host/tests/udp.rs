//! The software NIC over loopback: set-up, every operation, loss, and clear errors.

use osprey_host::udp::{UdpError, UdpNic, UdpSettings};
use osprey_host::verbs::{
    CloseReason, Completion, ConnectionHandle, ConnectionState, MemoryRegion, Nic, ReceiveRequest,
    Rights, Side, Status, WorkOperation, WorkRequest,
};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::{Duration, Instant};

const SERVICE: u32 = 7;
const WAIT: Duration = Duration::from_secs(20);

fn loopback(plane: u8) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::new(127, 0, 0, 1 + plane), 0)
}

fn nic(planes: u8, loss: f64, seed: u64) -> UdpNic {
    let settings = UdpSettings {
        loss,
        ..UdpSettings::new((0..planes).map(loopback).collect(), seed)
    };
    UdpNic::open(&settings).expect("loopback has free ports")
}

/// Two NICs with a connection, and a region of the second.
struct Pair {
    a: UdpNic,
    b: UdpNic,
    connection: ConnectionHandle,
    accepted: Option<ConnectionHandle>,
    region: MemoryRegion,
}

impl Pair {
    fn new(planes: u8, loss: f64) -> Self {
        let (mut a, mut b) = (nic(planes, loss, 1), nic(planes, loss, 2));
        let region = b.register(1 << 22, Rights::ALL).expect("a region is free");
        b.listen(SERVICE, &[region])
            .expect("one region can be announced");
        let connection = a
            .connect(&b.addresses(), SERVICE, &[])
            .expect("a connection is free");
        let mut pair = Self {
            a,
            b,
            connection,
            accepted: None,
            region,
        };
        pair.until("set-up", |pair| {
            pair.accepted = pair.accepted.or_else(|| pair.b.accept());
            pair.accepted.is_some()
                && pair.a.state(pair.connection) == Ok(ConnectionState::Established)
        });
        pair
    }

    fn until(&mut self, what: &str, mut done: impl FnMut(&mut Self) -> bool) {
        let begun = Instant::now();
        while !done(self) {
            self.a.progress(Duration::ZERO).expect("sockets work");
            self.b.progress(Duration::ZERO).expect("sockets work");
            assert!(begun.elapsed() < WAIT, "{what} takes too long");
        }
    }

    fn post(&mut self, id: u64, operation: WorkOperation) {
        self.a
            .post_send(self.connection, 0, WorkRequest { id, operation })
            .expect("the queue has room");
    }

    /// Memory of the first NIC that begins with these bytes.
    fn source(&mut self, bytes: &[u8]) -> u64 {
        let length = bytes.len().max(1) as u64;
        let region = self.a.register(length, Rights::default());
        let region = region.expect("a region is free");
        self.a.write_memory(&region, 0, bytes).expect("it fits");
        region.address
    }

    fn completion(&mut self) -> Completion {
        let mut found = None;
        self.until("a completion", |pair| {
            found = pair.a.poll();
            found.is_some()
        });
        found.expect("it was found")
    }
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length)
        .map(|index| (index * 31 + index / 251) as u8)
        .collect()
}

/// A WRITE of a pattern: same bytes, nothing beside them.
fn write(planes: u8, loss: f64, length: usize) {
    let mut pair = Pair::new(planes, loss);
    let local = pair.source(&pattern(length));
    let (remote, key) = (pair.region.address + 3, pair.region.key);
    pair.post(
        5,
        WorkOperation::Write {
            local,
            length: length as u32,
            remote,
            key,
        },
    );
    let completion = pair.completion();
    assert_eq!(
        (completion.id, completion.status, completion.length),
        (5, Status::Ok, length as u32)
    );
    let whole = pair.b.buffers.get(pair.region.address, 1 << 22).unwrap();
    assert_eq!(&whole[3..3 + length], pattern(length));
    assert!(
        whole[..3]
            .iter()
            .chain(&whole[3 + length..])
            .all(|byte| *byte == 0)
    );
    assert_eq!((pair.a.buffers.missed(), pair.b.buffers.missed()), (0, 0));
}

#[test]
fn a_write_arrives_whole() {
    for length in [0, 1, 63, 4_096, 8_192, 8_193, 1_000_000] {
        write(1, 0.0, length);
    }
}

#[test]
fn a_write_arrives_over_four_planes_with_loss() {
    write(4, 0.05, 3_000_000);
}

#[test]
fn a_send_finds_its_receive_request() {
    let mut pair = Pair::new(2, 0.0);
    let target = pair.b.register(5_000, Rights::default());
    let target = target.expect("a region is free").address;
    let request = ReceiveRequest {
        id: 9,
        address: target,
        length: 5_000,
    };
    let accepted = pair.accepted.expect("set-up is over");
    pair.b
        .post_receive(accepted, 0, request)
        .expect("the queue has room");
    let local = pair.source(&pattern(5_000));
    pair.post(
        1,
        WorkOperation::SendImm {
            local,
            length: 5_000,
            immediate: 77,
        },
    );
    assert_eq!(pair.completion().status, Status::Ok);
    let mut received = None;
    pair.until("the message", |pair| {
        received = pair.b.poll();
        received.is_some()
    });
    let received = received.expect("it was found");
    assert_eq!(
        (received.side, received.id, received.immediate),
        (Side::Receive, 9, Some(77))
    );
    assert_eq!(pair.b.buffers.get(target, 5_000).unwrap(), pattern(5_000));
}

#[test]
fn reads_and_atomics_come_back() {
    let mut pair = Pair::new(1, 0.02);
    let (address, key) = (pair.region.address, pair.region.key);
    pair.b
        .buffers
        .get_mut(address, 100_000)
        .unwrap()
        .copy_from_slice(&pattern(100_000));
    let length = 100_000;
    let region = pair
        .a
        .register(
            length as u64,
            Rights {
                write: true,
                ..Rights::default()
            },
        )
        .expect("a region is free");
    let (local, local_key) = (region.address, region.key);
    pair.post(
        1,
        WorkOperation::Read {
            local,
            local_key,
            length: length as u32,
            remote: address,
            key,
        },
    );
    assert_eq!(pair.completion().status, Status::Ok);
    assert_eq!(pair.a.buffers.get(local, length).unwrap(), pattern(length));
    pair.b
        .buffers
        .get_mut(address, 8)
        .unwrap()
        .copy_from_slice(&40_u64.to_le_bytes());
    pair.post(
        2,
        WorkOperation::FetchAdd {
            local,
            local_key,
            remote: address,
            key,
            add: 2,
        },
    );
    assert_eq!(pair.completion().status, Status::Ok);
    assert_eq!(pair.a.buffers.get(local, 8).unwrap(), 40_u64.to_le_bytes());
    assert_eq!(
        pair.b.buffers.get(address, 8).unwrap(),
        42_u64.to_le_bytes()
    );
}

#[test]
fn a_wrong_key_is_refused_and_writes_nothing() {
    let mut pair = Pair::new(1, 0.0);
    let local = pair.source(&[7; 64]);
    let (remote, key) = (pair.region.address + (1 << 22) - 32, pair.region.key);
    pair.post(
        1,
        WorkOperation::Write {
            local,
            length: 64,
            remote,
            key,
        },
    );
    assert_eq!(pair.completion().status, Status::RemoteAccess);
}

#[test]
fn a_port_in_use_and_a_wildcard_are_named() {
    let first = nic(1, 0.0, 1);
    let taken = osprey_host::udp::socket_address(&first.addresses()[0]);
    let told = UdpNic::open(&UdpSettings::new(vec![taken], 2)).expect_err("the port is taken");
    assert!(matches!(told, UdpError::Bind { .. }));
    assert!(told.to_string().contains(&taken.to_string()), "{told}");
    let any = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0);
    let told = UdpNic::open(&UdpSettings::new(vec![any], 2)).expect_err("a wildcard");
    assert!(told.to_string().contains("0.0.0.0"), "{told}");
}

#[test]
fn a_peer_that_is_not_there_is_reported() {
    let mut a = nic(1, 0.0, 1);
    let nobody = nic(1, 0.0, 2).addresses();
    let connection = a
        .connect(&nobody, SERVICE, &[])
        .expect("a connection is free");
    let begun = Instant::now();
    loop {
        a.progress(Duration::from_millis(5)).expect("sockets work");
        match a.state(connection) {
            Ok(ConnectionState::Closed(reason)) => {
                assert!(matches!(reason, CloseReason::NoAnswer(_)), "{reason:?}");
                return;
            }
            _ => assert!(begun.elapsed() < WAIT),
        }
    }
}
