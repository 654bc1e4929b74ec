//! Puts the block RAMs of a mapped engine where a file of `constraints/` says, and gives dense logic room.
//!
//! A line of a floorplan is a row of block RAMs, by its Y on the chip, and memories by their path in the engine; a row may take
//! more than one line. Memories joined by `+` lie part by part beside each other: what they store or give bit by bit meets.
//! A line `spread` has parts of the engine and how many places are to stay free for each of their LUTs: the placer fills a tile's
//! eight LUTs whatever they are joined to, and where all of them are parts of wide sums there are not wires enough. The
//! places are kept by LUTs that do nothing, which leave before the wires are laid.
//!
//! Knows the rows of one chip, the ECP5-85.

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Rows of block RAMs, by Y.
const ROWS: [u32; 4] = [22, 46, 70, 82];
/// Block RAMs stand in groups of four; X of each group's first.
const GROUPS: [u32; 13] = [4, 13, 22, 31, 40, 49, 58, 69, 78, 87, 96, 105, 114];
const GROUP: usize = 4;
/// Parts of a cell's name before the memory's own, and of the memory's own: `engine.core.` and `window.states`.
const PREFIX: usize = 2;
const OWN: usize = 2;

/// Beginning of the name of a cell that keeps a place free.
const SPACER: &str = "spacer.";
const NO_CELLS: &str = "the top module has no cells";

/// A floorplan.
#[derive(Debug, Default, PartialEq)]
pub struct Floorplan {
    /// Memories by row, from left to right.
    rows: BTreeMap<u32, Vec<String>>,
    /// Parts of the engine, and free places for each of their LUTs.
    spread: Vec<(String, f64)>,
}

