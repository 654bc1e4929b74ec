//! The ports of a Verilog module, read from its text.
//!
//! Knows the two forms that occur here: port declarations in the body (as rust-hdl emits them) and in the
//! header. Ranges must be plain numbers; parameters and arrays of ports are not understood.

use crate::BuildError;

/// Which way a port carries values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Set by the test.
    Input,
    /// Set by the model.
    Output,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PortDeclaration {
    pub name: String,
    pub width: usize,
    pub direction: Direction,
}

/// The ports of module `top` in `text`, in the order of their declarations.
pub(crate) fn ports(text: &str, top: &str) -> Result<Vec<PortDeclaration>, BuildError> {
    let fail = |reason: String| BuildError::Header {
        top: top.to_owned(),
        reason,
    };
    let tokens = tokens(text);
    let start = tokens
        .windows(2)
        .position(|pair| pair[0] == "module" && pair[1] == top)
        .ok_or_else(|| fail("not in the text".into()))?;
    let mut scan = Scan {
        tokens: &tokens,
        at: start,
    };
    let mut ports = Vec::new();
    loop {
        match scan.next() {
            None | Some("endmodule") => break,
            Some("function") => scan.skip_to("endfunction"),
            Some("task") => scan.skip_to("endtask"),
            Some("input") => scan
                .declaration(Direction::Input, &mut ports)
                .map_err(fail)?,
            Some("output") => scan
                .declaration(Direction::Output, &mut ports)
                .map_err(fail)?,
            Some("inout") => return Err(fail("has an inout port".into())),
            Some(_) => {}
        }
    }
    if ports.is_empty() {
        return Err(fail("has no ports".into()));
    }
    Ok(ports)
}

struct Scan<'a> {
    tokens: &'a [&'a str],
    at: usize,
}

impl<'a> Scan<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let token = self.tokens.get(self.at).copied();
        self.at += 1;
        token
    }

    fn peek(&self) -> &'a str {
        self.tokens.get(self.at).copied().unwrap_or("")
    }

    fn skip_to(&mut self, word: &str) {
        while self.next().is_some_and(|token| token != word) {}
    }

    /// What follows `input` or `output`: a type, a range, names, up to `;`, `)` or the next direction.
    fn declaration(
        &mut self,
        direction: Direction,
        ports: &mut Vec<PortDeclaration>,
    ) -> Result<(), String> {
        while ["wire", "reg", "logic", "signed", "unsigned"].contains(&self.peek()) {
            self.at += 1;
        }
        let width = if self.peek() == "[" { self.range()? } else { 1 };
        loop {
            let name = self.peek();
            if name == "input" || name == "output" {
                return Ok(());
            }
            self.at += 1;
            ports.push(PortDeclaration {
                name: name.to_owned(),
                width,
                direction,
            });
            match self.next() {
                Some(",") => {}
                Some(";" | ")") => return Ok(()),
                other => return Err(format!("port `{name}` is followed by {other:?}")),
            }
        }
    }

    fn range(&mut self) -> Result<usize, String> {
        let end = self.tokens.len().min(self.at + 5);
        let parts = &self.tokens[self.at..end];
        self.at = end;
        match parts {
            ["[", high, ":", "0", "]"] => high.parse::<usize>().map(|high| high + 1).ok(),
            _ => None,
        }
        .ok_or_else(|| format!("range `{}` is not [number:0]", parts.concat()))
    }
}

/// Identifiers, numbers and single punctuation marks; comments and strings are left out.
fn tokens(text: &str) -> Vec<&str> {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '\'');
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else {
            return tokens;
        };
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if first == '"' {
            rest[1..].find('"').map_or(rest.len(), |at| at + 2)
        } else {
            let length = rest
                .find(|c| !word(c))
                .unwrap_or(rest.len())
                .max(first.len_utf8());
            tokens.push(&rest[..length]);
            length
        };
        rest = &rest[length..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(name: &str, width: usize, direction: Direction) -> PortDeclaration {
        PortDeclaration {
            name: name.into(),
            width,
            direction,
        }
    }

    #[test]
    fn declarations_in_the_body() {
        let text = "module other(x); input x; endmodule
            module top(rx$data,clock,y);
            // input wire no;
            input wire [511:0] rx$data;
            input wire  clock;
            output reg [0:0] y;
            function f; input q; endfunction
            endmodule";
        let expected = [
            port("rx$data", 512, Direction::Input),
            port("clock", 1, Direction::Input),
            port("y", 1, Direction::Output),
        ];
        assert_eq!(ports(text, "top").unwrap(), expected);
    }

    #[test]
    fn declarations_in_the_header() {
        let text = "module top (input wire a, b, output logic [7:0] c, output d); endmodule";
        let expected = [
            port("a", 1, Direction::Input),
            port("b", 1, Direction::Input),
            port("c", 8, Direction::Output),
            port("d", 1, Direction::Output),
        ];
        assert_eq!(ports(text, "top").unwrap(), expected);
    }

    #[test]
    fn a_missing_module_and_a_strange_range_are_named() {
        assert!(
            ports("module a(x); input x; endmodule", "b")
                .unwrap_err()
                .to_string()
                .contains("`b`")
        );
        let strange = ports("module a(x); input [N-1:0] x; endmodule", "a")
            .unwrap_err()
            .to_string();
        assert!(strange.contains("[N-1:"), "{strange}");
    }
}
