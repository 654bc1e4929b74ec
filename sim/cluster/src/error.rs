//! Why a scenario cannot run: the thing, the value, the remedy.

/// What is wrong with a scenario, its traffic or a shard.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// A number is outside of its range.
    #[error("{name} is {value}: it must be from {least} to {most}")]
    Range {
        /// Name in the scenario file.
        name: &'static str,
        /// The value found.
        value: f64,
        /// Least value.
        least: f64,
        /// Most.
        most: f64,
    },
    /// Hosts do not divide.
    #[error("{hosts} hosts on {leaves} leaves: hosts must be a multiple of leaves")]
    HostsPerLeaf {
        /// Hosts.
        hosts: u32,
        /// Leaves.
        leaves: u32,
    },
    /// A fat tree of switches with an odd number of ports.
    #[error("ports is {ports}: a fat tree needs an even number of ports a switch")]
    OddPorts {
        /// The value found.
        ports: u32,
    },
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// Not a scenario.
    #[error("{path} is not a scenario: {message}")]
    Toml {
        /// The file.
        path: String,
        /// What the parser says, with the line.
        message: String,
    },
    /// A line of a traffic file.
    #[error("{path}, line {line}: {message}")]
    Trace {
        /// The file.
        path: String,
        /// Its line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A fault's target is no part of the fabric.
    #[error("fault target '{target}': {message}")]
    Target {
        /// As written.
        target: String,
        /// What is wrong and what can be named.
        message: String,
    },
    /// The traffic does not fit the fabric.
    #[error("{0}")]
    Traffic(String),
    /// The endpoints refuse the transport's settings.
    #[error("transport: {0}")]
    Transport(String),
    /// `--shard`.
    #[error("shard '{0}': write it as i/n with 0 <= i < n, such as 0/4")]
    Shard(String),
}
