//! What an application may rely on with any NIC: every typed refusal, the same words on the engine and in software, and
//! that a refusal takes nothing.

mod common;

use common::addresses;
use osprey_host::device::{DeviceError, SharedPort};
use osprey_host::dma::DmaError;
use osprey_host::fake::FakePair;
use osprey_host::udp::{UdpNic, UdpSettings};
use osprey_host::verbs::{
    CallerError, CloseReason, Config, ConnectionHandle, ConnectionState, EngineNic, Error,
    MemoryRegion, Nic, OperationKind, ReceiveRequest, Rights, Status, WorkOperation, WorkRequest,
};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

const SERVICE: u32 = 7;
const WAIT: Duration = Duration::from_secs(20);
const MAY_WRITE: Rights = Rights {
    write: true,
    read: false,
    atomic: false,
};

fn engines() -> [EngineNic<SharedPort<FakePair>>; 2] {
    let pair = Rc::new(RefCell::new(FakePair::new()));
    let mut side = 0;
    SharedPort::both(&pair).map(|port| {
        let mut config = Config::new(addresses(side));
        (config.retry_interval, config.log2_send_ring) = (20, 3);
        side += 1;
        EngineNic::open(port, config, [side; 32]).expect("a fake engine")
    })
}

/// With one connection, so that its number is used again.
fn udp() -> [UdpNic; 2] {
    [1, 2].map(|seed| {
        let loopback = "127.0.0.1:0".parse().expect("an address");
        let settings = UdpSettings::new(vec![loopback], seed);
        let mut config = settings.config().expect("usual settings");
        config.connections_max = 1;
        UdpNic::with_config(&settings.planes, config, seed).expect("loopback has free ports")
    })
}

fn turn<N: Nic>(nics: &mut [N; 2]) {
    for nic in nics {
        nic.progress(Duration::ZERO).expect("the NIC works");
    }
}

fn until<N: Nic, T>(nics: &mut [N; 2], mut found: impl FnMut(&mut [N; 2]) -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = found(nics) {
            return found;
        }
        turn(nics);
        assert!(begun.elapsed() < WAIT, "it takes too long");
    }
}

/// A connection from the first to the second, which serves `target`.
fn connect<N: Nic>(nics: &mut [N; 2], target: MemoryRegion) -> [ConnectionHandle; 2] {
    nics[1].listen(SERVICE, &[target]).expect("listens");
    let to = nics[1].addresses();
    let a = nics[0].connect(&to, SERVICE, &[]).expect("asks");
    let b = until(nics, |nics| {
        let established = nics[0].state(a) == Ok(ConnectionState::Established);
        established.then(|| nics[1].accept())?
    });
    assert_eq!(nics[0].peer_regions(a), Ok(&[target.remote()][..]));
    [a, b]
}

/// Closes and releases both ends.
fn end<N: Nic>(nics: &mut [N; 2], [a, b]: [ConnectionHandle; 2]) {
    nics[0].close(a).expect("open until now");
    until(nics, |nics| {
        let states = [nics[0].state(a), nics[1].state(b)].map(|state| state.expect("known"));
        let [CloseReason::Local, CloseReason::Peer] = states.map(|state| match state {
            ConnectionState::Closed(reason) => reason,
            _ => CloseReason::NoAnswer(0),
        }) else {
            return None;
        };
        Some(())
    });
    nics[0].release(a).expect("known until now");
    nics[1].release(b).expect("known until now");
}

fn write(source: &MemoryRegion, target: &MemoryRegion, length: u32) -> WorkRequest {
    let operation = WorkOperation::Write {
        local: source.address,
        length,
        remote: target.address,
        key: target.key,
    };
    WorkRequest { id: 1, operation }
}

/// A request of every kind, of 8 bytes.
fn requests(source: &MemoryRegion, target: &MemoryRegion) -> [WorkRequest; 7] {
    let (local, local_key, length) = (source.address, source.key, 8);
    let (remote, key) = (target.address, target.key);
    [
        WorkOperation::Write {
            local,
            length,
            remote,
            key,
        },
        WorkOperation::WriteImm {
            local,
            length,
            remote,
            key,
            immediate: 3,
        },
        WorkOperation::Send { local, length },
        WorkOperation::SendImm {
            local,
            length,
            immediate: 3,
        },
        WorkOperation::Read {
            local,
            local_key,
            length,
            remote,
            key,
        },
        WorkOperation::CompareSwap {
            local,
            local_key,
            remote,
            key,
            compare: 0,
            swap: 1,
        },
        WorkOperation::FetchAdd {
            local,
            local_key,
            remote,
            key,
            add: 1,
        },
    ]
    .map(|operation| WorkRequest { id: 0, operation })
}

