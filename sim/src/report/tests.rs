//! The page holds what it should and loads nothing.

use super::*;
use crate::fabric::LinkCounts;
use crate::job::{LinkResult, Sample};

fn path(plane: u8, k: u8) -> PathResult {
    let n = u32::from(plane * 8 + k);
    PathResult {
        plane,
        k,
        packets: 1000 + n * 10,
        bytes: 4_000_000,
        retransmissions: 10 + n,
        probes: 5,
        found_by_ordinal: 8 + n,
        found_by_probe: 2,
        found_by_timeout: 0,
        rtt_min_us: Some(5.1),
        rtt_mean_us: Some(6.5 + f64::from(n) / 20.0),
        rtt_max_us: (k != 3).then_some(9.0),
    }
}

fn result() -> JobResult {
    let sample = |n: u64| Sample {
        cycle: n * 2000,
        bytes: n * 90_000,
        line_bytes: (0..4)
            .map(|plane| n * 24_000 + n % 3 * 1000 * plane)
            .collect(),
    };
    JobResult {
        verdict: "fail",
        wrong: vec!["byte <0x3> is wrong".into()],
        configuration: "lab".into(),
        seed: 7,
        planes: 4,
        paths_per_plane: 8,
        loss: 0.01,
        bytes: 1 << 24,
        sha256_sent: "00ff".into(),
        sha256_received: "00fe".into(),
        cycles: 100_000,
        microseconds: 400.0,
        goodput_gbps: 92.1,
        line_gbps: 100.0,
        goodput_fraction: 0.921,
        packets: 4200,
        lost: 41,
        found_by_ordinal: 39,
        found_by_probe: 2,
        found_by_timeout: 0,
        retransmissions: 41,
        probes: 20,
        completions: 16,
        counts_compared: 12,
        paths: (0..4)
            .flat_map(|p| (0..8).map(move |k| path(p, k)))
            .collect(),
        counters: [
            ("a", [("SentData", 4200)].into()),
            ("b", [("ReceiveData", 4159)].into()),
        ]
        .into(),
        links: vec![LinkResult {
            from: "a",
            plane: 0,
            counts: LinkCounts::default(),
            ports: Default::default(),
        }],
        samples: (0..50).map(sample).collect(),
        captured: None,
    }
}

#[test]
fn the_page_is_whole_and_self_contained() {
    let page = html(&result());
    if let Some(path) = option_env!("OSPREY_REPORT_SAMPLE") {
        std::fs::write(path, &page).unwrap();
    }
    assert_eq!(page.matches("<svg").count(), 4);
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
    assert!(page.contains("byte &lt;0x3&gt; is wrong"));
    assert!(page.contains("92.10 of 100 Gbit/s"));
    assert!(!page.contains("NaN") && !page.contains("no plot"));
    for loads in ["src=", "href=", "@import", "url("] {
        assert!(!page.contains(loads), "{loads}");
    }
}

#[test]
fn a_result_without_samples_and_losses_is_drawn_too() {
    let empty = JobResult {
        samples: vec![],
        paths: vec![],
        cycles: 0,
        microseconds: 0.0,
        ..result()
    };
    let page = html(&empty);
    assert!(!page.contains("NaN") && !page.contains("no plot"));
}
