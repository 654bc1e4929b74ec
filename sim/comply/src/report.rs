//! Results as JUnit (for CI), JSON (for machines) and a page with a failure matrix (for people).

use crate::suite::{CaseResult, Verdict};
use osprey_report::Page;
use std::fmt::Write;

/// JUnit XML: a suite a chapter.
pub fn junit(results: &[CaseResult]) -> String {
    let count = |verdict| {
        results
            .iter()
            .filter(|result| result.verdict == verdict)
            .count()
    };
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n",
        results.len(),
        count(Verdict::Fail),
        count(Verdict::Skip)
    );
    for chapter in chapters(results) {
        let of: Vec<_> = results
            .iter()
            .filter(|result| result.chapter == chapter)
            .collect();
        let title = of.first().map_or("", |result| result.chapter_title);
        let _ = writeln!(
            text,
            "  <testsuite name=\"{chapter} {}\" tests=\"{}\">",
            escape(title),
            of.len()
        );
        for result in of {
            junit_case(&mut text, result);
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn junit_case(text: &mut String, result: &CaseResult) {
    let (name, title) = (&result.name, escape(result.title));
    let _ = writeln!(
        text,
        "    <testcase classname=\"{}.{}\" name=\"{name} {title}\" time=\"{:.3}\">",
        result.target, result.rule, result.seconds
    );
    let reason = escape(&result.reason);
    let _ = match result.verdict {
        Verdict::Pass => Ok(()),
        Verdict::Skip => writeln!(text, "      <skipped message=\"{reason}\"/>"),
        Verdict::Fail => writeln!(
            text,
            "      <failure message=\"{reason}\">seed {}</failure>",
            result.seed
        ),
    };
    let evidence: Vec<String> = result
        .evidence
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    if !evidence.is_empty() {
        let _ = writeln!(
            text,
            "      <system-out>{}</system-out>",
            escape(&evidence.join("; "))
        );
    }
    text.push_str("    </testcase>\n");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn chapters(results: &[CaseResult]) -> Vec<u8> {
    let mut chapters: Vec<u8> = results.iter().map(|result| result.chapter).collect();
    chapters.sort_unstable();
    chapters.dedup();
    chapters
}

/// The page: a matrix of chapters, then every test with its evidence.
pub fn html(results: &[CaseResult]) -> String {
    let failed = results.iter().any(|result| result.verdict == Verdict::Fail);
    let mut page = Page::new(
        "Osprey compliance",
        Some(if failed { "fail" } else { "pass" }),
    );
    page.heading("Failure matrix");
    page.table(
        ["chapter", "about", "pass", "fail", "skip", "verdict"],
        chapters(results).into_iter().map(|chapter| {
            let of = || {
                results
                    .iter()
                    .filter(move |result| result.chapter == chapter)
            };
            let count = |verdict| of().filter(|result| result.verdict == verdict).count();
            let fails = count(Verdict::Fail);
            [
                chapter.to_string(),
                of().next()
                    .map_or(String::new(), |result| result.chapter_title.to_owned()),
                count(Verdict::Pass).to_string(),
                fails.to_string(),
                count(Verdict::Skip).to_string(),
                if fails > 0 { "fail" } else { "pass" }.to_owned(),
            ]
        }),
    );
    page.heading("Tests");
    page.table(
        [
            "test", "what", "rule", "target", "seed", "verdict", "evidence",
        ],
        results.iter().map(|result| {
            let evidence: Vec<String> = result
                .evidence
                .iter()
                .map(|(name, value)| format!("{name}: {value}"))
                .collect();
            let reason = if result.reason.is_empty() {
                String::new()
            } else {
                format!("{}. ", result.reason)
            };
            [
                result.name.clone(),
                result.title.to_owned(),
                result.rule.to_owned(),
                result.target.to_owned(),
                result.seed.to_string(),
                result.verdict.name().to_owned(),
                reason + &evidence.join("; "),
            ]
        }),
    );
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(verdict: Verdict) -> CaseResult {
        CaseResult {
            name: "C-1.1".into(),
            chapter: 1,
            chapter_title: "Loss <all>",
            title: "a & b",
            rule: "T-2.3",
            target: "model",
            seed: 7,
            verdict,
            reason: "5 > 4".into(),
            evidence: vec![("resent".into(), "3".into())],
            seconds: 0.5,
        }
    }

    #[test]
    fn a_failure_shows_in_every_form() {
        let results = [
            result(Verdict::Pass),
            result(Verdict::Fail),
            result(Verdict::Skip),
        ];
        let xml = junit(&results);
        for part in [
            "tests=\"3\" failures=\"1\" skipped=\"1\"",
            "5 &gt; 4",
            "seed 7",
            "a &amp; b",
            "resent: 3",
        ] {
            assert!(xml.contains(part), "{part} in {xml}");
        }
        let page = html(&results);
        assert!(page.contains("class=\"fail\">fail") && page.contains("Loss &lt;all&gt;"));
    }
}
