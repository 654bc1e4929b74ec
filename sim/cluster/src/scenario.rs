//! A scenario: fabric, transport, workload, faults and seeds as one TOML file, and the runs that it stands for.
//!
//! A scenario with a `[sweep]` stands for every combination of the values listed there, and each of them for every seed.
//! What may be written is documented in `docs/scenarios.md`. Nothing runs here: see [`crate::simulation`].

use crate::error::ScenarioError;
use crate::fate::Only;
use crate::fault::{Action, Fault, range};
use crate::link::LinkConfig;
use crate::topology::Topology;
use crate::workload::{Hosts, Workload};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Bytes that a packet has besides its payload: Ethernet, IPv4, UDP, DATA header, CRC and check sequence.
pub const DATA_OVERHEAD_BYTES: u32 = 14 + 20 + 8 + 48 + 4 + 4;

/// The fabric's kind and size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Shape {
    /// Two tiers.
    LeafSpine {
        /// Hosts of the whole fabric.
        hosts: u32,
        /// Leaves.
        leaves: u32,
        /// Spines; fewer than hosts a leaf is oversubscription.
        spines: u32,
    },
    /// Three tiers of switches with `ports` ports.
    FatTree {
        /// Ports of a switch.
        ports: u32,
    },
}

/// The fabric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fabric {
    /// Kind and size.
    pub shape: Shape,
    /// Planes: copies of it.
    #[serde(default = "one")]
    pub planes: u32,
    /// Rate of every link, Gb/s.
    #[serde(default = "default_rate")]
    pub rate_gbps: f64,
    /// Delay of every link, nanoseconds.
    #[serde(default = "default_delay")]
    pub delay_ns: u64,
    /// Queue of every link in bytes; by default 1.5 times the bandwidth-delay product.
    pub queue_bytes: Option<u64>,
    /// Queue from which on packets are marked; by default 0.213 of the bandwidth-delay product.
    pub mark_low_bytes: Option<u64>,
    /// Queue from which on every packet is marked; by default 0.852 of it.
    pub mark_high_bytes: Option<u64>,
}

fn one() -> u32 {
    1
}

fn default_rate() -> f64 {
    100.0
}

fn default_delay() -> u64 {
    1_000
}

/// The transport's settings; what is not written keeps the transport's own default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transport {
    /// Paths a plane.
    #[serde(default = "default_paths")]
    pub paths: u8,
    /// W.
    #[serde(default = "default_window")]
    pub window: u16,
    /// Payload of a packet in bytes; by default what fits in 4,150 bytes on the wire.
    #[serde(default = "default_mtu")]
    pub mtu: u16,
    /// Congestion kernel.
    #[serde(default)]
    pub congestion: Kernel,
}

impl Default for Transport {
    fn default() -> Self {
        Self {
            paths: default_paths(),
            window: default_window(),
            mtu: default_mtu(),
            congestion: Kernel::default(),
        }
    }
}

/// A congestion kernel by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kernel {
    /// The transport's own (T-2.6).
    #[default]
    Aimd,
    /// Ultra Ethernet's quadrants.
    Nscc,
}

fn default_paths() -> u8 {
    16
}

fn default_window() -> u16 {
    64
}

fn default_mtu() -> u16 {
    (4_150 - DATA_OVERHEAD_BYTES) as u16
}

/// Values to combine; an empty list leaves the scenario as it is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sweep {
    /// Uniform loss from leaf to host.
    pub loss: Vec<f64>,
    /// Paths a plane.
    pub paths: Vec<u8>,
    /// Planes.
    pub planes: Vec<u32>,
    /// Rates, Gb/s.
    pub rate_gbps: Vec<f64>,
}

/// A scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name, for reports.
    pub name: String,
    /// Seeds: every combination runs with each.
    #[serde(default = "first_seed")]
    pub seeds: Vec<u64>,
    /// The fabric.
    pub fabric: Fabric,
    /// The transport.
    #[serde(default)]
    pub transport: Transport,
    /// The traffic.
    pub workload: Workload,
    /// What goes wrong.
    #[serde(default, rename = "fault")]
    pub faults: Vec<Fault>,
    /// Values to combine.
    #[serde(default)]
    pub sweep: Sweep,
    /// The run is given up after this simulated time, microseconds.
    #[serde(default = "default_limit")]
    pub limit_us: f64,
    /// Length of a sample of the rate, microseconds.
    #[serde(default = "default_sample")]
    pub sample_us: f64,
}

fn first_seed() -> Vec<u64> {
    vec![1]
}

fn default_limit() -> f64 {
    1_000_000.0
}

fn default_sample() -> f64 {
    10.0
}

