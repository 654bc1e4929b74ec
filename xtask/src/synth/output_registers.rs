//! Lets block RAMs of a mapped engine use the registers at their outputs.
//!
//! A block RAM of the ECP5 can keep its word in a register of its own, with its own enable. Yosys does not use it, so every bit
//! that is registered behind a memory is a flip-flop and a net more. Here these flip-flops go into the memory: wherever all that a
//! memory's outputs drive are flip-flops of one clock and one enable, without reset.

use super::floorplan::{Cells, top_cells};
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What an input of a cell hangs on, by the number of its net: how many inputs there are, and the last of them.
type Users = BTreeMap<u64, (usize, String, String)>;

/// Moves flip-flops into the block RAMs that they stand behind. How many.
pub fn absorb(netlist: &mut Value) -> Result<usize> {
    let cells = top_cells(netlist)?;
    let users = users(cells);
    let memories = cells.iter().filter(|(_, cell)| cell["type"] == "DP16KD");
    let memories: Vec<_> = memories.map(|(name, _)| name.clone()).collect();
    let mut absorbed = 0;
    for memory in memories {
        if let Some(registers) = registers(cells, &users, &memory) {
            absorbed += registers.len();
            move_in(cells, &memory, &registers)?;
        }
    }
    Ok(absorbed)
}

fn users(cells: &Cells) -> Users {
    let mut users = Users::new();
    for (name, cell) in cells {
        for (port, bits) in cell["connections"].as_object().into_iter().flatten() {
            if cell["port_directions"][port] != "output" {
                for net in bits
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_u64)
                {
                    let user = users.entry(net).or_default();
                    *user = (user.0 + 1, name.clone(), port.clone());
                }
            }
        }
    }
    users
}

/// The memory's outputs that are used, each with its flip-flop; nothing unless all of them can move.
fn registers(cells: &Cells, users: &Users, memory: &str) -> Option<Vec<(String, String)>> {
    let memory = &cells[memory];
    let mut registers = Vec::new();
    for (port, bits) in memory["connections"].as_object()? {
        let user = bits[0].as_u64().and_then(|net| users.get(&net));
        let (true, Some((count, name, input))) = (port.starts_with("DO"), user) else {
            continue;
        };
        let cell = &cells[name];
        let is_plain = *count == 1
            && cell["type"] == "TRELLIS_FF"
            && input == "DI"
            && cell["connections"]["LSR"][0] == "0"
            && cell["parameters"]["REGSET"] == "RESET"
            && cell["parameters"]["CLKMUX"] == "CLK"
            && ["CLKA", "CLKB"]
                .iter()
                .all(|clock| memory["connections"][clock] == cell["connections"]["CLK"]);
        if !is_plain {
            return None;
        }
        registers.push((port.clone(), name.clone()));
    }
    let enables: Vec<_> = registers
        .iter()
        .map(|(_, name)| enable(&cells[name]))
        .collect();
    let is_one = !enables.is_empty() && enables.iter().all(|one| *one == enables[0]);
    is_one.then_some(registers)
}

/// What enables a flip-flop: a net, or 1; nothing if it is of another kind.
fn enable(register: &Value) -> Option<Value> {
    match register["parameters"]["CEMUX"].as_str()?.trim() {
        "1" => Some(json!(["1"])),
        "CE" => Some(register["connections"]["CE"].clone()),
        _ => None,
    }
}

fn move_in(cells: &mut Cells, memory: &str, registers: &[(String, String)]) -> Result<()> {
    for (port, name) in registers {
        let register = cells.remove(name).context("the flip-flop is gone")?;
        cells[memory]["connections"][port] = register["connections"]["Q"].clone();
        let enable = enable(&register).context("the flip-flop has no enable")?;
        for side in ["OCEA", "OCEB"] {
            cells[memory]["connections"][side] = enable.clone();
        }
    }
    for side in ["REGMODE_A", "REGMODE_B"] {
        cells[memory]["parameters"][side] = "OUTREG".into();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register(data: u64, output: u64, enable: u64) -> Value {
        json!({
            "type": "TRELLIS_FF",
            "parameters": {"CEMUX": "CE", "CLKMUX": "CLK", "REGSET": "RESET"},
            "port_directions": {"CLK": "input", "CE": "input", "DI": "input", "LSR": "input", "Q": "output"},
            "connections": {"CLK": [2], "CE": [enable], "DI": [data], "LSR": ["0"], "Q": [output]},
        })
    }

    /// A memory with outputs on nets 10 and 11, and what stands behind them.
    fn netlist(behind: &[Value]) -> Value {
        let memory = json!({
            "type": "DP16KD",
            "parameters": {"REGMODE_A": "NOREG", "REGMODE_B": "NOREG"},
            "port_directions": {"CLKA": "input", "CLKB": "input", "DOA0": "output", "DOB0": "output", "DOB1": "output"},
            "connections": {"CLKA": [2], "CLKB": [2], "DOA0": [10], "DOB0": [11], "DOB1": [12], "OCEA": ["0"], "OCEB": ["1"]},
        });
        let mut cells = json!({ "memory": memory });
        for (index, cell) in behind.iter().enumerate() {
            cells[format!("cell{index}")] = cell.clone();
        }
        json!({"modules": {"top": {"attributes": {"top": "1"}, "cells": cells}}})
    }

    #[test]
    fn registers_of_one_enable_move_into_the_memory() {
        let mut netlist = netlist(&[register(10, 20, 5), register(11, 21, 5)]);
        assert_eq!(absorb(&mut netlist).unwrap(), 2);
        let cells = top_cells(&mut netlist).unwrap();
        assert_eq!(cells.len(), 1);
        let memory = &cells["memory"];
        assert_eq!(memory["connections"]["DOA0"], json!([20]));
        assert_eq!(memory["connections"]["DOB0"], json!([21]));
        assert_eq!(memory["connections"]["DOB1"], json!([12]));
        assert_eq!(memory["connections"]["OCEB"], json!([5]));
        assert_eq!(memory["parameters"]["REGMODE_B"], "OUTREG");
    }

    #[test]
    fn a_memory_stays_as_it_is_when_not_all_can_move() {
        let lut =
            json!({"type": "LUT4", "connections": {"A": [11]}, "port_directions": {"A": "input"}});
        let mut with_reset = register(11, 21, 5);
        with_reset["connections"]["LSR"] = json!([7]);
        let mut set = register(11, 21, 5);
        set["parameters"]["REGSET"] = "SET".into();
        let mut other_clock = register(11, 21, 5);
        other_clock["connections"]["CLK"] = json!([3]);
        let other_enable = register(11, 21, 6);
        for second in [lut.clone(), with_reset, set, other_clock, other_enable] {
            let mut netlist = netlist(&[register(10, 20, 5), second]);
            let before = netlist.clone();
            assert_eq!(absorb(&mut netlist).unwrap(), 0);
            assert_eq!(netlist, before);
        }
        // Read once more, beside its flip-flop.
        let mut netlist = netlist(&[register(10, 20, 5), register(11, 21, 5), lut]);
        assert_eq!(absorb(&mut netlist).unwrap(), 0);
    }
}
