//! Puts the block RAMs of a mapped engine where a file of `constraints/` says.
//!
//! A line of a floorplan is a row of block RAMs, by its Y on the chip, and memories by their path in the engine; a row may take
//! more than one line. Knows the rows of one chip, the ECP5-85.

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use std::collections::BTreeMap;

/// Rows of block RAMs, by Y.
const ROWS: [u32; 4] = [22, 46, 70, 82];
/// Block RAMs stand in groups of four; X of each group's first.
const GROUPS: [u32; 13] = [4, 13, 22, 31, 40, 49, 58, 69, 78, 87, 96, 105, 114];
const GROUP: usize = 4;
/// Parts of a cell's name before the memory's own, and of the memory's own: `engine.core.` and `window.states`.
const PREFIX: usize = 2;
const OWN: usize = 2;

/// A floorplan: memories by row, from left to right.
#[derive(Debug, PartialEq, Eq)]
pub struct Floorplan(BTreeMap<u32, Vec<String>>);

impl Floorplan {
    /// Reads the text of a floorplan.
    pub fn parse(text: &str) -> Result<Self> {
        let mut rows = BTreeMap::<u32, Vec<String>>::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let row = line.split_once(':').and_then(|(row, memories)| {
                let row: u32 = row.trim().parse().ok()?;
                ROWS.contains(&row).then_some((row, memories))
            });
            let number = index + 1;
            let (row, memories) = row.with_context(|| {
                format!("line {number}: `{line}` does not begin with a row of {ROWS:?} and a colon")
            })?;
            let memories = memories.split_whitespace().map(str::to_owned);
            rows.entry(row).or_default().extend(memories);
        }
        Ok(Self(rows))
    }

    /// Gives every block RAM of the netlist's top module its place.
    pub fn apply(&self, netlist: &mut Value) -> Result<()> {
        let cells = top_cells(netlist)?;
        let mut parts = BTreeMap::<String, Vec<String>>::new();
        for (name, cell) in cells.iter() {
            if cell["type"] == "DP16KD" {
                let own: Vec<_> = name.split('.').skip(PREFIX).take(OWN).collect();
                parts.entry(own.join(".")).or_default().push(name.clone());
            }
        }
        for (row, memories) in &self.0 {
            let mut places = (0..GROUPS.len() * GROUP).map(|place| bel(*row, place));
            for memory in memories {
                let cells_of = parts.remove(memory);
                let cells_of = cells_of.with_context(|| {
                    format!("row {row}: the engine has no block RAM `{memory}`")
                })?;
                for name in cells_of {
                    let place = places.next();
                    let place = place.with_context(|| {
                        format!("row {row}: `{memory}` does not fit into it any more")
                    })?;
                    cells[&name]["attributes"]["BEL"] = place.into();
                }
            }
        }
        if let Some(memory) = parts.keys().next() {
            bail!("block RAM `{memory}` is in no row");
        }
        Ok(())
    }
}

/// The cells of the top module.
fn top_cells(netlist: &mut Value) -> Result<&mut serde_json::Map<String, Value>> {
    let modules = netlist["modules"].as_object_mut();
    let modules = modules.context("the netlist has no modules")?;
    let is_top = |module: &Value| module["attributes"]["top"].is_string();
    let count = modules.values().filter(|module| is_top(module)).count();
    ensure!(count == 1, "the netlist has {count} top modules");
    let top = modules.values_mut().find(|module| is_top(module));
    top.and_then(|module| module["cells"].as_object_mut())
        .context("the top module has no cells")
}

/// Name of a block RAM's place.
fn bel(row: u32, place: usize) -> String {
    let (group, within) = (GROUPS[place / GROUP], place % GROUP);
    format!("X{}/Y{row}/EBR{within}", group as usize + 2 * within)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn netlist(memories: &[&str]) -> Value {
        let cells: serde_json::Map<_, _> = memories
            .iter()
            .map(|name| {
                let cell = json!({"type": "DP16KD", "attributes": {}});
                (format!("engine.core.{name}"), cell)
            })
            .chain([("other".to_owned(), json!({"type": "LUT4"}))])
            .collect();
        json!({"modules": {"top": {"attributes": {"top": "1"}, "cells": cells}}})
    }

    fn place(netlist: &Value, name: &str) -> String {
        let cell = &netlist["modules"]["top"]["cells"][format!("engine.core.{name}")];
        cell["attributes"]["BEL"].as_str().unwrap().to_owned()
    }

    #[test]
    fn memories_lie_side_by_side_in_their_rows() {
        let plan = Floorplan::parse("# a plan\n46: b.m  a.m\n22: c.m # the last\n46: d.m").unwrap();
        let mut netlist = netlist(&[
            "a.m.0.0", "a.m.0.1", "b.m.0.0", "b.m.0.1", "b.m.0.2", "c.m.0.0", "d.m.0.0",
        ]);
        plan.apply(&mut netlist).unwrap();
        assert_eq!(place(&netlist, "b.m.0.0"), "X4/Y46/EBR0");
        assert_eq!(place(&netlist, "a.m.0.0"), "X10/Y46/EBR3");
        assert_eq!(place(&netlist, "a.m.0.1"), "X13/Y46/EBR0");
        assert_eq!(place(&netlist, "d.m.0.0"), "X15/Y46/EBR1");
        assert_eq!(place(&netlist, "c.m.0.0"), "X4/Y22/EBR0");
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let wrong = |plan: &str, memories: &[&str]| {
            let applied =
                Floorplan::parse(plan).and_then(|plan| plan.apply(&mut netlist(memories)));
            format!("{:#}", applied.unwrap_err())
        };
        assert_eq!(
            wrong("23: a.m", &[]),
            "line 1: `23: a.m` does not begin with a row of [22, 46, 70, 82] and a colon"
        );
        assert_eq!(
            wrong("22: a.m", &[]),
            "row 22: the engine has no block RAM `a.m`"
        );
        assert_eq!(wrong("", &["a.m.0"]), "block RAM `a.m` is in no row");
        let many: Vec<String> = (0..53).map(|part| format!("a.m.{part}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(
            wrong("22: a.m", &many),
            "row 22: `a.m` does not fit into it any more"
        );
    }
}
