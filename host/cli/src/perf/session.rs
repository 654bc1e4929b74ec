//! What the measurements share: the NIC, its connection, the serving side, the table of paths.

use super::{Local, Peer};
use anyhow::{Context, Result, bail};
use osprey_hls::wire::RemoteRegion;
use osprey_host::udp::{UdpNic, UdpSettings, plane_address, socket_address};
use osprey_host::verbs::{
    Completion, ConnectionHandle, ConnectionState, MemoryRegion, Nic, Side, WorkOperation,
    WorkRequest,
};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The service that measurements ask for.
const SERVICE: u32 = 0x7065_7266;
/// Bytes that a serving process lets each peer write.
const SERVED_BYTES: u64 = 64 << 20;
/// Longest sleep while nothing moves.
const IDLE: Duration = Duration::from_millis(20);

/// Opens the NIC.
pub(super) fn open(local: &Local) -> Result<UdpNic> {
    if !(0.0..=1.0).contains(&local.loss) {
        bail!(
            "--loss {}: it must be from 0 to 1, such as 0.01",
            local.loss
        );
    }
    let clock = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_nanos() as u64);
    let settings = UdpSettings {
        paths_per_plane: local.paths,
        mtu: local.mtu,
        rate_gbps: local.rate_gbps,
        rtt_us: local.rtt_us,
        loss: local.loss,
        ..UdpSettings::new(local.local.clone(), local.seed.unwrap_or(clock))
    };
    Ok(UdpNic::open(&settings)?)
}

/// Connects to a serving peer: the connection, and the memory that it serves.
pub(super) fn connect(
    nic: &mut impl Nic,
    peer: &Peer,
    own: &[MemoryRegion],
) -> Result<(ConnectionHandle, RemoteRegion)> {
    let planes: Vec<_> = peer.peer.iter().copied().map(plane_address).collect();
    let connection = nic.connect(&planes, SERVICE, own)?;
    loop {
        nic.progress(IDLE)?;
        match nic.state(connection)? {
            ConnectionState::Connecting => {}
            ConnectionState::Established => break,
            ConnectionState::Closing(reason) | ConnectionState::Closed(reason) => bail!(
                "{}: {reason}; does 'osprey perf serve' run there, with as many planes?",
                peer.peer[0]
            ),
        }
    }
    let region = nic.peer_regions(connection)?.first().copied();
    Ok((
        connection,
        region.context("the peer announces no memory: is it 'osprey perf serve'?")?,
    ))
}

/// Says BYE and lets it leave.
pub(super) fn close(nic: &mut impl Nic, connection: ConnectionHandle) -> Result<()> {
    nic.close(connection)?;
    for _ in 0..50 {
        nic.progress(Duration::from_millis(2))?;
        if matches!(nic.state(connection)?, ConnectionState::Closed(_)) {
            break;
        }
    }
    Ok(())
}

/// Serves until the process is stopped: memory that peers may use as the NIC can, and an answer to each immediate.
pub(super) fn serve(local: &Local) -> Result<()> {
    let mut nic = open(local)?;
    let addresses = nic.addresses();
    let addresses = addresses.iter().map(|at| socket_address(at).to_string());
    let told = addresses.collect::<Vec<_>>().join(",");
    serve_with(&mut nic, &format!("serving {SERVED_BYTES} bytes at {told}"))
}

/// Serves with any NIC; `ready` is said when peers may come.
fn serve_with(nic: &mut impl Nic, ready: &str) -> Result<()> {
    let region = nic.register(SERVED_BYTES, nic.capabilities().rights())?;
    nic.listen(SERVICE, &[region])?;
    println!("{ready}");
    let mut connections = Vec::new();
    loop {
        nic.progress(IDLE)?;
        while let Some(connection) = nic.accept() {
            println!("connection {}", connection.number());
            connections.push(connection);
        }
        while let Some(completion) = nic.poll() {
            if completion.side == Side::WriteImm {
                answer(nic, &region, &completion);
            }
        }
        release_closed(nic, &mut connections)?;
    }
}

/// Writes as much back to the peer as it wrote, with an immediate.
fn answer(nic: &mut impl Nic, own: &MemoryRegion, asked: &Completion) {
    let connection = asked.connection;
    let Ok(&[theirs, ..]) = nic.peer_regions(connection) else {
        return;
    };
    let operation = WorkOperation::WriteImm {
        local: own.address,
        length: asked.length.min(theirs.length as u32),
        remote: theirs.address,
        key: theirs.key,
        immediate: 0,
    };
    // A peer that has gone meanwhile gets no answer.
    let _ = nic.post_send(connection, asked.stream, WorkRequest { id: 0, operation });
}

/// Forgets connections that are over.
fn release_closed(nic: &mut impl Nic, connections: &mut Vec<ConnectionHandle>) -> Result<()> {
    let mut open = Vec::new();
    for connection in connections.drain(..) {
        if let ConnectionState::Closed(reason) = nic.state(connection)? {
            println!("connection {}: {reason}", connection.number());
            nic.release(connection)?;
        } else {
            open.push(connection);
        }
    }
    *connections = open;
    Ok(())
}

/// Prints what the paths of a connection did.
pub(super) fn print_paths(nic: &mut impl Nic, connection: ConnectionHandle) -> Result<()> {
    println!("plane path  source port   packets    resent      lost  window    RTT us  health");
    for path in nic.path_reports(connection)? {
        let counts = path.counts;
        let or_dash = |told: Option<String>| told.unwrap_or("-".into());
        println!(
            "{:>5} {:>4} {:>12} {:>9} {:>9} {:>9} {:>7.2} {:>9.1}  {}",
            path.plane,
            path.k,
            or_dash(path.source_port.map(|port| port.to_string())),
            counts.sent,
            counts.resent,
            counts.lost,
            f64::from(path.window_q10) / 1024.0,
            f64::from(path.rtt_ns) / 1e3,
            or_dash(path.health.map(|health| format!("{health:?}")))
        );
    }
    Ok(())
}