fn caller<T>(error: CallerError) -> Result<T, Error> {
    Err(Error::Caller(error))
}

fn a_handle_that_was_released_names_nothing<N: Nic>(mut nics: [N; 2]) {
    let target = nics[1].register(64, MAY_WRITE).expect("memory");
    let source = nics[0].register(64, Rights::default()).expect("memory");
    let old = connect(&mut nics, target);
    end(&mut nics, old);
    let new = connect(&mut nics, target);
    assert_eq!(new[0].number(), old[0].number(), "the number is used again");
    let (nic, gone) = (&mut nics[0], old[0]);
    let receive = ReceiveRequest {
        id: 0,
        address: source.address,
        length: 64,
    };
    assert_eq!(nic.state(gone), caller(CallerError::NoSuchConnection));
    assert_eq!(nic.settled(gone), caller(CallerError::NoSuchConnection));
    assert_eq!(
        nic.peer_regions(gone),
        caller(CallerError::NoSuchConnection)
    );
    assert_eq!(
        nic.post_send(gone, 0, write(&source, &target, 64)),
        caller(CallerError::NoSuchConnection)
    );
    assert_eq!(
        nic.post_receive(gone, 0, receive),
        caller(CallerError::NoSuchConnection)
    );
    assert_eq!(
        nic.path_reports(gone),
        caller(CallerError::NoSuchConnection)
    );
    assert_eq!(nic.close(gone), caller(CallerError::NoSuchConnection));
    assert_eq!(nic.release(gone), caller(CallerError::NoSuchConnection));
    assert_eq!(nic.state(new[0]), Ok(ConnectionState::Established));
}

#[test]
fn a_handle_that_was_released_names_nothing_any_more() {
    a_handle_that_was_released_names_nothing(engines());
    a_handle_that_was_released_names_nothing(udp());
}

fn posts_need_a_connection_in_service<N: Nic>(mut nics: [N; 2]) {
    let target = nics[1].register(64, MAY_WRITE).expect("memory");
    let source = nics[0].register(64, Rights::default()).expect("memory");
    let request = write(&source, &target, 64);
    nics[1].listen(SERVICE, &[target]).expect("listens");
    let to = nics[1].addresses();
    let asked = nics[0].connect(&to, SERVICE, &[]).expect("asks");
    assert_eq!(
        nics[0].post_send(asked, 0, request),
        caller(CallerError::NotEstablished)
    );
    assert_eq!(nics[0].settled(asked), Ok(None));
    assert_eq!(nics[0].path_reports(asked), Ok(Vec::new()));
    until(&mut nics, |nics| nics[1].accept());
    until(&mut nics, |nics| {
        (nics[0].state(asked) == Ok(ConnectionState::Established)).then_some(())
    });
    nics[0].post_send(asked, 0, request).expect("posted");
    nics[0].close(asked).expect("open until now");
    assert_eq!(
        nics[0].post_send(asked, 0, request),
        caller(CallerError::NotEstablished)
    );
}

#[test]
fn posts_need_a_connection_that_is_in_service() {
    posts_need_a_connection_in_service(engines());
    posts_need_a_connection_in_service(udp());
}

