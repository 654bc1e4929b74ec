//! What an expression is worth in Verilog, compared with Rust.
//!
//! In Rust each value has its own width. In Verilog an operand is widened to its context before the operation, so
//! what a value is worth above its Rust width matters. A value is *exact* when those bits are zero in every context
//! (a signal, a slice, a comparison, a masked sum), else only its low bits count (`a + 1`, `!a`, `a << 1`): such a value
//! may be assigned, added to, narrowed, or masked by an exact one, and nothing else.

use rust_hdl::core::ast::{
    VerilogExpression as Expression, VerilogOp as Op, VerilogOpUnary as Unary,
};
use rust_hdl::prelude::VerilogLiteral;
use std::collections::BTreeMap;

type Checked<T> = Result<T, String>;

/// A value: its width in Rust, its width when Verilog evaluates it alone, and whether it is exact.
#[derive(Clone, Copy, Debug)]
struct Value {
    /// Not known for literals, loop indices and enumeration constants, which take the width of their context.
    width: Option<usize>,
    alone: usize,
    exact: bool,
}

impl Value {
    fn signal(width: usize) -> Self {
        Self {
            width: Some(width),
            alone: width,
            exact: true,
        }
    }

    /// Evaluated in a context of its own, is it right?
    fn right_alone(self) -> bool {
        self.exact || self.width == Some(self.alone)
    }
}

