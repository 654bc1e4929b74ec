//! QUIC: quinn between two processes, one stream, certificates made on the spot.

use crate::Measured;
use crate::process::{Server, output};
use anyhow::{Context, Result};
use hdrhistogram::Histogram;
use quinn::{ClientConfig, Connection, Endpoint, RecvStream, SendStream, ServerConfig};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes that a ping takes each way.
const PING_BYTES: usize = 64;
/// Pings of a measurement.
const PINGS: u32 = 5_000;
/// First byte of a stream: what it is for.
const BULK: u8 = b'b';
const PING: u8 = b'p';

/// Where to measure.
#[derive(clap::Args, Debug)]
pub(crate) struct Target {
    /// The server's address.
    address: SocketAddr,
    /// Its certificate, in hexadecimal.
    certificate: String,
    /// Seconds to send.
    #[arg(default_value_t = 3)]
    seconds: u32,
}

/// Gb/s, measured by two processes.
pub(crate) fn bandwidth(seconds: u32) -> Measured {
    measure("quic-bandwidth", seconds)
}

/// Median round trip, microseconds.
pub(crate) fn latency() -> Measured {
    measure("quic-latency", 0)
}

fn measure(part: &str, seconds: u32) -> Measured {
    let program = std::env::current_exe().context("cannot find the own program")?;
    let server = Server::announced(Command::new(&program).arg("quic-serve"))?;
    let (address, certificate) = server
        .line
        .split_once(' ')
        .context("the QUIC server says nothing of use")?;
    let text =
        output(Command::new(&program).args([part, address, certificate, &seconds.to_string()]))?;
    Ok(text.trim().parse()?)
}

fn run<F: Future<Output = Result<()>>>(work: impl FnOnce() -> F) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async { work().await })
}

/// Serves until it is stopped.
pub(crate) fn serve() -> Result<()> {
    run(|| async {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
        let certificate = CertificateDer::from(made.cert);
        let key = PrivatePkcs8KeyDer::from(made.key_pair.serialize_der());
        let config = ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?;
        let endpoint = Endpoint::server(config, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let hex = certificate.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        println!("{} {hex}", endpoint.local_addr()?);
        while let Some(incoming) = endpoint.accept().await {
            if let Ok(connection) = incoming.await {
                tokio::spawn(async move { while answer(&connection).await.is_ok() {} });
            }
        }
        Ok(())
    })
}

async fn answer(connection: &Connection) -> Result<()> {
    let (mut send, mut receive) = connection.accept_bi().await?;
    let mut kind = [0];
    receive.read_exact(&mut kind).await?;
    if kind[0] == BULK {
        while receive.read_chunk(1 << 20, true).await?.is_some() {}
        send.write_all(&[1]).await?;
    } else {
        let mut ping = [0; PING_BYTES];
        while receive.read_exact(&mut ping).await.is_ok() {
            send.write_all(&ping).await?;
        }
    }
    send.finish()?;
    Ok(())
}

async fn open(target: &Target, kind: u8) -> Result<(Endpoint, Connection, SendStream, RecvStream)> {
    let digits = target.certificate.as_bytes().chunks(2);
    let bytes = digits.map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?));
    let certificate = bytes.collect::<Result<Vec<u8>>>()?;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from(certificate))?;
    let mut endpoint = Endpoint::client(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    endpoint.set_default_client_config(ClientConfig::with_root_certificates(Arc::new(roots))?);
    let connection = endpoint.connect(target.address, "localhost")?.await?;
    let (mut send, receive) = connection.open_bi().await?;
    send.write_all(&[kind]).await?;
    Ok((endpoint, connection, send, receive))
}

/// Sends for some seconds.
pub(crate) fn send(target: &Target) -> Result<()> {
    run(|| async {
        let (_endpoint, _connection, mut send, mut receive) = open(target, BULK).await?;
        let chunk = vec![7; 1 << 20];
        let (begun, mut bytes) = (Instant::now(), 0);
        while begun.elapsed() < Duration::from_secs(target.seconds.into()) {
            send.write_all(&chunk).await?;
            bytes += chunk.len();
        }
        send.finish()?;
        receive.read_exact(&mut [0]).await?;
        println!("{}", bytes as f64 * 8e-9 / begun.elapsed().as_secs_f64());
        Ok(())
    })
}

/// Pings, one at a time.
pub(crate) fn ping(target: &Target) -> Result<()> {
    run(|| async {
        let (_endpoint, _connection, mut send, mut receive) = open(target, PING).await?;
        let mut times_ns = Histogram::<u64>::new_with_bounds(1, 60_000_000_000, 3)?;
        let mut ping = [0; PING_BYTES];
        for _ in 0..PINGS {
            let begun = Instant::now();
            send.write_all(&ping).await?;
            receive.read_exact(&mut ping).await?;
            times_ns.saturating_record(begun.elapsed().as_nanos() as u64);
        }
        println!("{}", times_ns.value_at_quantile(0.5) as f64 / 1e3);
        Ok(())
    })
}
