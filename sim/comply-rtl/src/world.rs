//! A world of an engine and an endpoint: one bench of `osprey-sim`, whose frames the suite's ways decide on.

use crate::edge::{Findings, edge};
use crate::engine_end::{BACKOFF_MAX, EngineEnd};
use crate::fault::Fault;
use osprey_comply::case::Failure;
use osprey_comply::world::{Carrier, End, Nic, Store, Ways};
use osprey_hls::wire::{
    DEFAULT_UDP_PORT, FRAME_HEADER_LEN, FrameHeader, Ipv4Address, MacAddress, PlaneAddress,
};
use osprey_host::udp::{Buffers, UdpError, plane_address, socket_address};
use osprey_sim::engine::source;
use osprey_sim::mixed::{Mixed, endpoint_config};
use osprey_sim::pair::PairConfig;
use std::net::{Ipv4Addr, SocketAddrV4};

/// Cycles of a step: the host looks at its rings so often.
const STEP_CYCLES: u64 = 64;
/// Bytes of the shortest Ethernet frame, without its check sequence.
const FRAME_MIN: usize = 60;
/// Port of a stranger.
const STRANGER_PORT: u16 = 50_000;

/// A world of `nics` in which `engine` is the engine's end, with a fault or, as it should be, none.
pub fn open(
    engine: usize,
    nics: &[Nic],
    ways: Ways,
    seed: u64,
    fault: Option<Fault>,
) -> Result<Box<dyn Carrier>, Failure> {
    let [first, second] = nics else {
        return Err(Failure::Skip("a world with an engine has two ends".into()));
    };
    let [own, other] = if engine == 0 {
        [first, second]
    } else {
        [second, first]
    };
    check(own)?;
    let pair = PairConfig {
        planes: own.planes.max(other.planes).into(),
        seed,
        ..PairConfig::default()
    };
    let mut config = endpoint_config(other.planes.into(), other.mtu, pair.rate_gbps);
    other.configure(&mut config);
    config.probe.backoff_last = BACKOFF_MAX;
    let wrong = |error: String| Failure::Wrong(error);
    let source = source(crate::CONFIGURATION, false).map_err(|error| wrong(error.to_string()))?;
    let mixed = Mixed::new(&source, &pair, config, Buffers::default());
    let mut mixed = mixed.map_err(|error| wrong(error.to_string()))?;
    let findings = Findings::default();
    mixed.edge = Some(edge(engine, ways, findings.clone(), fault));
    let side =
        EngineEnd::open(mixed, own, seed, fault).map_err(|error| wrong(error.to_string()))?;
    Ok(Box::new(EngineWorld {
        engine,
        side,
        findings,
    }))
}

/// Whether the engine can be what a test asks for; streams and slots are settled on the least of both anyway.
fn check(nic: &Nic) -> Result<(), Failure> {
    let near = crate::nearest(*nic);
    let pairs = [
        ("planes", u32::from(nic.planes), u32::from(near.planes)),
        ("paths a plane", nic.paths.into(), near.paths.into()),
        ("W", nic.window.into(), near.window.into()),
        ("MTU", nic.mtu.into(), near.mtu.into()),
        (
            "versions from",
            nic.versions.0.into(),
            near.versions.0.into(),
        ),
        ("versions to", nic.versions.1.into(), near.versions.1.into()),
        ("features", nic.features, near.features),
    ];
    let differs = pairs.iter().find(|(_, asked, near)| asked != near);
    differs.map_or(Ok(()), |(name, asked, near)| {
        Err(Failure::Skip(format!(
            "asks the engine for {name} {asked}; it has {near}"
        )))
    })
}

struct EngineWorld {
    engine: usize,
    side: EngineEnd,
    findings: Findings,
}

impl Carrier for EngineWorld {
    fn now_ns(&self) -> u64 {
        self.side.mixed.now_ns()
    }

    fn step(&mut self) -> Result<(), Failure> {
        self.side.mixed.run(STEP_CYCLES);
        self.side.progress()
    }

    fn end(&mut self, end: usize) -> &mut dyn End {
        if end == self.engine {
            &mut self.side
        } else {
            &mut self.side.mixed.endpoint
        }
    }

    fn memory(&mut self, end: usize) -> &mut dyn Store {
        if end == self.engine {
            &mut self.side
        } else {
            &mut self.side.mixed.memory
        }
    }

    fn addresses(&self, end: usize) -> Vec<PlaneAddress> {
        if end == self.engine {
            self.side.addresses()
        } else {
            self.side.mixed.endpoint.config().planes.clone()
        }
    }

    fn refused(&mut self, end: usize) -> u64 {
        if end == self.engine {
            self.side.refused()
        } else {
            self.side.mixed.refused
        }
    }

    fn injection_addresses(&self, end: usize, plane: u8) -> (SocketAddrV4, SocketAddrV4) {
        let stranger = SocketAddrV4::new(Ipv4Addr::new(10, 0, plane, 99), STRANGER_PORT);
        (
            stranger,
            socket_address(&self.addresses(end)[usize::from(plane)]),
        )
    }

    fn inject(&mut self, end: usize, plane: u8, bytes: &[u8]) -> Result<(), UdpError> {
        let (source, _) = self.injection_addresses(end, plane);
        let header = FrameHeader {
            source: PlaneAddress {
                mac: MacAddress([2, 0, 0, 0, plane, 99]),
                ipv4: Ipv4Address(plane_address(source).ipv4.0),
            },
            destination: self.addresses(end)[usize::from(plane)],
            source_port: STRANGER_PORT,
            destination_port: DEFAULT_UDP_PORT,
            payload_len: bytes.len(),
            traffic_class: 0,
            identification: 0,
        };
        let mut frame = vec![0; FRAME_HEADER_LEN];
        header.emit(&mut frame);
        frame.extend_from_slice(bytes);
        frame.resize(frame.len().max(FRAME_MIN), 0);
        // What arrives at a side has left the other one.
        let from = usize::from(end == self.engine);
        self.side.mixed.inject(from, plane.into(), frame);
        Ok(())
    }

    fn violations(&self) -> Vec<String> {
        let mut all = self.side.mixed.violations();
        all.extend_from_slice(&self.findings.borrow());
        all
    }
}
