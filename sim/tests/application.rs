//! An application that is written once, over any NIC: it runs over two software NICs on sockets, over two verilated
//! engines, and over two fake ones.
//!
//! The engines need the emitted Verilog of `edge` (`cargo run -p osprey-rtl --bin emit`); without it that test says so and
//! passes.

mod rig;

use osprey_hls::endpoint::Counter;
use osprey_hls::regs::counters::Counter as EngineCounter;
use osprey_host::device::{DevicePair, SharedPort};
use osprey_host::fake::FakePair;
use osprey_host::udp::{UdpNic, UdpSettings};
use osprey_host::verbs::{
    CallerError, CloseReason, Config, ConnectionHandle, ConnectionState, EngineNic, Error,
    MemoryRegion, Nic, PathReport, Rights, Status, WorkOperation, WorkRequest,
};
use osprey_sim::hosts::addresses;
use osprey_sim::pair::Pair;
use rig::{config, engine, random};
use std::cell::RefCell;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::rc::Rc;
use std::time::{Duration, Instant};

const SERVICE: u32 = 11;
const PATIENCE: Duration = Duration::from_secs(120);
/// Bytes of the messages, which lie one behind the other, three bytes apart.
const LENGTHS: [usize; 12] = [
    1, 0, 64, 4_095, 4_096, 4_097, 9_000, 3, 70_000, 512, 16_385, 30_001,
];
/// Bytes between messages, which must stay as they are.
const GAP: usize = 3;
const PLANES: usize = 2;

/// What an application learns.
struct Told {
    paths: Vec<PathReport>,
    /// DATA packets that its messages take.
    packets: u64,
}

/// Connects, writes, verifies the bytes at the peer, closes.
fn application<A: Nic, B: Nic>(a: &mut A, b: &mut B, seed: u64) -> Result<Told, Error> {
    let length = LENGTHS.iter().sum::<usize>() + LENGTHS.len() * GAP;
    let data = random(seed, length);
    let may_write = Rights {
        write: true,
        ..Rights::default()
    };
    let target = b.register(length as u64, may_write)?;
    let source = a.register(length as u64, Rights::default())?;
    a.write_memory(&source, 0, &data)?;

    let [connection, accepted] = connect(a, b, &target)?;
    let mtu = a.settled(connection)?.expect("it is established").mtu;
    write_all(a, b, connection, &source)?;
    let mut found = vec![0; length];
    b.read_memory(&target, 0, &mut found)?;
    assert_eq!(found, expected(&data), "bytes at the peer");
    assert_eq!((a.poll(), b.poll()), (None, None), "nobody asked for more");

    let paths = a.path_reports(connection)?;
    let packet = |length: &usize| length.div_ceil(mtu.into()).max(1) as u64;
    let packets = LENGTHS.iter().map(packet).sum();

    a.close(connection)?;
    until(a, b, "the end", |a, b| {
        let states = (a.state(connection)?, b.state(accepted)?);
        let closed = ConnectionState::Closed;
        Ok(states == (closed(CloseReason::Local), closed(CloseReason::Peer)))
    })?;
    a.release(connection)?;
    b.release(accepted)?;
    let gone = Err(Error::Caller(CallerError::NoSuchConnection));
    assert_eq!(a.state(connection), gone);
    a.deregister(source)?;
    b.deregister(target)?;
    Ok(Told { paths, packets })
}

fn until<A: Nic, B: Nic>(
    a: &mut A,
    b: &mut B,
    what: &str,
    mut done: impl FnMut(&mut A, &mut B) -> Result<bool, Error>,
) -> Result<(), Error> {
    let begun = Instant::now();
    while !done(a, b)? {
        a.progress(Duration::ZERO)?;
        b.progress(Duration::ZERO)?;
        assert!(begun.elapsed() < PATIENCE, "{what} takes too long");
    }
    Ok(())
}

fn connect<A: Nic, B: Nic>(
    a: &mut A,
    b: &mut B,
    target: &MemoryRegion,
) -> Result<[ConnectionHandle; 2], Error> {
    b.listen(SERVICE, &[*target])?;
    let connection = a.connect(&b.addresses(), SERVICE, &[])?;
    let mut accepted = None;
    until(a, b, "set-up", |a, b| {
        accepted = accepted.or_else(|| b.accept());
        Ok(accepted.is_some() && a.state(connection)? == ConnectionState::Established)
    })?;
    assert_eq!(a.peer_regions(connection)?, [target.remote()]);
    Ok([connection, accepted.expect("it was accepted")])
}

