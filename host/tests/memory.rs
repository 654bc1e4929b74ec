//! Registration, bounds, deregistration.

mod common;

use common::Hosts;
use osprey_hls::regs::control;
use osprey_host::device::DevicePair;
use osprey_host::dma::DmaMemory;
use osprey_host::verbs::{
    CallerError, Error, MemoryRegion, Rights, Status, WorkOperation, WorkRequest,
};

#[test]
fn field_case_35_pages_with_unrelated_addresses_are_written_through_the_page_table() {
    let mut hosts = Hosts::new();
    let (from_buffer, from) = hosts.region(0, 4093, 9000);
    let (to_buffer, to) = hosts.region(1, 17, 9000);
    assert_eq!(from_buffer.contiguous(), None);
    let data: Vec<u8> = (0..9000_u32).map(|n| ((n * 31) >> 3) as u8).collect();
    hosts.pair.port(0).write(&from_buffer, 4093, &data);
    let [a, _] = hosts.connect(&[to]);
    let request = hosts.write_request(&from, &to, 99);
    hosts.contexts[0]
        .post_send(&mut hosts.pair.port(0), a, &request)
        .unwrap();
    hosts.turns(3);
    let completions = hosts.poll(0, a);
    assert_eq!((completions.len(), completions[0].id), (1, 99));
    assert_eq!(completions[0].status, Status::Ok);
    let mut placed = vec![0; 9017];
    hosts.pair.port(1).read(&to_buffer, 0, &mut placed);
    assert_eq!(placed[..17], [0; 17]);
    assert_eq!(placed[17..], data);
}

#[test]
fn field_case_31_a_deregistered_key_fails_and_never_comes_back() {
    let mut hosts = Hosts::new();
    let (_, from) = hosts.region(0, 0, 100);
    let (buffer, to) = hosts.region(1, 0, 100);
    let [a, _] = hosts.connect(&[to]);
    hosts.contexts[1]
        .deregister(&mut hosts.pair.port(1), to)
        .unwrap();
    let domain = hosts.domains[1];
    let rights = Rights {
        write: true,
        ..Rights::default()
    };
    let again = hosts.contexts[1]
        .register(&mut hosts.pair.port(1), domain, &buffer, (0, 100), rights)
        .unwrap();
    assert_eq!(again.key.index(), to.key.index());
    assert_ne!(again.key, to.key);
    let request = hosts.write_request(&from, &to, 1);
    hosts.contexts[0]
        .post_send(&mut hosts.pair.port(0), a, &request)
        .unwrap();
    hosts.turns(3);
    assert_eq!(hosts.poll(0, a)[0].status, Status::RemoteAccess);
    let twice = hosts.contexts[1].deregister(&mut hosts.pair.port(1), to);
    assert_eq!(twice, Err(CallerError::UnknownKey(to.key).into()));
}

#[test]
fn deregistration_waits_for_placements_that_were_checked() {
    let mut hosts = Hosts::new();
    let (_, from) = hosts.region(0, 0, 100);
    let (_, to) = hosts.region(1, 0, 100);
    let [a, _] = hosts.connect(&[to]);
    hosts.pair.engine(1).placement_lag = 50;
    let request = hosts.write_request(&from, &to, 1);
    hosts.contexts[0]
        .post_send(&mut hosts.pair.port(0), a, &request)
        .unwrap();
    hosts.turns(3);
    let counts = |hosts: &mut Hosts| {
        let registers = &hosts.pair.engine(1).registers;
        (
            registers[&control::PLACEMENT_ISSUED.at(0)],
            registers[&control::PLACEMENT_DONE.at(0)],
        )
    };
    assert_eq!(counts(&mut hosts), (1, 0));
    hosts.contexts[1]
        .deregister(&mut hosts.pair.port(1), to)
        .unwrap();
    assert_eq!(counts(&mut hosts), (1, 1));
}

#[test]
fn field_case_26_local_bounds_do_not_wrap() {
    let mut hosts = Hosts::new();
    let (_, from) = hosts.region(0, 16, 4096);
    let (_, to) = hosts.region(1, 0, 8192);
    let [a, _] = hosts.connect(&[to]);
    let mut refused = |address: u64, length: u32| {
        let operation = WorkOperation::Write {
            local: address,
            length,
            remote: to.address,
            key: to.key,
        };
        let request = WorkRequest { id: 0, operation };
        hosts.contexts[0].post_send(&mut hosts.pair.port(0), a, &request)
    };
    for (address, length) in [
        (from.address - 1, 1),
        (from.address + 4096, 1),
        (u64::MAX - 0x3f, 0x60),
    ] {
        let unregistered = CallerError::Unregistered {
            address,
            length: length.into(),
        };
        assert_eq!(refused(address, length), Err(unregistered.into()));
    }
    let error = refused(from.address + 1, 4096).unwrap_err();
    assert!(
        matches!(error, Error::Caller(CallerError::Bounds { .. })),
        "{error}"
    );
    assert_eq!(
        refused(from.address, 4096),
        Ok(0),
        "refused requests took no index"
    );
    assert!(matches!(
        refused(from.address, 1 << 31),
        Err(Error::Caller(CallerError::Length { .. }))
    ));
}

#[test]
fn keys_and_pages_run_out_cleanly() {
    let mut hosts = Hosts::new();
    let mut regions: Vec<MemoryRegion> = Vec::new();
    let (buffer, first) = hosts.region(0, 0, 4096);
    regions.push(first);
    let rights = Rights::default();
    let domain = hosts.domains[0];
    let register = |hosts: &mut Hosts| {
        hosts.contexts[0].register(&mut hosts.pair.port(0), domain, &buffer, (0, 4096), rights)
    };
    while regions.len() < 15 {
        regions.push(register(&mut hosts).unwrap());
    }
    assert_eq!(register(&mut hosts), Err(CallerError::NoKey.into()));
    hosts.contexts[0]
        .deregister(&mut hosts.pair.port(0), first)
        .unwrap();
    let large = hosts
        .pair
        .port(0)
        .allocate(4096 * 1024, osprey_host::dma::PageSize::Small)
        .unwrap();
    let result = hosts.contexts[0].register(
        &mut hosts.pair.port(0),
        domain,
        &large,
        (0, 4096 * 1024),
        rights,
    );
    assert!(
        matches!(
            result,
            Err(Error::Caller(CallerError::NoPages { needed: 1024, .. }))
        ),
        "{result:?}"
    );
    register(&mut hosts).unwrap();
}
