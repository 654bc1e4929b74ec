//! The job's result as one HTML page: numbers, plots and tables, nothing loaded from elsewhere.

use crate::job::{JobResult, PathResult};
use osprey_report::{Bars, Lines, Page, bars, lines, percent};

/// The page.
pub fn html(result: &JobResult) -> String {
    let mut page = Page::new("Osprey: main job", Some(result.verdict));
    for what in &result.wrong {
        page.fault(what);
    }
    summary(&mut page, result);
    page.heading("Line use of the sender, by plane");
    page.plot(&line_use(result));
    page.heading("Packets by path");
    page.plot(&packets(&result.paths));
    page.heading("Losses by path, by how they were found");
    page.plot(&losses(&result.paths));
    page.heading("Round trips by path, microseconds: least, mean, greatest");
    page.plot(&rtts(&result.paths));
    path_table(&mut page, &result.paths);
    link_table(&mut page, result);
    counter_table(&mut page, result);
    page.finish()
}

fn summary(page: &mut Page, r: &JobResult) {
    let setup = format!(
        "{} planes x {} paths, {} loss, seed {}, configuration {}",
        r.planes,
        r.paths_per_plane,
        percent(r.loss),
        r.seed,
        r.configuration
    );
    page.list([
        ("set-up", setup),
        (
            "bytes",
            format!("{} in {} messages", r.bytes, r.completions),
        ),
        (
            "time",
            format!("{} cycles, {:.1} us", r.cycles, r.microseconds),
        ),
        (
            "goodput",
            format!(
                "{:.2} of {:.0} Gbit/s: {}",
                r.goodput_gbps,
                r.line_gbps,
                percent(r.goodput_fraction)
            ),
        ),
        (
            "DATA packets",
            format!(
                "{} sent, {} of them again; {} lost by the fabric",
                r.packets, r.retransmissions, r.lost
            ),
        ),
        (
            "losses found",
            format!(
                "{} by ordinal, {} by probe, {} by timeout",
                r.found_by_ordinal, r.found_by_probe, r.found_by_timeout
            ),
        ),
        ("SHA-256 sent", r.sha256_sent.clone()),
        ("SHA-256 received", r.sha256_received.clone()),
        ("counts compared", r.counts_compared.to_string()),
    ]);
}

/// Most points of a line: more would be noise.
const POINTS_MAX: usize = 120;

fn line_use(result: &JobResult) -> String {
    let step = result.samples.len().div_ceil(POINTS_MAX).max(1);
    let samples: Vec<_> = result.samples.iter().step_by(step).collect();
    let per_plane_gbps = result.line_gbps / result.planes as f64;
    let us_per_cycle = result.microseconds / result.cycles.max(1) as f64;
    let series = (0..result.planes).map(|plane| {
        let point = |pair: &[&crate::job::Sample]| {
            let cycles = pair[1].cycle - pair[0].cycle;
            let bytes = pair[1].line_bytes.get(plane)? - pair[0].line_bytes.get(plane)?;
            let microseconds = cycles as f64 * us_per_cycle;
            (cycles > 0).then(|| {
                (
                    pair[1].cycle as f64 * us_per_cycle,
                    bytes as f64 * 8e-3 / microseconds,
                )
            })
        };
        (
            format!("plane {plane}"),
            samples.windows(2).filter_map(point).collect(),
        )
    });
    let chart = Lines {
        x: "microseconds",
        y: "Gbit/s on the line",
        y_max: per_plane_gbps * 1.1,
        series: series.collect(),
    };
    lines(&chart)
}

fn name(path: &PathResult) -> String {
    format!("{}.{}", path.plane, path.k)
}

fn packets(paths: &[PathResult]) -> String {
    let stack = |path: &PathResult| {
        vec![
            f64::from(path.packets.saturating_sub(path.retransmissions)),
            f64::from(path.retransmissions),
        ]
    };
    bars(&Bars {
        x: "plane.path",
        y: "packets",
        names: paths.iter().map(name).collect(),
        series: &["first sends", "resends"],
        stacks: paths.iter().map(stack).collect(),
    })
}

fn losses(paths: &[PathResult]) -> String {
    let stack = |path: &PathResult| {
        [
            path.found_by_ordinal,
            path.found_by_probe,
            path.found_by_timeout,
        ]
        .map(f64::from)
        .to_vec()
    };
    bars(&Bars {
        x: "plane.path",
        y: "losses",
        names: paths.iter().map(name).collect(),
        series: &["by ordinal", "by probe", "by timeout"],
        stacks: paths.iter().map(stack).collect(),
    })
}

fn rtts(paths: &[PathResult]) -> String {
    let stack = |path: &PathResult| {
        let [least, mean, greatest] =
            [path.rtt_min_us, path.rtt_mean_us, path.rtt_max_us].map(|value| value.unwrap_or(0.0));
        vec![least, (mean - least).max(0.0), (greatest - mean).max(0.0)]
    };
    bars(&Bars {
        x: "plane.path",
        y: "us",
        names: paths.iter().map(name).collect(),
        series: &["least", "to mean", "to greatest"],
        stacks: paths.iter().map(stack).collect(),
    })
}

fn path_table(page: &mut Page, paths: &[PathResult]) {
    let sent: u64 = paths.iter().map(|path| path.bytes).sum();
    let us = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2}"));
    let row = |p: &PathResult| {
        [
            name(p),
            p.packets.to_string(),
            p.bytes.to_string(),
            percent(p.bytes as f64 / sent.max(1) as f64),
            p.retransmissions.to_string(),
            p.probes.to_string(),
            p.found_by_ordinal.to_string(),
            p.found_by_probe.to_string(),
            p.found_by_timeout.to_string(),
            us(p.rtt_min_us),
            us(p.rtt_mean_us),
            us(p.rtt_max_us),
        ]
    };
    let heads = [
        "plane.path",
        "packets",
        "bytes",
        "share",
        "resends",
        "probes",
        "by ordinal",
        "by probe",
        "by timeout",
        "RTT min us",
        "mean",
        "max",
    ];
    page.heading("Paths");
    page.table(heads, paths.iter().map(row));
}

fn link_table(page: &mut Page, result: &JobResult) {
    let heads = [
        "from, plane",
        "frames",
        "delivered",
        "lost",
        "doubled",
        "corrupted",
        "bad check",
        "queue full",
    ];
    let rows = result.links.iter().map(|link| {
        let c = &link.counts;
        [
            format!("{}{}", link.from, link.plane),
            c.entered.to_string(),
            c.delivered.to_string(),
            c.lost.to_string(),
            c.duplicated.to_string(),
            c.corrupted.to_string(),
            c.bad_check.to_string(),
            c.queue_full.to_string(),
        ]
    });
    page.heading("Links");
    page.table(heads, rows);
}

fn counter_table(page: &mut Page, result: &JobResult) {
    let of = |side: &str, name: &str| {
        let all = result.counters.get(side);
        all.and_then(|all| all.get(name)).copied().unwrap_or(0)
    };
    let rows = osprey_hls::regs::counters::COUNTERS
        .iter()
        .filter_map(|(name, _)| {
            let (a, b) = (of("a", name), of("b", name));
            (a != 0 || b != 0).then(|| [(*name).to_owned(), a.to_string(), b.to_string()])
        });
    page.heading("Counters of the engines");
    page.table(["counter", "A", "B"], rows);
}

#[cfg(test)]
mod tests;
