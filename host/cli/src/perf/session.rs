//! What the measurements share: the NIC, its connection, the serving side, the table of paths.

use super::{Local, Peer};
use anyhow::{Context, Result, bail};
use osprey_hls::endpoint::{ConnectionState, Rights, Side, WorkOperation, WorkRequest};
use osprey_hls::wire::{ConnectionId, PathId, RemoteRegion};
use osprey_host::udp::{UdpNic, UdpSettings, plane_address};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The service that measurements ask for.
const SERVICE: u32 = 0x7065_7266;
/// Bytes that a serving process lets each peer write.
const SERVED_BYTES: usize = 64 << 20;
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
    nic: &mut UdpNic,
    peer: &Peer,
    own: &[RemoteRegion],
) -> Result<(ConnectionId, RemoteRegion)> {
    let planes: Vec<_> = peer
        .peer
        .iter()
        .map(|address| plane_address(*address))
        .collect();
    let now = nic.now();
    let connection = nic.endpoint.connect(now, &planes, SERVICE, own)?;
    loop {
        nic.progress(IDLE)?;
        match nic.endpoint.connection_state(connection) {
            Some(ConnectionState::Connecting) => {}
            Some(ConnectionState::Established) => break,
            Some(ConnectionState::Closing(reason) | ConnectionState::Closed(reason)) => {
                bail!(
                    "{}: {reason:?}; does 'osprey perf serve' run there, with as many planes?",
                    peer.peer[0]
                );
            }
            None => bail!("{}: the connection is gone", peer.peer[0]),
        }
    }
    let region = nic.endpoint.remote_regions(connection).first().copied();
    Ok((
        connection,
        region.context("the peer announces no memory: is it 'osprey perf serve'?")?,
    ))
}

/// Says BYE and lets it leave.
pub(super) fn close(nic: &mut UdpNic, connection: ConnectionId) -> Result<()> {
    let now = nic.now();
    nic.endpoint.close(now, connection)?;
    for _ in 0..50 {
        nic.progress(Duration::from_millis(2))?;
        if matches!(
            nic.endpoint.connection_state(connection),
            Some(ConnectionState::Closed(_)) | None
        ) {
            break;
        }
    }
    Ok(())
}

/// Serves until the process is stopped: memory to write, and an answer to each immediate.
pub(super) fn serve(local: &Local) -> Result<()> {
    let mut nic = open(local)?;
    let region = nic.register(SERVED_BYTES, Rights::ALL)?;
    nic.endpoint.listen(SERVICE, &[region])?;
    let addresses: Vec<String> = nic
        .addresses()
        .iter()
        .map(|address| osprey_host::udp::socket_address(address).to_string())
        .collect();
    println!("serving {} bytes at {}", SERVED_BYTES, addresses.join(","));
    loop {
        nic.progress(IDLE)?;
        while let Some(connection) = nic.endpoint.poll_accepted() {
            println!("connection {connection}");
        }
        while let Some(completion) = nic.endpoint.poll_completion() {
            if completion.side == Side::WriteImm {
                answer(
                    &mut nic,
                    region,
                    completion.connection,
                    completion.stream,
                    completion.length,
                );
            }
        }
        while nic.endpoint.poll_event().is_some() {}
        release_closed(&mut nic)?;
    }
}

/// Writes as much back to the peer as it wrote, with an immediate.
fn answer(nic: &mut UdpNic, own: RemoteRegion, connection: ConnectionId, stream: u8, length: u32) {
    let Some(theirs) = nic.endpoint.remote_regions(connection).first().copied() else {
        return;
    };
    let operation = WorkOperation::WriteImm {
        local: own.address,
        length: length.min(theirs.length as u32),
        remote: theirs.address,
        key: theirs.key,
        immediate: 0,
    };
    let now = nic.now();
    // A peer that has gone meanwhile gets no answer.
    let _ = nic
        .endpoint
        .post_send(now, connection, stream, WorkRequest { id: 0, operation });
}

/// Forgets connections that are over.
fn release_closed(nic: &mut UdpNic) -> Result<()> {
    for number in nic.endpoint.connections() {
        if let Some(ConnectionState::Closed(reason)) = nic.endpoint.connection_state(number) {
            println!("connection {number} is over: {reason:?}");
            nic.endpoint.release(number)?;
        }
    }
    Ok(())
}

/// Prints what the paths of a connection did.
pub(super) fn print_paths(nic: &UdpNic, connection: ConnectionId) {
    println!("plane path  source port   packets    resent      lost  window    RTT us  health");
    for number in 0..=u8::MAX {
        let Some(path) = nic.endpoint.path_telemetry(connection, PathId(number)) else {
            continue;
        };
        println!(
            "{:>5} {:>4} {:>12} {:>9} {:>9} {:>9} {:>7.2} {:>9.1}  {:?}",
            path.plane,
            path.k,
            path.entropy,
            path.counts.sent,
            path.counts.resent,
            path.counts.lost,
            f64::from(path.window_q10) / 1024.0,
            f64::from(path.srtt_ns) / 1e3,
            path.health
        );
    }
}
