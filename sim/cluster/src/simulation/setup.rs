//! From a scenario to a run that can begin: endpoints, connections, the first events.

use super::host::{Host, address};
use super::{CHANGE, START, Simulation, Way};
use crate::error::ScenarioError;
use crate::event_queue::{Event, EventQueue};
use crate::network::Network;
use crate::referee::Delivery;
use crate::scenario::{Kernel, Scenario};
use crate::simulation::flows::Flows;
use crate::workload::Traffic;
use osprey_hls::endpoint::config::Congestion;
use osprey_hls::endpoint::{Config, Endpoint, Established, Region, Rights, Settled};
use osprey_hls::wire::{ConnectionId, Incarnation, Key, VERSION};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

/// log2 of a bucket's length in picoseconds: 33 ns. With 16 ns it is as fast, with 8 ns an eighth slower: what is looked ahead for stands in the open bucket.
const BUCKET_SHIFT: u32 = 15;

/// Every connection has one life.
const INCARNATION: Incarnation = Incarnation(0x4f53);

/// Where the memory of every host begins and how long it is: room for every flow of a run.
const MEMORY: Region = Region {
    address: 0,
    length: 1 << 62,
    rights: Rights::ALL,
};

impl Simulation {
    /// A run of `scenario`, which stands for one run (see [`Scenario::runs`]); its files are looked for from `folder`.
    pub fn new(scenario: Scenario, folder: &Path) -> Result<Self, ScenarioError> {
        let traffic = scenario
            .workload
            .traffic(scenario.hosts()?, scenario.seeds[0], folder)?;
        Self::with_traffic(scenario, traffic)
    }

    /// A run with traffic that is already at hand.
    pub fn with_traffic(scenario: Scenario, traffic: Traffic) -> Result<Self, ScenarioError> {
        let topology = scenario.topology()?;
        let seed = scenario.seeds[0];
        let mut hosts = (0..topology.hosts())
            .map(|host| {
                Ok(Host::new(
                    endpoint(&scenario, host, seed)?,
                    topology.planes(),
                ))
            })
            .collect::<Result<Vec<_>, ScenarioError>>()?;
        let (ways, way_of) = connect(&mut hosts, &traffic, &scenario)?;
        let mut delivery = Delivery::new(scenario.transport.mtu);
        let addresses = traffic
            .flows
            .iter()
            .map(|flow| delivery.expect(flow.to, flow.bytes))
            .collect();
        let mut changes = Vec::new();
        for fault in &scenario.faults {
            changes.extend(fault.changes(&topology)?);
        }
        let network = Network::new(topology, scenario.link()?, seed);
        let sample_ps = (scenario.sample_us * 1e6) as u64;
        let mut simulation = Self {
            scenario,
            queue: EventQueue::new(BUCKET_SHIFT),
            now_ps: 0,
            network,
            hosts,
            ways,
            way_of,
            changes,
            flows: Flows::new(traffic),
            addresses,
            delivery,
            samples: Vec::new(),
            sample_ps,
            data_packets: 0,
        };
        simulation.first_events();
        Ok(simulation)
    }

    fn first_events(&mut self) {
        for (index, change) in self.changes.iter().enumerate() {
            if change.time_ps == 0 {
                self.network.apply(change);
            } else {
                self.queue.push(Event {
                    time_ps: change.time_ps,
                    kind: CHANGE,
                    argument: index as u32,
                });
            }
        }
        let first: Vec<(u32, u64)> = self.flows.first().collect();
        for (index, time_ps) in first {
            self.queue.push(Event {
                time_ps,
                kind: START,
                argument: index,
            });
        }
    }
}

/// The endpoint of a host.
fn endpoint(scenario: &Scenario, host: u32, seed: u64) -> Result<Endpoint, ScenarioError> {
    let planes = (0..scenario.fabric.planes)
        .map(|plane| address(host, plane))
        .collect();
    let config = Config {
        paths_per_plane: scenario.transport.paths,
        window: scenario.transport.window,
        mtu: scenario.transport.mtu,
        rate_bits_per_second: (scenario.fabric.rate_gbps * 1e9) as u64,
        base_rtt_ns: scenario.base_rtt_ns()? as u32,
        packet_wire_bytes: scenario.packet_bytes() as u32,
        connections_max: 1 << 16,
        congestion: match scenario.transport.congestion {
            Kernel::Aimd => Congestion::default(),
            Kernel::Nscc => Congestion::default(),
        },
        streams: 1,
        ..Config::new(planes)
    };
    let own_seed = seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(host.into());
    Endpoint::new(config, own_seed).map_err(|error| ScenarioError::Transport(error.to_string()))
}

/// Registers every host's memory and connects every pair that has a flow.
fn connect(
    hosts: &mut [Host],
    traffic: &Traffic,
    scenario: &Scenario,
) -> Result<(Vec<Way>, Vec<u32>), ScenarioError> {
    let mut keys: Vec<Key> = Vec::new();
    for host in hosts.iter_mut() {
        let key = host.endpoint.register(MEMORY);
        keys.push(key.map_err(|error| ScenarioError::Transport(error.to_string()))?);
    }
    let mut numbers = BTreeMap::new();
    let mut ways: Vec<Way> = Vec::new();
    let mut way_of = Vec::with_capacity(traffic.flows.len());
    for flow in &traffic.flows {
        let pair = (flow.from, flow.to);
        if let Some(number) = numbers.get(&pair) {
            way_of.push(*number);
            continue;
        }
        let number = ways.len() as u32;
        numbers.insert(pair, number);
        way_of.push(number);
        ways.push(way(hosts, pair, keys[flow.to as usize], scenario)?);
    }
    Ok((ways, way_of))
}

/// What all endpoints agree on.
fn settled(scenario: &Scenario) -> Settled {
    Settled {
        version: VERSION,
        features: 0,
        mtu: scenario.transport.mtu,
        planes: scenario.fabric.planes as u8,
        paths_per_plane: scenario.transport.paths,
        window: scenario.transport.window,
        streams: 1,
        slots: 64,
    }
}

/// Connects a pair, both ends at once: set-up costs no time here.
fn way(
    hosts: &mut [Host],
    (from, to): (u32, u32),
    key: Key,
    scenario: &Scenario,
) -> Result<Way, ScenarioError> {
    let number = |host: &mut Host| {
        host.connections += 1;
        ConnectionId::new(host.connections)
    };
    let sender = number(&mut hosts[from as usize]);
    let receiver = number(&mut hosts[to as usize]);
    let ends = |connection, peer_connection, peer: u32| Established {
        connection,
        incarnation: INCARNATION,
        peer_connection,
        peer_incarnation: INCARNATION,
        peer_planes: (0..scenario.fabric.planes)
            .map(|plane| address(peer, plane))
            .collect(),
        settled: settled(scenario),
    };
    let refused = |error: &dyn std::fmt::Display| ScenarioError::Transport(error.to_string());
    let here = ends(sender, receiver, to);
    hosts[from as usize]
        .endpoint
        .establish(0, here)
        .map_err(|error| refused(&error))?;
    let there = ends(receiver, sender, from);
    hosts[to as usize]
        .endpoint
        .establish(0, there)
        .map_err(|error| refused(&error))?;
    Ok(Way {
        connection: sender,
        key,
        waiting: VecDeque::new(),
    })
}
