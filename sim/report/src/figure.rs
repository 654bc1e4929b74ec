//! A figure with its target, and how figures are shown.

use serde::Serialize;
use std::fmt::Write;

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More.
    Higher,
    /// Less.
    Lower,
}

/// A measured value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// How much.
    pub value: f64,
    /// In what.
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// What is asked for; `None` if it is only reported.
    pub target: Option<f64>,
    /// Whether the target is met; without one, true.
    pub ok: bool,
}

impl Figure {
    /// A figure that is only reported.
    pub fn plain(name: impl Into<String>, value: f64, unit: &'static str, better: Better) -> Self {
        Self {
            name: name.into(),
            value,
            unit,
            better,
            target: None,
            ok: true,
        }
    }

    /// The same, with a target.
    #[must_use]
    pub fn target(self, target: f64) -> Self {
        let ok = match self.better {
            Better::Higher => self.value >= target,
            Better::Lower => self.value <= target,
        };
        Self {
            target: Some(target),
            ok,
            ..self
        }
    }
}

/// Figures as lines of text.
pub fn table(figures: &[Figure]) -> String {
    let name_width = figures
        .iter()
        .map(|figure| figure.name.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for figure in figures {
        let (sign, mark) = match (figure.better, figure.ok) {
            (Better::Higher, true) => (">=", "ok"),
            (Better::Higher, false) => (">=", "MISSED"),
            (Better::Lower, true) => ("<=", "ok"),
            (Better::Lower, false) => ("<=", "MISSED"),
        };
        let target = figure
            .target
            .map_or(String::new(), |target| format!("{sign} {target}  {mark}"));
        let value = if figure.value.fract() == 0.0 {
            format!("{:.0}", figure.value)
        } else {
            format!("{:.3}", figure.value)
        };
        let line = format!(
            "{:name_width$}  {value:>12} {:<24} {target}",
            figure.name, figure.unit
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_judged_in_their_own_direction() {
        let figure = |better, target| Figure::plain("f", 5.0, "cycles", better).target(target);
        assert!(figure(Better::Higher, 5.0).ok && figure(Better::Lower, 5.0).ok);
        assert!(!figure(Better::Higher, 6.0).ok && !figure(Better::Lower, 4.0).ok);
        assert!(table(&[figure(Better::Lower, 4.0)]).contains("<= 4  MISSED"));
    }
}
