//! Refuses expressions that mean one thing to Rust and another to Verilog.
//!
//! rust-hdl translates tokens: Verilog widens operands to their context, has 32-bit literals and another order
//! of operators, and nobody says a word when the two disagree. The rule that keeps them equal is one operation for
//! each assignment, and comparisons of plain signals. [`check`] walks the tree that becomes Verilog and reports each
//! place where the difference could be seen; what it accepts has one meaning. See `expression` for the reasoning.

mod expression;
#[cfg(test)]
mod tests;

use expression::Scope;
use rust_hdl::core::ast::{
    VerilogBlock, VerilogBlockOrConditional, VerilogConditional, VerilogExpression,
    VerilogStatement,
};
use rust_hdl::prelude::*;
use std::collections::BTreeMap;
use std::fmt;

/// One expression with two meanings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The block, as a path from the top.
    pub block: String,
    /// The expression, as Verilog will see it.
    pub expression: String,
    /// What differs.
    pub reason: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}`: {}", self.block, self.expression, self.reason)
    }
}

/// Everything in `block`, and in the blocks inside it, that Rust and Verilog may read differently.
pub fn check(block: &dyn Block) -> Vec<Violation> {
    let mut collect = Collect::default();
    block.accept("top", &mut collect);
    let mut violations = Vec::new();
    for (path, module) in &collect.modules {
        let reserved = module.widths.keys().filter(|name| is_reserved(name));
        violations.extend(reserved.map(|name| Violation {
            block: path.clone(),
            expression: name.clone(),
            reason: "a word of Verilog or SystemVerilog".into(),
        }));
        let mut walk = Walk {
            path,
            scope: Scope::new(&module.widths),
            violations: &mut violations,
        };
        walk.block(&module.code);
    }
    violations
}

/// Words of the language that are likely as names of signals; rust-hdl refuses only a few of them.
fn is_reserved(name: &str) -> bool {
    const WORDS: &str = "
        alias always and assert assign before begin bind bit break buf byte case cell checker class
        config const constraint context continue cover cross default design disable dist do edge else
        end enum event expect export extends extern final first_match for force fork function global if
        implements implies import incdir include initial inout input inside instance int integer
        interface join large let liblist library local logic longint matches medium modport module nand
        negedge new nexttime nor not null or output package packed parameter posedge primitive priority
        program property protected pulldown pullup pure rand real ref reg reject_on release repeat
        restrict return scalared sequence shortint signed small soft solve specify static string strong
        struct super supply0 supply1 sync_accept_on table tagged task this throughout time timeprecision
        timeunit tran tri type typedef union unique unsigned until use var vectored virtual void wait
        wand weak while wildcard wire with within wor xnor xor
    ";
    WORDS.split_whitespace().any(|word| word == name)
}

#[derive(Default)]
struct Module {
    widths: BTreeMap<String, usize>,
    code: VerilogBlock,
}

/// Gathers each module's code and the width of each name in it.
#[derive(Default)]
struct Collect {
    path: Vec<String>,
    namespace: Vec<String>,
    modules: BTreeMap<String, Module>,
}

impl Collect {
    fn add(&mut self, depth: usize, name: String, width: usize) {
        let path = self.path[..depth].join("$");
        self.modules
            .entry(path)
            .or_default()
            .widths
            .insert(name, width);
    }
}

impl Probe for Collect {
    fn visit_start_scope(&mut self, name: &str, node: &dyn Block) {
        self.path.push(name.to_owned());
        self.namespace.clear();
        let module = self.modules.entry(self.path.join("$")).or_default();
        if let Verilog::Combinatorial(code) = node.hdl() {
            module.code = code;
        }
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.path.pop();
    }

    fn visit_start_namespace(&mut self, name: &str, _node: &dyn Block) {
        self.namespace.push(name.to_owned());
    }

    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        self.namespace.pop();
    }

    fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
        let name = self
            .namespace
            .iter()
            .map(String::as_str)
            .chain([name])
            .collect::<Vec<_>>()
            .join("$");
        let depth = self.path.len();
        if signal.kind().is_parameter() && depth > 1 {
            let in_parent = format!("{}${name}", self.path[depth - 1]);
            self.add(depth - 1, in_parent, signal.bits());
        }
        self.add(depth, name, signal.bits());
    }
}

/// Walks the statements of one module.
struct Walk<'a> {
    path: &'a str,
    scope: Scope<'a>,
    violations: &'a mut Vec<Violation>,
}

impl Walk<'_> {
    fn block(&mut self, block: &VerilogBlock) {
        for statement in block {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &VerilogStatement) {
        match statement {
            VerilogStatement::Assignment(target, value) => {
                let width = self.scope.width(target);
                self.assigned(value, width);
            }
            VerilogStatement::SliceAssignment {
                width,
                offset,
                replacement,
                ..
            } => {
                self.exact(offset);
                self.assigned(replacement, Some(*width));
            }
            VerilogStatement::If(conditional) => self.conditional(conditional),
            VerilogStatement::Match(choice) => {
                self.exact(&choice.test);
                choice.cases.iter().for_each(|case| self.block(&case.block));
            }
            VerilogStatement::Loop(body) => {
                self.scope.enter_loop(&body.index);
                self.block(&body.block);
                self.scope.leave_loop();
            }
            VerilogStatement::Macro(block) => self.block(block),
            VerilogStatement::Comment(_) | VerilogStatement::Link(_) => {}
        }
    }

    fn conditional(&mut self, conditional: &VerilogConditional) {
        let result = self.scope.condition(&conditional.test);
        self.report(&conditional.test, result);
        self.block(&conditional.then);
        match &conditional.otherwise {
            VerilogBlockOrConditional::Block(block) => self.block(block),
            VerilogBlockOrConditional::Conditional(next) => self.statement(next),
            VerilogBlockOrConditional::None => {}
        }
    }

    fn assigned(&mut self, value: &VerilogExpression, width: Option<usize>) {
        let result = self.scope.assigned(value, width);
        self.report(value, result);
    }

    fn exact(&mut self, value: &VerilogExpression) {
        let result = self.scope.exact(value);
        self.report(value, result);
    }

    fn report(&mut self, expression: &VerilogExpression, result: Result<(), String>) {
        if let Err(reason) = result {
            self.violations.push(Violation {
                block: self.path.to_owned(),
                expression: expression::text(expression),
                reason,
            });
        }
    }
}
