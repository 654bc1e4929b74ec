//! Results as an HTML page.

use crate::result::RunResult;
use osprey_report::{Bars, Lines, Page, bars, lines, percent};

/// Most lines of the rate plot.
const LINES_MAX: usize = 6;

/// The page of some runs.
pub fn html(title: &str, results: &[RunResult]) -> String {
    let passed = results.iter().all(|result| result.verdict == "pass");
    let mut page = Page::new(title, Some(if passed { "pass" } else { "fail" }));
    for result in results {
        for finding in &result.findings {
            page.fault(&format!("{}: {finding}", label(result)));
        }
    }
    page.heading("Runs");
    runs(&mut page, results);
    page.heading("Goodput as a part of the line: mean of the flows, by run");
    page.plot(&goodput(results));
    page.heading("Rate of arrival, all hosts together");
    page.plot(&rates(results));
    page.heading("What the endpoints counted");
    counters(&mut page, results);
    page.finish()
}

fn label(result: &RunResult) -> String {
    format!(
        "{}, loss {}, {} x {} paths, {} Gb/s, seed {}",
        result.scenario,
        percent(result.loss),
        result.planes,
        result.paths,
        result.rate_gbps,
        result.seed
    )
}

fn runs(page: &mut Page, results: &[RunResult]) {
    let heads = [
        "run",
        "class",
        "verdict",
        "flows",
        "completed",
        "goodput",
        "slowest",
        "p50 us",
        "p99 us",
        "p99.9 us",
        "max us",
        "Jain",
        "DATA",
        "lost",
        "queue full",
    ];
    let rows = results.iter().flat_map(|result| {
        result.classes.iter().map(move |class| {
            [
                label(result),
                class.name.clone(),
                result.verdict.clone(),
                class.flows.to_string(),
                class.completed.to_string(),
                format!("{:.4}", class.goodput_mean),
                format!("{:.4}", class.goodput_min),
                format!("{:.1}", class.p50_us),
                format!("{:.1}", class.p99_us),
                format!("{:.1}", class.p999_us),
                format!("{:.1}", class.max_us),
                format!("{:.4}", class.jain),
                result.data_packets.to_string(),
                result.network.lost.to_string(),
                result.network.queue_full.to_string(),
            ]
        })
    });
    page.table(heads, rows);
}

fn goodput(results: &[RunResult]) -> String {
    let stack = |result: &RunResult| {
        let class = result.classes.last();
        let (least, mean) =
            class.map_or((0.0, 0.0), |class| (class.goodput_min, class.goodput_mean));
        vec![least, mean - least]
    };
    bars(&Bars {
        x: "run, in the order of the table",
        y: "part of the line",
        names: (1..=results.len())
            .map(|number| number.to_string())
            .collect(),
        series: &["slowest flow", "to the mean"],
        stacks: results.iter().map(stack).collect(),
    })
}

fn rates(results: &[RunResult]) -> String {
    let series = results.iter().take(LINES_MAX).map(|result| {
        let point = |(index, bytes): (usize, &u64)| {
            (
                index as f64 * result.sample_us,
                *bytes as f64 * 8e-3 / result.sample_us,
            )
        };
        let name = format!("loss {}, seed {}", percent(result.loss), result.seed);
        (name, result.samples.iter().enumerate().map(point).collect())
    });
    lines(&Lines {
        x: "microseconds",
        y: "Gbit/s",
        y_max: 1.0,
        series: series.collect(),
    })
}

fn counters(page: &mut Page, results: &[RunResult]) {
    let rows = results.iter().enumerate().flat_map(|(index, result)| {
        let row = move |(name, value): (&String, &u64)| {
            [(index + 1).to_string(), name.clone(), value.to_string()]
        };
        result.counters.iter().map(row)
    });
    page.table(["run", "counter", "value"], rows);
}