fn memory_is_registered_and_within_bounds<N: Nic>(mut nics: [N; 2]) {
    let target = nics[1].register(64, MAY_WRITE).expect("memory");
    let source = nics[0].register(4096, Rights::default()).expect("memory");
    let gone = nics[0].register(4096, Rights::default()).expect("memory");
    let [a, _] = connect(&mut nics, target);
    nics[0].deregister(gone).expect("registered until now");

    let nic = &mut nics[0];
    for (address, length) in [
        (source.address - 1, 1),
        (source.address + 4096, 1),
        (gone.address, 64),
        (u64::MAX - 0x3f, 0x60),
    ] {
        let request = write(&MemoryRegion { address, ..source }, &target, length);
        let length = length.into();
        let unregistered = CallerError::Unregistered { address, length };
        assert_eq!(nic.post_send(a, 0, request), caller(unregistered));
    }
    let bounds = |address, length, region_address| CallerError::Bounds {
        address,
        length,
        region_address,
        region_length: 4096,
    };
    let address = source.address + 1;
    let beyond = MemoryRegion { address, ..source };
    assert_eq!(
        nic.post_send(a, 0, write(&beyond, &target, 4096)),
        caller(bounds(address, 4096, source.address))
    );
    let max = 1 << 30;
    assert_eq!(
        nic.post_send(a, 0, write(&source, &target, max + 1)),
        caller(CallerError::Length {
            length: u64::from(max) + 1,
            max: max.into()
        })
    );

    let mut bytes = [1; 64];
    for offset in [4033, 4096, u64::MAX - 7] {
        let out = bounds(offset, 64, 0);
        assert_eq!(
            nic.read_memory(&source, offset, &mut bytes),
            caller(out.clone())
        );
        assert_eq!(nic.write_memory(&source, offset, &bytes), caller(out));
    }
    nic.read_memory(&source, 4032, &mut bytes).expect("inside");
    assert_eq!(bytes, [0; 64], "nothing was written");

    let unknown = CallerError::UnknownKey(gone.key);
    assert_eq!(
        nic.read_memory(&gone, 0, &mut bytes),
        caller(unknown.clone())
    );
    assert_eq!(nic.write_memory(&gone, 0, &bytes), caller(unknown.clone()));
    assert_eq!(nic.deregister(gone), caller(unknown));
    let max = isize::MAX as u64;
    for length in [0, max + 1] {
        let refused = nic.register(length, MAY_WRITE);
        assert_eq!(refused, caller(CallerError::RegionLength { length, max }));
    }
}

#[test]
fn memory_that_is_used_is_registered_and_within_bounds() {
    memory_is_registered_and_within_bounds(engines());
    memory_is_registered_and_within_bounds(udp());
}

/// What is not among the capabilities is refused by name; what is, is taken. `name` is the NIC's.
fn operations_are_those_of_the_capabilities<N: Nic>(mut nics: [N; 2], name: &'static str) {
    let capabilities = nics[0].capabilities();
    assert_eq!(capabilities.name, name);
    let supports = |kind| capabilities.supports(kind);
    let refused = |found: Result<(), Error>, kind: OperationKind| {
        if supports(kind) {
            return assert_eq!(found, Ok(()), "{kind}");
        }
        let error = found.expect_err("it is not supported");
        let asked = match error {
            Error::Caller(CallerError::Unsupported { operation, nic, .. }) => (operation, nic),
            _ => panic!("{kind}: {error}"),
        };
        assert_eq!(asked, (kind, name));
        let text = error.to_string();
        assert!(
            text.contains(&kind.to_string()) && text.contains("use "),
            "{text}"
        );
    };
    for (rights, kind) in [
        (MAY_WRITE, OperationKind::Write),
        (
            Rights {
                read: true,
                ..MAY_WRITE
            },
            OperationKind::Read,
        ),
        (
            Rights {
                atomic: true,
                ..MAY_WRITE
            },
            OperationKind::FetchAdd,
        ),
    ] {
        refused(nics[0].register(64, rights).map(|_| ()), kind);
    }
    let target = nics[1].register(64, MAY_WRITE).expect("memory");
    let source = nics[0].register(64, Rights::default()).expect("memory");
    let [a, _] = connect(&mut nics, target);
    let receive = ReceiveRequest {
        id: 0,
        address: source.address,
        length: 64,
    };
    refused(nics[0].post_receive(a, 0, receive), OperationKind::Receive);
    for request in requests(&source, &target) {
        let kind = OperationKind::of(&request.operation);
        refused(nics[0].post_send(a, 0, request), kind);
    }
    let streams = nics[0].settled(a).expect("known").expect("settled").streams;
    let stream = u8::MAX;
    assert!(streams <= stream.into() && streams <= capabilities.streams);
    let wrong = CallerError::Stream { stream, streams };
    let request = write(&source, &target, 64);
    assert_eq!(nics[0].post_send(a, stream, request), caller(wrong.clone()));
    assert_eq!(nics[0].post_receive(a, stream, receive), caller(wrong));
}

#[test]
fn what_a_nic_cannot_do_is_refused_by_name() {
    operations_are_those_of_the_capabilities(engines(), "the engine");
    operations_are_those_of_the_capabilities(udp(), "the software NIC");
}

