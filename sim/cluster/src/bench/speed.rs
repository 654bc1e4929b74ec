//! Speed of the simulator: data packets a second of processor time, one run at a time.

use super::{scenario, traffic};
use crate::error::ScenarioError;
use crate::simulation::Simulation;
use cpu_time::ThreadTime;
use osprey_report::{Better, Figure};

/// Traffic, hosts, least packets a second.
const CASES: [(&str, u32, f64); 3] = [
    ("perm64_20m", 64, 1.0e6),
    ("perm256_2m", 256, 600e3),
    ("perm1024_2m", 1_024, 300e3),
];

pub(super) fn figures() -> Result<Vec<Figure>, ScenarioError> {
    let mut figures = Vec::new();
    for (name, hosts, least) in CASES {
        let flows = traffic(name)?;
        let mut simulation = Simulation::with_traffic(scenario(name, hosts, 1), flows)?;
        let begun = ThreadTime::now();
        simulation.run(|_| {});
        let seconds = begun.elapsed().as_secs_f64();
        let packets = simulation.outcome(false).data_packets as f64;
        let name = format!("simulator, {hosts} hosts");
        figures.push(
            Figure::plain(
                name,
                (packets / seconds).round(),
                "data packets/CPU-s",
                Better::Higher,
            )
            .target(least),
        );
    }
    Ok(figures)
}
