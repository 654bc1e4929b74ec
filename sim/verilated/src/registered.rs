//! A register before every input of a module, in Verilog.

use crate::BuildError;
use crate::header::{self, Direction, PortDeclaration};

/// Inputs that reach the module as they are.
const DIRECT: &[&str] = &["clock", "reset"];

/// `text` with a module more, which holds `top` behind the registers; and that module's name.
pub(crate) fn wrap(top: &str, text: &str) -> Result<(String, String), BuildError> {
    let ports = header::ports(text, top)?;
    let name = format!("{top}_registered");
    let list = |each: fn(&PortDeclaration) -> String, between: &str| {
        ports.iter().map(each).collect::<Vec<_>>().join(between)
    };
    let module = format!(
        "\nmodule {name}({});\n{}\n  {top} inner({});\nendmodule\n",
        list(|port| port.name.clone(), ", "),
        list(declaration, "\n"),
        list(connection, ", "),
    );
    Ok((name, text.to_owned() + &module))
}

fn is_registered(port: &PortDeclaration) -> bool {
    port.direction == Direction::Input && !DIRECT.contains(&port.name.as_str())
}

fn declaration(port: &PortDeclaration) -> String {
    let (name, top) = (&port.name, port.width - 1);
    match port.direction {
        Direction::Output => format!("  output wire [{top}:0] {name};"),
        Direction::Input if is_registered(port) => format!(
            "  input wire [{top}:0] {name};\n  reg [{top}:0] registered_{name};\n  \
             initial registered_{name} = 0;\n  always @(posedge clock) registered_{name} <= {name};"
        ),
        Direction::Input => format!("  input wire [{top}:0] {name};"),
    }
}

fn connection(port: &PortDeclaration) -> String {
    let name = &port.name;
    match is_registered(port) {
        true => format!(".{name}(registered_{name})"),
        false => format!(".{name}({name})"),
    }
}