impl Floorplan {
    /// Reads the text of a floorplan.
    pub fn parse(text: &str) -> Result<Self> {
        let mut plan = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                plan.add(line)
                    .with_context(|| format!("line {}: `{line}`", index + 1))?;
            }
        }
        Ok(plan)
    }

    fn add(&mut self, line: &str) -> Result<()> {
        let (what, rest) = line.split_once(':').unwrap_or_default();
        let words = rest.split_whitespace();
        if what == "spread" {
            for word in words {
                let pair = word
                    .split_once('=')
                    .and_then(|(part, places)| Some((part.to_owned(), places.parse().ok()?)));
                let pair = pair.filter(|(_, places)| (0.0..=1.0).contains(places));
                self.spread.push(pair.with_context(|| {
                    format!("`{word}` is not a part of the engine, `=` and a number from 0 to 1")
                })?);
            }
            return Ok(());
        }
        let row = what.trim().parse().ok().filter(|row| ROWS.contains(row));
        let row = row.with_context(|| {
            format!("does not begin with `spread` or a row of {ROWS:?} and a colon")
        })?;
        let memories = self.rows.entry(row).or_default();
        memories.extend(words.map(str::to_owned));
        Ok(())
    }

    /// Gives every block RAM of the netlist's top module its place and adds what keeps places free.
    pub fn apply(&self, netlist: &mut Value) -> Result<()> {
        let cells = top_cells(netlist)?;
        self.place_memories(cells)?;
        self.add_spacers(cells)
    }

    fn place_memories(&self, cells: &mut Cells) -> Result<()> {
        let mut parts = BTreeMap::<String, Vec<String>>::new();
        for (name, cell) in cells.iter() {
            if cell["type"] == "DP16KD" {
                let own: Vec<_> = name.split('.').skip(PREFIX).take(OWN).collect();
                parts.entry(own.join(".")).or_default().push(name.clone());
            }
        }
        for (row, memories) in &self.rows {
            let mut places = (0..GROUPS.len() * GROUP).map(|place| bel(*row, place));
            for memory in memories {
                let joined = memory.split('+').map(|one| {
                    let cells_of = parts.remove(one);
                    cells_of
                        .with_context(|| format!("row {row}: the engine has no block RAM `{one}`"))
                });
                for name in interleaved(joined.collect::<Result<_>>()?) {
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

    /// A spacer hangs on the output of a LUT of its part, so that it is placed beside it.
    fn add_spacers(&self, cells: &mut Cells) -> Result<()> {
        let mut owed = vec![0.0; self.spread.len()];
        let mut found = vec![false; self.spread.len()];
        let mut nets = Vec::new();
        for (name, cell) in cells.iter().filter(|(_, cell)| cell["type"] == "LUT4") {
            let own = name.splitn(PREFIX + 1, '.').last().unwrap_or_default();
            let part = self
                .spread
                .iter()
                .position(|(part, _)| own.starts_with(part));
            if let Some(part) = part {
                found[part] = true;
                owed[part] += self.spread[part].1;
                if owed[part] >= 1.0 {
                    owed[part] -= 1.0;
                    nets.push(cell["connections"]["Z"][0].clone());
                }
            }
        }
        if let Some(part) = found.iter().position(|found| !found) {
            bail!("spread: the engine has no LUT in `{}`", self.spread[part].0);
        }
        let free = 1 + last_net(cells);
        for (index, net) in nets.into_iter().enumerate() {
            let spacer = json!({
                "hide_name": 0, "type": "LUT4", "attributes": {},
                "parameters": {"INIT": "0000000000000010"},
                "port_directions": {"A": "input", "Z": "output"},
                "connections": {"A": [net], "Z": [free + index as u64]},
            });
            cells.insert(format!("{SPACER}{index}"), spacer);
        }
        Ok(())
    }
}

/// Highest number of a net of these cells.
fn last_net(cells: &Cells) -> u64 {
    let connections = cells
        .values()
        .filter_map(|cell| cell["connections"].as_object());
    let nets = connections.flat_map(|ports| ports.values().filter_map(Value::as_array));
    nets.flatten().filter_map(Value::as_u64).max().unwrap_or(0)
}

/// Cells of a module, by name.
pub type Cells = serde_json::Map<String, Value>;

/// Takes away what kept places free while the netlist was placed, and the nets that it drove.
pub fn remove_spacers(netlist: &mut Value) -> Result<()> {
    let module = top_module(netlist)?;
    let mut driven = BTreeSet::new();
    let cells = module["cells"].as_object_mut();
    cells.context(NO_CELLS)?.retain(|name, cell| {
        let is_spacer = name.starts_with(SPACER);
        if is_spacer {
            // `Z` is `F` once it is packed.
            let output = ["Z", "F"].map(|port| cell["connections"][port][0].as_u64());
            driven.extend(output.into_iter().flatten());
        }
        !is_spacer
    });
    if let Some(names) = module["netnames"].as_object_mut() {
        names.retain(|_, net| {
            let bit = net["bits"][0].as_u64();
            !bit.is_some_and(|bit| driven.contains(&bit))
        });
    }
    Ok(())
}

/// The parts of some memories: the first of each, the second of each, and so on.
fn interleaved(mut memories: Vec<Vec<String>>) -> Vec<String> {
    for parts in &mut memories {
        // `mem.0.2` before `mem.0.10`: the order of the bits.
        parts.sort_by_key(|name| {
            let numbers = name.split('.').map(|word| word.parse::<u32>().ok());
            numbers.collect::<Vec<_>>()
        });
    }
    let most = memories.iter().map(Vec::len).max().unwrap_or(0);
    let part = |index: usize| memories.iter().filter_map(move |parts| parts.get(index));
    (0..most).flat_map(part).cloned().collect()
}

/// The top module.
fn top_module(netlist: &mut Value) -> Result<&mut Value> {
    let modules = netlist["modules"].as_object_mut();
    let modules = modules.context("the netlist has no modules")?;
    let is_top = |module: &Value| module["attributes"]["top"].is_string();
    let count = modules.values().filter(|module| is_top(module)).count();
    ensure!(count == 1, "the netlist has {count} top modules");
    let top = modules.values_mut().find(|module| is_top(module));
    top.context("the netlist has no top module")
}

/// The cells of the top module.
pub fn top_cells(netlist: &mut Value) -> Result<&mut Cells> {
    top_module(netlist)?["cells"]
        .as_object_mut()
        .context(NO_CELLS)
}

/// Name of a block RAM's place.
fn bel(row: u32, place: usize) -> String {
    let (group, within) = (GROUPS[place / GROUP], place % GROUP);
    format!("X{}/Y{row}/EBR{within}", group as usize + 2 * within)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn joined_memories_lie_part_by_part() {
        let plan = Floorplan::parse("46: a.m+b.m c.m").unwrap();
        let mut netlist = netlist(&["a.m.0.2", "a.m.0.10", "b.m.0.0", "c.m.0.0"]);
        plan.apply(&mut netlist).unwrap();
        assert_eq!(place(&netlist, "a.m.0.2"), "X4/Y46/EBR0");
        assert_eq!(place(&netlist, "b.m.0.0"), "X6/Y46/EBR1");
        assert_eq!(place(&netlist, "a.m.0.10"), "X8/Y46/EBR2");
        assert_eq!(place(&netlist, "c.m.0.0"), "X10/Y46/EBR3");
    }

    #[test]
    fn places_are_kept_free_until_the_wires_are_laid() {
        let plan = Floorplan::parse("spread: a.sum=0.5 b=0").unwrap();
        let mut netlist = netlist(&[]);
        let cells = top_cells(&mut netlist).unwrap();
        for (index, name) in ["a.sum.x", "a.sum.y", "a.sums", "a.other", "b.x"]
            .iter()
            .enumerate()
        {
            let lut = json!({"type": "LUT4", "connections": {"Z": [index + 7]}});
            cells.insert(format!("engine.core.{name}"), lut);
        }
        let before = netlist.clone();
        plan.apply(&mut netlist).unwrap();
        let cells = top_cells(&mut netlist).unwrap();
        // One for the first two LUTs of a.sum; half a one for a.sums; the highest net was 11.
        assert_eq!(
            cells["spacer.0"]["connections"],
            json!({"A": [8], "Z": [12]})
        );
        assert!(!cells.contains_key("spacer.1"));
        // nextpnr names every net that it writes.
        let names = json!({"kept": {"bits": [8]}, "$frontend$1": {"bits": [12]}});
        netlist["modules"]["top"]["netnames"] = names;
        remove_spacers(&mut netlist).unwrap();
        let top = &mut netlist["modules"]["top"];
        assert_eq!(top["netnames"], json!({"kept": {"bits": [8]}}));
        top.as_object_mut().unwrap().remove("netnames");
        assert_eq!(netlist, before);
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
            "line 1: `23: a.m`: does not begin with `spread` or a row of [22, 46, 70, 82] and a colon"
        );
        assert_eq!(
            wrong("22: a.m", &[]),
            "row 22: the engine has no block RAM `a.m`"
        );
        assert_eq!(wrong("", &["a.m.0"]), "block RAM `a.m` is in no row");
        assert_eq!(
            wrong("22:\nspread: a.m=2", &[]),
            "line 2: `spread: a.m=2`: `a.m=2` is not a part of the engine, `=` and a number from 0 to 1"
        );
        assert_eq!(
            wrong("spread: a.m=0.5", &[]),
            "spread: the engine has no LUT in `a.m`"
        );
        let many: Vec<String> = (0..53).map(|part| format!("a.m.{part}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(
            wrong("22: a.m", &many),
            "row 22: `a.m` does not fit into it any more"
        );
    }
}