/// The names that a module knows.
pub(super) struct Scope<'a> {
    widths: &'a BTreeMap<String, usize>,
    loops: Vec<String>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(widths: &'a BTreeMap<String, usize>) -> Self {
        Self {
            widths,
            loops: Vec::new(),
        }
    }

    pub(super) fn enter_loop(&mut self, index: &str) {
        self.loops.push(index.to_owned());
    }

    pub(super) fn leave_loop(&mut self) {
        self.loops.pop();
    }

    /// The width of what is assigned to, if it is a known signal.
    pub(super) fn width(&self, target: &Expression) -> Option<usize> {
        match target {
            Expression::Signal(name) => self.named(name).and_then(|value| value.width),
            _ => None,
        }
    }

    /// May `value` be assigned to a signal of this width? The assignment drops what is above.
    pub(super) fn assigned(&self, value: &Expression, width: Option<usize>) -> Checked<()> {
        self.value(value)?;
        self.literal_fits(value, width)
    }

    /// Is the expression a fine condition?
    pub(super) fn condition(&self, test: &Expression) -> Checked<()> {
        if self.value(test)?.right_alone() {
            Ok(())
        } else {
            Err("a condition is evaluated at more bits than it has in Rust".into())
        }
    }

    /// Is the expression exact?
    pub(super) fn exact(&self, value: &Expression) -> Checked<()> {
        if self.value(value)?.exact {
            Ok(())
        } else {
            Err(format!("`{}` is not masked to its width here", text(value)))
        }
    }

    fn named(&self, name: &str) -> Option<Value> {
        let name = plain_name(name);
        if self.loops.contains(&name) {
            return Some(Value {
                width: None,
                alone: 32,
                exact: true,
            });
        }
        self.widths.get(&name).map(|&width| Value::signal(width))
    }

    /// Known when the loops are unrolled: Rust counts it in `usize`, Verilog in 32 bits.
    fn constant(&self, expression: &Expression) -> bool {
        match expression {
            Expression::Signal(name) => self.loops.contains(&plain_name(name)),
            Expression::Literal(_) => true,
            Expression::Paren(inner) => self.constant(inner),
            Expression::Binary(left, _, right) => self.constant(left) && self.constant(right),
            _ => false,
        }
    }

    fn value(&self, expression: &Expression) -> Checked<Value> {
        match expression {
            // An enumeration constant is a 32-bit number.
            Expression::Signal(name) => Ok(self.named(name).unwrap_or(Value {
                width: None,
                alone: 32,
                exact: true,
            })),
            Expression::Literal(_) => Ok(Value {
                width: None,
                alone: 32,
                exact: true,
            }),
            Expression::Paren(inner) => self.value(inner),
            Expression::Cast(inner, width) => self.cast(inner, *width),
            Expression::Unary(op, inner) => self.unary(op, inner),
            Expression::Binary(left, op, right) => self.binary(left, op, right),
            Expression::Slice(inner, width, offset) => self.part(inner, *width, offset),
            Expression::Index(inner, offset) => self.part(inner, 1, offset),
            Expression::IndexReplace(inner, index, bit) => {
                if matches!(**inner, Expression::Binary(..)) {
                    return Err("replace_bit on a bare expression: parenthesise it".into());
                }
                self.exact(index)?;
                self.exact(bit)?;
                self.value(inner)
            }
            Expression::Signed(_) | Expression::Unsigned(_) => {
                Err("signed values are not covered by this check: do not use them".into())
            }
        }
    }

    fn part(&self, inner: &Expression, width: usize, offset: &Expression) -> Checked<Value> {
        if !matches!(inner, Expression::Signal(_)) {
            return Err(format!(
                "a slice of `{}`, which is not a plain signal",
                text(inner)
            ));
        }
        self.exact(offset)?;
        Ok(Value::signal(width))
    }

    fn cast(&self, inner: &Expression, width: usize) -> Checked<Value> {
        let value = self.value(inner)?;
        let widens = value.width.is_some_and(|from| from < width);
        if widens && !value.exact {
            return Err(format!(
                "`{}` is widened before it is cut to its own width",
                text(inner)
            ));
        }
        self.literal_fits(inner, Some(width))?;
        Ok(Value {
            width: Some(width),
            alone: value.alone.max(width),
            exact: true,
        })
    }

    fn unary(&self, op: &Unary, inner: &Expression) -> Checked<Value> {
        let value = self.value(inner)?;
        match op {
            Unary::Not | Unary::Neg => Ok(Value {
                exact: false,
                ..value
            }),
            Unary::Any | Unary::Xor if value.right_alone() => Ok(Value::signal(1)),
            Unary::All if value.width == Some(value.alone) => Ok(Value::signal(1)),
            _ => Err(format!(
                "reduction of `{}` at another width than in Rust",
                text(inner)
            )),
        }
    }

    fn binary(&self, left: &Expression, op: &Op, right: &Expression) -> Checked<Value> {
        grouped_alike(left, op, right)?;
        if self.constant(left) && self.constant(right) && matches!(op, Op::Add | Op::Sub | Op::Mul)
        {
            return Ok(Value {
                width: None,
                alone: 32,
                exact: true,
            });
        }
        let (first, second) = (self.value(left)?, self.value(right)?);
        let width = first.width.or(second.width);
        let alone = first.alone.max(second.alone);
        if !matches!(op, Op::Shl | Op::Shr | Op::LogicalAnd | Op::LogicalOr) {
            self.literal_fits(left, second.width)?;
            self.literal_fits(right, first.width)?;
        }
        match op {
            // Of literals and loop indices only: a number that is known when the Verilog is read.
            Op::Add | Op::Sub | Op::Mul if width.is_none() => Ok(Value {
                width,
                alone,
                exact: true,
            }),
            Op::Add | Op::Sub => Ok(Value {
                width,
                alone,
                exact: false,
            }),
            Op::Mul => Err("multiplication".into()),
            Op::BitAnd => Ok(Value {
                width,
                alone,
                exact: first.exact || second.exact,
            }),
            Op::BitOr | Op::BitXor => Ok(Value {
                width,
                alone,
                exact: first.exact && second.exact,
            }),
            Op::LogicalAnd | Op::LogicalOr => {
                self.condition(left)?;
                self.condition(right)?;
                Ok(Value::signal(1))
            }
            Op::Shl => {
                self.exact(right)?;
                Ok(Value {
                    exact: false,
                    ..first
                })
            }
            Op::Shr => {
                self.exact(left)?;
                self.exact(right)?;
                Ok(first)
            }
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => {
                self.exact(left)?;
                self.exact(right)?;
                Ok(Value::signal(1))
            }
        }
    }

    fn literal_fits(&self, expression: &Expression, width: Option<usize>) -> Checked<()> {
        match (expression, width) {
            (Expression::Literal(literal), Some(width)) if bits_of(literal) > width => {
                Err(format!("{literal} does not fit in {width} bits"))
            }
            (Expression::Paren(inner), _) => self.literal_fits(inner, width),
            _ => Ok(()),
        }
    }
}