/// Writes all messages to the same places of the peer's memory; each must complete well, in the order of posting.
fn write_all<A: Nic, B: Nic>(
    a: &mut A,
    b: &mut B,
    connection: ConnectionHandle,
    source: &MemoryRegion,
) -> Result<(), Error> {
    let remote = a.peer_regions(connection)?[0];
    let (mut offset, mut posted, mut completed) = (0, 0, 0);
    until(a, b, "completions", |a, _| {
        while posted < LENGTHS.len() {
            let operation = WorkOperation::Write {
                local: source.address + offset,
                length: LENGTHS[posted] as u32,
                remote: remote.address + offset,
                key: remote.key,
            };
            let id = posted as u64;
            match a.post_send(connection, 0, WorkRequest { id, operation }) {
                Ok(()) => {}
                Err(Error::Caller(CallerError::Full { .. })) => break,
                Err(error) => return Err(error),
            }
            offset += (LENGTHS[posted] + GAP) as u64;
            posted += 1;
        }
        while let Some(completion) = a.poll() {
            let found = (completion.connection, completion.id, completion.length);
            let length = LENGTHS[completed] as u32;
            assert_eq!(found, (connection, completed as u64, length));
            assert_eq!(completion.status, Status::Ok);
            completed += 1;
        }
        Ok(completed == LENGTHS.len())
    })
}

/// The target's bytes after all messages: zeros between them.
fn expected(data: &[u8]) -> Vec<u8> {
    let mut bytes = data.to_vec();
    let mut end = 0;
    for length in LENGTHS {
        end += length;
        bytes[end..end + GAP].fill(0);
        end += GAP;
    }
    bytes
}

/// Every packet was sent once, and what was lost once more. `moved` packets were also sent on another path, since theirs was
/// fenced: a software NIC may do so where its process has to wait for a processor.
fn judge(told: &Told, lossy: bool, moved: u64) {
    let sum = |of: fn(&PathReport) -> u64| told.paths.iter().map(of).sum::<u64>();
    let sent = sum(|path| path.counts.sent);
    let resent = sum(|path| path.counts.resent);
    let lost = sum(|path| path.counts.lost);
    let said = format!("{sent} sent, {resent} again, {lost} lost");
    assert_eq!(sent - resent, told.packets + moved, "{said}");
    assert!(lost <= resent, "{said}");
    assert!(!lossy || lost > 0, "{said}");
    let used = told.paths.iter().filter(|path| path.counts.sent > 0);
    assert!(used.clone().count() > 1, "packets are sprayed over paths");
    for path in used {
        assert!(path.rtt_ns > 0 && path.window_q10 > 0, "{path:?}");
        assert!(usize::from(path.plane) < PLANES, "{path:?}");
    }
}

fn open<P: DevicePair>(
    pair: &Rc<RefCell<P>>,
    retry_interval: u32,
) -> [EngineNic<SharedPort<P>>; 2] {
    let mut side = 0;
    SharedPort::both(pair).map(|port| {
        let mut host = Config::new(addresses(side, PLANES));
        host.retry_interval = retry_interval;
        side += 1;
        EngineNic::open(port, host, [side; 32]).expect("an engine")
    })
}

#[test]
fn it_runs_over_verilated_engines() {
    let Some(source) = engine() else { return };
    for (loss, seed) in [(0.0, 1), (0.2, 2)] {
        let surroundings = config(|c| (c.faults.loss, c.seed) = (loss, seed));
        let pair = Pair::new(&source, &surroundings).expect("two engines");
        let pair = Rc::new(RefCell::new(pair));
        let [mut a, mut b] = open(&pair, 800);
        let told = application(&mut a, &mut b, seed).expect("it runs");
        judge(&told, loss > 0.0, 0);
        assert_eq!(pair.borrow().violations(), [""; 0], "rules of the buses");
        for nic in [&mut a, &mut b] {
            let (context, device) = nic.parts();
            let errors = context.counter(device, EngineCounter::ErrorCompletions);
            assert_eq!(errors, 0, "error completions");
        }
    }
}

#[test]
fn it_runs_over_sockets() {
    for (loss, seed) in [(0.0, 1), (0.2, 2)] {
        let [mut a, mut b] = [seed, seed + 100].map(|seed| {
            let local = |plane| SocketAddrV4::new(Ipv4Addr::new(127, 0, 0, 1 + plane), 0);
            let settings = UdpSettings {
                mtu: 4_096,
                loss,
                ..UdpSettings::new((0..PLANES as u8).map(local).collect(), seed)
            };
            UdpNic::open(&settings).expect("loopback has free ports")
        });
        let told = application(&mut a, &mut b, seed).expect("it runs");
        judge(&told, loss > 0.0, a.endpoint.counter(Counter::Moved));
    }
}

/// A fake engine copies whole messages: it has no packets to be judged.
#[test]
fn it_runs_over_fake_engines() {
    let [mut a, mut b] = open(&Rc::new(RefCell::new(FakePair::new())), 20);
    application(&mut a, &mut b, 1).expect("it runs");
}
