//! The C++ between a verilated class and Rust: a few functions with a C interface.
//!
//! Facts about Verilator that are hard-coded here: ports are members of the class named like the port, `$`
//! written `__024` and a second underscore in a row `__05F`; a port of up to 8, 16, 32, 64 bits is an unsigned
//! integer of that size, a wider one an array of 32-bit words, least significant first. A name that is a
//! word of C++ to Verilator (`interrupt` is one) gets the prefix `__SYM__`.

use crate::header::{Direction, PortDeclaration};
use std::fmt::Write;

/// Part of a build's identity: raise it when the text below changes.
pub(crate) const SHIM_VERSION: u32 = 3;

/// The C++ name of a port in the class that `class` declares.
fn member(name: &str, class: &str) -> String {
    let name = name.replace("__", "___05F").replace('$', "__024");
    if class.contains(&format!("(&__SYM__{name},")) {
        format!("__SYM__{name}")
    } else {
        name
    }
}

/// The shim for class `Vmodel`, declared in the header text `class`, with these ports.
pub(crate) fn text(ports: &[PortDeclaration], class: &str, trace: bool) -> String {
    let mut table = String::new();
    for port in ports {
        let direction = u32::from(port.direction == Direction::Output);
        writeln!(
            table,
            "    *table++ = {{\"{}\", {}, {direction}, (void*)&it->model.{}}};",
            port.name,
            port.width,
            member(&port.name, class)
        )
        .expect("a String takes any text");
    }
    let has_clock = ports
        .iter()
        .any(|port| port.name == "clock" && port.direction == Direction::Input);
    let (rise, fall) = if has_clock {
        ("it->model.clock = 1;", "it->model.clock = 0;")
    } else {
        ("", "")
    };
    let trace_text = if trace { TRACE } else { NO_TRACE };
    let early = !trace;
    format!("{HEAD}{}{BODY}", trace_text)
        .replace("@COUNT@", &ports.len().to_string())
        .replace("@TABLE@", &table)
        .replace("@RISE@", rise)
        .replace("@FALL@", fall)
        .replace("@EARLY@", &early.to_string())
}

const HEAD: &str = r#"#include "Vmodel.h"
#include "verilated.h"
#include <cstdint>
#include <memory>
#define API extern "C" __attribute__((visibility("default")))
struct PortEntry { const char* name; uint32_t width; uint32_t direction; void* data; };
"#;

const NO_TRACE: &str = r#"
struct Instance {
    VerilatedContext context;
    Vmodel model{&context};
    /// The model has been evaluated with the clock low since the last edge.
    bool low = false;
    void step() { model.eval(); }
    int open(const char*) { return 0; }
};
"#;

const TRACE: &str = r#"#include "verilated_vcd_c.h"
static VerilatedContext* tracing(VerilatedContext* context) { context->traceEverOn(true); return context; }
struct Instance {
    VerilatedContext context;
    Vmodel model{tracing(&context)};
    bool low = false;
    std::unique_ptr<VerilatedVcdC> file;
    uint64_t time = 0;
    void step() { model.eval(); if (file) file->dump(time++); }
    int open(const char* path) {
        file = std::make_unique<VerilatedVcdC>();
        model.trace(file.get(), 99);
        file->open(path);
        return file->isOpen();
    }
    ~Instance() { if (file) file->close(); }
};
"#;

const BODY: &str = r#"
API Instance* osprey_new() { return new Instance; }
API void osprey_free(Instance* it) { it->model.final(); delete it; }
// The clock falls with the first evaluation behind a cycle, so that a bench that looks at outputs before each edge
// evaluates twice a cycle and not three times. A trace shows both halves of each cycle instead.
API void osprey_eval(Instance* it) { it->model.eval(); it->low = @EARLY@; }
API void osprey_cycle(Instance* it) {
    if (!it->low) { @FALL@ it->step(); }
    @RISE@ it->step();
    if (@EARLY@) { @FALL@ }
    it->low = false;
}
API int osprey_trace(Instance* it, const char* path) { return it->open(path); }
API uint32_t osprey_port_count() { return @COUNT@; }
API void osprey_ports(Instance* it, PortEntry* table) {
@TABLE@}
"#;

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_written_as_verilator_writes_them() {
        assert_eq!(super::member("rx$data", ""), "rx__024data");
        assert_eq!(super::member("a__b", ""), "a___05Fb");
        let class = "VL_OUT8(&__SYM__interrupt,0,0);";
        assert_eq!(super::member("interrupt", class), "__SYM__interrupt");
    }
}