fn a_full_queue_takes_more_when_completions_are_taken<N: Nic>(mut nics: [N; 2]) {
    let target = nics[1].register(64, MAY_WRITE).expect("memory");
    let source = nics[0].register(64, Rights::default()).expect("memory");
    nics[0].write_memory(&source, 0, &[5; 64]).expect("inside");
    let [a, _] = connect(&mut nics, target);
    let request = write(&source, &target, 64);
    let mut posted = 0;
    let refused = loop {
        match nics[0].post_send(a, 0, request) {
            Ok(()) => posted += 1,
            Err(error) => break error,
        }
        assert!(posted < 100_000, "no end");
    };
    assert_eq!(refused, Error::Caller(CallerError::Full { max: posted }));
    for _ in 0..posted {
        let completion = until(&mut nics, |nics| nics[0].poll());
        assert_eq!(
            (completion.connection, completion.id, completion.status),
            (a, 1, Status::Ok)
        );
    }
    nics[0].post_send(a, 0, request).expect("there is room");
    let mut bytes = [0; 64];
    nics[1].read_memory(&target, 0, &mut bytes).expect("inside");
    assert_eq!(bytes, [5; 64]);
    until(&mut nics, |nics| nics[0].poll());
    assert_eq!(nics[0].poll(), None, "refused requests leave no completion");
}

#[test]
fn a_full_queue_is_refused_until_completions_are_taken() {
    a_full_queue_takes_more_when_completions_are_taken(engines());
    a_full_queue_takes_more_when_completions_are_taken(udp());
}

fn what_is_counted_runs_out<N: Nic>(mut nics: [N; 2]) {
    let (planes, regions, connections) = {
        let has = nics[0].capabilities();
        (usize::from(has.planes), has.regions, has.connections)
    };
    let registered: Vec<MemoryRegion> = (0..regions)
        .map(|_| nics[0].register(1, MAY_WRITE).expect("a key"))
        .collect();
    assert_eq!(nics[0].register(1, MAY_WRITE), caller(CallerError::NoKey));
    nics[0].deregister(registered[0]).expect("registered");
    nics[0].register(1, MAY_WRITE).expect("a key is free again");

    let to = nics[1].addresses();
    let Err(Error::Caller(CallerError::Regions { found, max })) =
        nics[0].listen(SERVICE, &[registered[1]; 14])
    else {
        panic!("there is no room for 14 regions");
    };
    assert!(found == 14 && max < 14);
    for peer in [vec![], [to.clone(), to.clone()].concat()] {
        let (found, expected) = (peer.len(), planes);
        assert_eq!(
            nics[0].connect(&peer, SERVICE, &[]),
            caller(CallerError::Planes { found, expected })
        );
    }
    for _ in 0..connections {
        nics[0].connect(&to, SERVICE, &[]).expect("a number");
    }
    assert_eq!(
        nics[0].connect(&to, SERVICE, &[]),
        caller(CallerError::NoConnection)
    );
}

#[test]
fn keys_connections_and_room_run_out_by_name() {
    what_is_counted_runs_out(engines());
    what_is_counted_runs_out(udp());
}

#[test]
fn memory_that_is_not_there_is_an_error_not_an_abort() {
    let [mut nic, _] = udp();
    let bytes = 1 << 62;
    assert_eq!(
        nic.register(bytes as u64, MAY_WRITE),
        Err(Error::Device(DeviceError::Memory(DmaError::Exhausted {
            bytes
        })))
    );
}

fn closing_flushes_and_release_forgets<N: Nic>(mut nics: [N; 2]) {
    let target = nics[1].register(64, MAY_WRITE).expect("memory");
    let source = nics[0].register(64, Rights::default()).expect("memory");
    let both = connect(&mut nics, target);
    let request = write(&source, &target, 64);
    nics[0].post_send(both[0], 0, request).expect("posted");
    nics[0].close(both[0]).expect("open until now");
    let flushed = nics[0].poll().expect("closing ends what is open");
    assert_eq!(
        (flushed.connection, flushed.id, flushed.status),
        (both[0], 1, Status::Flushed)
    );
    end(&mut nics, both);
    let again = connect(&mut nics, target);
    nics[0].post_send(again[0], 0, request).expect("posted");
    nics[0].close(again[0]).expect("open until now");
    nics[0].release(again[0]).expect("known until now");
    assert_eq!(nics[0].poll(), None, "its completions went with it");
}

#[test]
fn closing_flushes_what_is_open_and_release_forgets_it() {
    closing_flushes_and_release_forgets(engines());
    closing_flushes_and_release_forgets(udp());
}