/// The name that declarations use: `$` between parts, element 0 for every element of an array.
fn plain_name(name: &str) -> String {
    let name = name
        .trim_start_matches('.')
        .replace("::", "$")
        .replace('.', "$");
    let name = name.strip_suffix("$next").unwrap_or(&name);
    match (name.find('['), name.rfind(']')) {
        (Some(open), Some(close)) => format!("{}$0{}", &name[..open], &name[close + 1..]),
        _ => name.to_owned(),
    }
}

fn bits_of(literal: &VerilogLiteral) -> usize {
    let text = format!("{literal:x}");
    let digits = text
        .rsplit('h')
        .next()
        .unwrap_or("")
        .trim_start_matches('0');
    let Some(first) = digits.chars().next().and_then(|digit| digit.to_digit(16)) else {
        return 0;
    };
    4 * (digits.len() - 1) + (32 - first.leading_zeros() as usize)
}

/// How tightly Verilog binds.
fn rank(op: &Op) -> u32 {
    match op {
        Op::Mul => 9,
        Op::Add | Op::Sub => 8,
        Op::Shl | Op::Shr => 7,
        Op::Lt | Op::Le | Op::Gt | Op::Ge => 6,
        Op::Eq | Op::Ne => 5,
        Op::BitAnd => 4,
        Op::BitXor => 3,
        Op::BitOr => 2,
        Op::LogicalAnd => 1,
        Op::LogicalOr => 0,
    }
}

/// Without parentheses, does Verilog group the operands as Rust did?
fn grouped_alike(left: &Expression, op: &Op, right: &Expression) -> Checked<()> {
    let left_holds = !matches!(left, Expression::Binary(_, inner, _) if rank(inner) < rank(op));
    let right_holds = !matches!(right, Expression::Binary(_, inner, _) if rank(inner) <= rank(op));
    if left_holds && right_holds {
        return Ok(());
    }
    Err(format!(
        "`{} {} {}` is grouped differently in Verilog: parenthesise",
        text(left),
        symbol(op),
        text(right)
    ))
}

fn symbol(op: &Op) -> &'static str {
    match op {
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::LogicalAnd => "&&",
        Op::LogicalOr => "||",
        Op::BitXor => "^",
        Op::BitAnd => "&",
        Op::BitOr => "|",
        Op::Shl => "<<",
        Op::Shr => ">>",
        Op::Eq => "==",
        Op::Lt => "<",
        Op::Le => "<=",
        Op::Ne => "!=",
        Op::Ge => ">=",
        Op::Gt => ">",
    }
}

/// The expression as text, close to the Verilog.
pub(super) fn text(expression: &Expression) -> String {
    match expression {
        Expression::Signal(name) => name.clone(),
        Expression::Literal(literal) => format!("{literal:x}"),
        Expression::Cast(inner, width) => format!("cast::<{width}>({})", text(inner)),
        Expression::Signed(inner) => format!("$signed({})", text(inner)),
        Expression::Unsigned(inner) => format!("$unsigned({})", text(inner)),
        Expression::Paren(inner) => format!("({})", text(inner)),
        Expression::Binary(left, op, right) => {
            format!("{} {} {}", text(left), symbol(op), text(right))
        }
        Expression::Unary(op, inner) => {
            let sign = match op {
                Unary::Not => "~",
                Unary::Neg => "-",
                Unary::All => "&",
                Unary::Any => "|",
                Unary::Xor => "^",
            };
            format!("{sign}{}", text(inner))
        }
        Expression::Index(inner, index) => format!("{}[{}]", text(inner), text(index)),
        Expression::Slice(inner, width, offset) => {
            format!("{}[{} +: {width}]", text(inner), text(offset))
        }
        Expression::IndexReplace(inner, index, bit) => {
            format!(
                "{}.replace_bit({}, {})",
                text(inner),
                text(index),
                text(bit)
            )
        }
    }
}
