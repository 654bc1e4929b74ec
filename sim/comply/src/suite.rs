//! Running the suite: which tests, in which order, and what came of each.

use crate::case::{Case, Context, Failure};
use crate::chapters::CHAPTERS;
use crate::world::Target;
use serde::Serialize;
use std::net::SocketAddrV4;
use std::time::Instant;

/// What came of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// The target cannot show it.
    Skip,
}

impl Verdict {
    /// As it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Skip => "skip",
        }
    }
}

/// A test's result.
#[derive(Debug, Clone, Serialize)]
pub struct CaseResult {
    /// C-chapter.number.
    pub name: String,
    /// Chapter.
    pub chapter: u8,
    /// The chapter's title.
    pub chapter_title: &'static str,
    /// What happens in it.
    pub title: &'static str,
    /// Clauses of docs/transport.md.
    pub rule: &'static str,
    /// Target.
    pub target: &'static str,
    /// Seed.
    pub seed: u64,
    /// What came of it.
    pub verdict: Verdict,
    /// Why, unless it passed.
    pub reason: String,
    /// Names and values that show what happened.
    pub evidence: Vec<(String, String)>,
    /// Real seconds that it took.
    pub seconds: f64,
}

/// What to run.
#[derive(Debug, Clone)]
pub struct Selection {
    /// On what; each test runs on one after the other.
    pub targets: Vec<Target>,
    /// The implementation elsewhere, of a mixed target.
    pub peer: Vec<SocketAddrV4>,
    /// Only tests whose name begins with one of these, such as `C-4` or `C-4.2`; all if there is none.
    pub only: Vec<String>,
    /// Seed; every test derives its own.
    pub seed: u64,
}

impl Selection {
    fn wants(&self, case: &Case) -> bool {
        let name = case.name();
        let fits = |only: &String| {
            name == *only
                || name
                    .strip_prefix(only.as_str())
                    .is_some_and(|rest| rest.starts_with('.'))
        };
        self.only.is_empty() || self.only.iter().any(fits)
    }
}

/// Names of all tests.
pub fn names() -> Vec<String> {
    CHAPTERS
        .iter()
        .flat_map(|chapter| chapter.cases)
        .map(Case::name)
        .collect()
}

/// Runs what is selected; `done` hears of each result.
pub fn run(selection: &Selection, mut done: impl FnMut(&CaseResult)) -> Vec<CaseResult> {
    let mut results = Vec::new();
    for chapter in CHAPTERS {
        for case in chapter.cases.iter().filter(|case| selection.wants(case)) {
            for target in &selection.targets {
                let mut result = run_case(selection, *target, case);
                (result.chapter, result.chapter_title) = (chapter.number, chapter.title);
                done(&result);
                results.push(result);
            }
        }
    }
    results
}

fn run_case(selection: &Selection, target: Target, case: &Case) -> CaseResult {
    let (chapter, number) = case.number;
    let seed = selection.seed ^ u64::from(chapter) << 40 ^ u64::from(number) << 48;
    let peer = selection.peer.clone();
    let mut context = Context {
        target,
        seed,
        peer,
        evidence: Vec::new(),
    };
    let begun = Instant::now();
    let outcome = (case.run)(&mut context);
    let (verdict, reason) = match outcome {
        Ok(()) => (Verdict::Pass, String::new()),
        Err(Failure::Skip(reason)) => (Verdict::Skip, reason),
        Err(failure) => (Verdict::Fail, failure.to_string()),
    };
    CaseResult {
        name: case.name(),
        chapter,
        chapter_title: "",
        title: case.title,
        rule: case.rule,
        target: target.name(),
        seed: selection.seed,
        verdict,
        reason,
        evidence: context.evidence,
        seconds: begun.elapsed().as_secs_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_has_a_number_of_its_own_and_its_chapter() {
        let mut names = names();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        for chapter in CHAPTERS {
            assert!(
                chapter
                    .cases
                    .iter()
                    .all(|case| case.number.0 == chapter.number),
                "chapter {}",
                chapter.number
            );
        }
    }

    #[test]
    fn a_selection_names_chapters_or_tests() {
        let wants = |only: &str, number| {
            let selection = Selection {
                targets: vec![Target::Model],
                peer: vec![],
                only: vec![only.into()],
                seed: 1,
            };
            selection.wants(&Case {
                number,
                title: "",
                rule: "",
                run: |_| Ok(()),
            })
        };
        assert!(wants("C-1", (1, 2)) && wants("C-1.2", (1, 2)));
        assert!(!wants("C-1", (11, 2)) && !wants("C-1.1", (1, 10)));
    }
}
