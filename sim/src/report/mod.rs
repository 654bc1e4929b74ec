//! The job's result as one HTML page: numbers, plots and tables, nothing loaded from elsewhere.

mod plot;

use crate::job::{JobResult, PathResult};
use plot::{Bars, Lines, bars, lines};
use std::fmt::Write;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:960px;margin:2em auto;padding:0 1em;color:#222}\
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}table{border-collapse:collapse;font-size:13px}\
td,th{padding:2px 10px;text-align:right;border-bottom:1px solid #ddd}th:first-child,td:first-child{text-align:left}\
.pass{color:#17682c}.fail{color:#a01616}svg{max-width:100%;height:auto}code{font-size:12px}";

/// Colours of series: distinct also without red and green.
const COLOURS: [(u8, u8, u8); 4] = [(0, 90, 160), (230, 130, 0), (0, 140, 110), (170, 60, 130)];

/// The page.
pub fn html(result: &JobResult) -> String {
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Osprey: main job</title>\
         <style>{STYLE}</style><h1>Osprey: main job <span class=\"{0}\">{0}</span></h1>",
        result.verdict
    );
    for what in &result.wrong {
        let _ = write!(page, "<p class=\"fail\">{}</p>", escape(what));
    }
    summary(&mut page, result);
    let _ = write!(
        page,
        "<h2>Line use of the sender, by plane</h2>{}",
        line_use(result)
    );
    let _ = write!(page, "<h2>Packets by path</h2>{}", packets(&result.paths));
    let _ = write!(
        page,
        "<h2>Losses by path, by how they were found</h2>{}",
        losses(&result.paths)
    );
    let _ = write!(
        page,
        "<h2>Round trips by path, microseconds: least, mean, greatest</h2>{}",
        rtts(&result.paths)
    );
    path_table(&mut page, &result.paths);
    link_table(&mut page, result);
    counter_table(&mut page, result);
    page.push_str("</html>\n");
    page
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn row(page: &mut String, cells: &[String], tag: &str) {
    let cells: String = cells
        .iter()
        .map(|cell| format!("<{tag}>{}</{tag}>", escape(cell)))
        .collect();
    let _ = write!(page, "<tr>{cells}</tr>");
}

fn summary(page: &mut String, r: &JobResult) {
    let setup = format!(
        "{} planes x {} paths, {} loss, seed {}, configuration {}",
        r.planes,
        r.paths_per_plane,
        percent(r.loss),
        r.seed,
        r.configuration
    );
    let rows = [
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
    ];
    page.push_str("<table>");
    for (name, value) in rows {
        let _ = write!(
            page,
            "<tr><td>{name}</td><td style=\"text-align:left\">{}</td></tr>",
            escape(&value)
        );
    }
    page.push_str("</table>");
}

fn percent(fraction: f64) -> String {
    format!("{:.2} %", fraction * 100.0)
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
    lines(&chart, &COLOURS)
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
    bars(
        &Bars {
            y: "packets",
            names: paths.iter().map(name).collect(),
            series: &["first sends", "resends"],
            stacks: paths.iter().map(stack).collect(),
        },
        &COLOURS,
    )
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
    bars(
        &Bars {
            y: "losses",
            names: paths.iter().map(name).collect(),
            series: &["by ordinal", "by probe", "by timeout"],
            stacks: paths.iter().map(stack).collect(),
        },
        &COLOURS,
    )
}

fn rtts(paths: &[PathResult]) -> String {
    let stack = |path: &PathResult| {
        let [least, mean, greatest] =
            [path.rtt_min_us, path.rtt_mean_us, path.rtt_max_us].map(|value| value.unwrap_or(0.0));
        vec![least, (mean - least).max(0.0), (greatest - mean).max(0.0)]
    };
    bars(
        &Bars {
            y: "us",
            names: paths.iter().map(name).collect(),
            series: &["least", "to mean", "to greatest"],
            stacks: paths.iter().map(stack).collect(),
        },
        &COLOURS,
    )
}

fn path_table(page: &mut String, paths: &[PathResult]) {
    page.push_str("<h2>Paths</h2><table>");
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
    row(page, &heads.map(String::from), "th");
    let sent: u64 = paths.iter().map(|path| path.bytes).sum();
    for p in paths {
        let us = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2}"));
        let cells = [
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
        ];
        row(page, &cells, "td");
    }
    page.push_str("</table>");
}

fn link_table(page: &mut String, result: &JobResult) {
    page.push_str("<h2>Links</h2><table>");
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
    row(page, &heads.map(String::from), "th");
    for link in &result.links {
        let c = &link.counts;
        let counts = [
            c.entered,
            c.delivered,
            c.lost,
            c.duplicated,
            c.corrupted,
            c.bad_check,
            c.queue_full,
        ];
        let mut cells = vec![format!("{}{}", link.from, link.plane)];
        cells.extend(counts.map(|count| count.to_string()));
        row(page, &cells, "td");
    }
    page.push_str("</table>");
}

fn counter_table(page: &mut String, result: &JobResult) {
    page.push_str("<h2>Counters of the engines</h2><table>");
    row(page, &["counter", "A", "B"].map(String::from), "th");
    let of = |side: &str, name: &str| {
        result
            .counters
            .get(side)
            .and_then(|all| all.get(name))
            .copied()
            .unwrap_or(0)
    };
    for (name, _) in osprey_hls::regs::counters::COUNTERS {
        let (a, b) = (of("a", name), of("b", name));
        if a != 0 || b != 0 {
            row(
                page,
                &[(*name).to_owned(), a.to_string(), b.to_string()],
                "td",
            );
        }
    }
    page.push_str("</table>");
}

#[cfg(test)]
mod tests;
