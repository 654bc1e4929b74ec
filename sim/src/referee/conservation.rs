//! Conservation: two independent counts of the same thing agree.

/// Pairs of counts that must agree.
#[derive(Debug, Clone, Default)]
pub struct Conservation {
    wrong: Vec<String>,
    checked: usize,
}

impl Conservation {
    /// `left` and `right` count the same.
    pub fn equal(&mut self, what: &str, left: u64, right: u64) {
        self.checked += 1;
        if left != right {
            self.wrong.push(format!("{what}: {left} and {right}"));
        }
    }

    /// `less` is at most `more`.
    pub fn at_most(&mut self, what: &str, less: u64, more: u64) {
        self.checked += 1;
        if less > more {
            self.wrong
                .push(format!("{what}: {less} is more than {more}"));
        }
    }

    /// Pairs looked at.
    pub const fn checked(&self) -> usize {
        self.checked
    }

    /// What does not agree.
    pub fn judge(&self) -> Vec<String> {
        self.wrong.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disagreement_is_found() {
        let mut conservation = Conservation::default();
        conservation.equal("frames", 3, 3);
        conservation.at_most("losses", 2, 3);
        assert_eq!((conservation.judge().len(), conservation.checked()), (0, 2));
        conservation.equal("frames", 3, 4);
        conservation.at_most("losses", 4, 3);
        assert_eq!(
            conservation.judge(),
            ["frames: 3 and 4", "losses: 4 is more than 3"]
        );
    }
}
