//! Completions: each posted request ends exactly once, in the order of posting, and well.

use std::collections::VecDeque;

/// Follows the requests of one connection.
#[derive(Debug, Clone, Default)]
pub struct CompletionReferee {
    open: VecDeque<u64>,
    completed: u64,
    wrong: Vec<String>,
}

impl CompletionReferee {
    /// A request with this mark was posted.
    pub fn posted(&mut self, mark: u64) {
        self.open.push_back(mark);
    }

    /// The request with this mark has ended; `good` if without error.
    pub fn completed(&mut self, mark: u64, good: bool) {
        self.completed += 1;
        match self.open.front() {
            Some(first) if *first == mark => {
                self.open.pop_front();
            }
            Some(first) => self
                .wrong
                .push(format!("request {mark} completed before request {first}")),
            None => self
                .wrong
                .push(format!("request {mark} completed, nothing is open")),
        }
        if !good {
            self.wrong
                .push(format!("request {mark} completed with an error"));
        }
    }

    /// Requests that have not ended.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// Completions seen.
    pub const fn count(&self) -> u64 {
        self.completed
    }

    /// What is wrong now that nothing more is to come.
    pub fn judge(&self) -> Vec<String> {
        let mut verdict = self.wrong.clone();
        verdict.truncate(4);
        if let Some(first) = self.open.front() {
            verdict.push(format!(
                "{} requests never completed, first {first}",
                self.open.len()
            ));
        }
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_doubled_disordered_and_failed_completions_are_found() {
        let judge = |completions: &[(u64, bool)]| {
            let mut referee = CompletionReferee::default();
            (0..3).for_each(|mark| referee.posted(mark));
            completions
                .iter()
                .for_each(|(mark, good)| referee.completed(*mark, *good));
            referee.judge().len()
        };
        assert_eq!(judge(&[(0, true), (1, true), (2, true)]), 0);
        assert_ne!(judge(&[(0, true), (1, true)]), 0);
        assert_ne!(judge(&[(0, true), (1, true), (2, true), (2, true)]), 0);
        assert_ne!(judge(&[(1, true), (0, true), (2, true)]), 0);
        assert_ne!(judge(&[(0, true), (1, false), (2, true)]), 0);
    }
}