impl Scenario {
    /// Reads a scenario file.
    pub fn read(path: &Path) -> Result<Self, ScenarioError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|source| ScenarioError::Read {
            path: shown.clone(),
            source,
        })?;
        let scenario: Self = toml::from_str(&text).map_err(|error| ScenarioError::Toml {
            path: shown,
            message: error.to_string().trim().to_owned(),
        })?;
        for run in scenario.runs() {
            run.check()?;
        }
        Ok(scenario)
    }

    /// The runs that this stands for: no sweep, one seed each, in an order that depends on the file alone.
    pub fn runs(&self) -> Vec<Self> {
        let mut runs = vec![Self {
            sweep: Sweep::default(),
            ..self.clone()
        }];
        vary(&mut runs, &self.sweep.loss, |run, loss| run.add_loss(*loss));
        vary(&mut runs, &self.sweep.paths, |run, paths| {
            run.transport.paths = *paths
        });
        vary(&mut runs, &self.sweep.planes, |run, planes| {
            run.fabric.planes = *planes
        });
        vary(&mut runs, &self.sweep.rate_gbps, |run, rate| {
            run.fabric.rate_gbps = *rate
        });
        vary(&mut runs, &self.seeds, |run, seed| run.seeds = vec![*seed]);
        runs
    }

    /// Adds uniform loss of every packet as it leaves for its host, as the cluster work counts it.
    pub fn add_loss(&mut self, rate: f64) {
        if rate != 0.0 {
            let action = Action::Loss { rate };
            let target = "leaf-to-host".to_owned();
            self.faults.push(Fault {
                target,
                only: Only::All,
                from_us: 0.0,
                until_us: None,
                action,
            });
        }
    }

    /// The uniform loss of this run, if it has one.
    pub fn loss(&self) -> f64 {
        let rate = |fault: &Fault| match fault.action {
            Action::Loss { rate } | Action::BurstLoss { rate, .. }
                if fault.target == "leaf-to-host" =>
            {
                Some(rate)
            }
            _ => None,
        };
        self.faults.iter().find_map(rate).unwrap_or(0.0)
    }

    /// `Ok` if a run can be made of this.
    pub fn check(&self) -> Result<(), ScenarioError> {
        range("rate_gbps", self.fabric.rate_gbps, 0.1, 1_600.0)?;
        range("delay_ns", self.fabric.delay_ns as f64, 1.0, 1e7)?;
        range("mtu", self.transport.mtu.into(), 64.0, 9_000.0)?;
        range("paths", self.transport.paths.into(), 1.0, 16.0)?;
        range("limit_us", self.limit_us, 1.0, 1e9)?;
        range("sample_us", self.sample_us, 0.1, 1e6)?;
        let topology = self.topology()?;
        for fault in &self.faults {
            fault.changes(&topology)?;
        }
        Ok(())
    }

    /// The fabric's shape.
    pub fn topology(&self) -> Result<Topology, ScenarioError> {
        match self.fabric.shape {
            Shape::LeafSpine {
                hosts,
                leaves,
                spines,
            } => Topology::leaf_spine(self.fabric.planes, hosts, leaves, spines),
            Shape::FatTree { ports } => Topology::fat_tree(self.fabric.planes, ports),
        }
    }

    /// Hosts, as traffic counts them.
    pub fn hosts(&self) -> Result<Hosts, ScenarioError> {
        let topology = self.topology()?;
        Ok(Hosts {
            count: topology.hosts(),
            per_leaf: topology.hosts() / topology.leaves(),
        })
    }

    /// Bytes of a full packet on the wire.
    pub fn packet_bytes(&self) -> u64 {
        u64::from(self.transport.mtu) + u64::from(DATA_OVERHEAD_BYTES)
    }

    /// Picoseconds of a byte on a line.
    pub fn ps_per_byte(&self) -> u64 {
        (8_000.0 / self.fabric.rate_gbps).round() as u64
    }

    /// Least round trip of a full packet and its ACK on the longest way, nanoseconds.
    pub fn base_rtt_ns(&self) -> Result<u64, ScenarioError> {
        let hops = u64::from(self.topology()?.hops_max());
        // An ACK with one block of W = 64 is 90 bytes on the wire.
        let serialisation_ps = hops * (self.packet_bytes() + 90) * self.ps_per_byte();
        Ok(2 * hops * self.fabric.delay_ns + serialisation_ps / 1_000)
    }

    /// What every link is made of.
    pub fn link(&self) -> Result<LinkConfig, ScenarioError> {
        let bdp = (self.base_rtt_ns()? * 1_000 / self.ps_per_byte()) as f64;
        let or = |given: Option<u64>, part: f64| given.unwrap_or((bdp * part) as u64);
        Ok(LinkConfig {
            ps_per_byte: self.ps_per_byte(),
            delay_ps: self.fabric.delay_ns * 1_000,
            queue_bytes: or(self.fabric.queue_bytes, 1.5),
            mark_low_bytes: or(self.fabric.mark_low_bytes, 0.213),
            mark_high_bytes: or(self.fabric.mark_high_bytes, 0.852),
        })
    }
}

/// Replaces every run by one for each value; none leaves them alone.
fn vary<T>(runs: &mut Vec<Scenario>, values: &[T], set: impl Fn(&mut Scenario, &T)) {
    if values.is_empty() {
        return;
    }
    let varied = runs.iter().flat_map(|run| {
        values.iter().map(|value| {
            let mut run = run.clone();
            set(&mut run, value);
            run
        })
    });
    *runs = varied.collect::<Vec<_>>();
}
