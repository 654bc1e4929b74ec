//! Traffic files: `Nodes N`, `Connections C`, then a line a flow, `src->dst id n start T size BYTES`.

use super::{Flow, Traffic};
use crate::error::ScenarioError;
use std::path::Path;

/// Reads a file.
pub fn read(path: &Path) -> Result<Traffic, ScenarioError> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|source| ScenarioError::Read {
        path: shown.clone(),
        source,
    })?;
    parse(&text, &shown)
}

/// Reads the text of a file called `path`.
pub fn parse(text: &str, path: &str) -> Result<Traffic, ScenarioError> {
    let wrong = |line: usize, message: String| ScenarioError::Trace {
        path: path.to_owned(),
        line,
        message,
    };
    let mut flows = Vec::new();
    let mut announced = None;
    for (index, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] | ["Nodes", _] => {}
            ["Connections", count] => {
                announced = Some(
                    count
                        .parse::<usize>()
                        .map_err(|_| wrong(index + 1, format!("'{count}' is no number")))?,
                );
            }
            [ends, "id", _, "start", start, "size", size] => {
                let flow = flow(ends, start, size);
                let message = || format!("'{line}' is not 'src->dst id n start T size BYTES'");
                flows.push(flow.ok_or_else(|| wrong(index + 1, message()))?);
            }
            _ => {
                return Err(wrong(
                    index + 1,
                    format!("'{line}' is not 'src->dst id n start T size BYTES'"),
                ));
            }
        }
    }
    match announced {
        Some(count) if count != flows.len() => {
            let message = format!(
                "{count} connections are announced, {} follow: the file ends early",
                flows.len()
            );
            Err(wrong(text.lines().count(), message))
        }
        _ => Ok(Traffic {
            flows,
            classes: vec!["all"],
        }),
    }
}

fn flow(ends: &str, start: &str, size: &str) -> Option<Flow> {
    let (from, to) = ends.split_once("->")?;
    Some(Flow {
        from: from.parse().ok()?,
        to: to.parse().ok()?,
        bytes: size.parse().ok()?,
        start_ps: start.parse().ok()?,
        ..Flow::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_read_as_written() {
        let traffic = parse(
            "Nodes 4\nConnections 2\n0->3 id 1 start 0 size 10\n2->1 id 2 start 5 size 20\n",
            "t",
        )
        .unwrap();
        assert_eq!(traffic.flows.len(), 2);
        assert_eq!((traffic.flows[1].from, traffic.flows[1].to), (2, 1));
        assert_eq!((traffic.flows[1].start_ps, traffic.flows[1].bytes), (5, 20));
    }

    #[test]
    fn a_file_that_ends_early_or_holds_nonsense_is_refused_with_its_line() {
        let told = |text| parse(text, "t.cm").unwrap_err().to_string();
        assert!(told("Connections 2\n0->3 id 1 start 0 size 10\n").contains("ends early"));
        assert!(told("Nodes 4\n0-3 id 1 start 0 size 10\n").contains("t.cm, line 2"));
        assert!(told("0->3 id 1 start 0 size -1\n").contains("line 1"));
    }
}
