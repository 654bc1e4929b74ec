//! A running model and the text it comes from.

use crate::port::{Handle, Port};
use crate::{BuildError, Direction, build, registered};
use libloading::Library;
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::rc::Rc;

/// Verilog text and what to make of it.
#[derive(Clone, Debug)]
pub struct Source {
    top: String,
    text: String,
    trace: bool,
}

impl Source {
    /// Module `top` of `text`; text may hold other modules.
    pub fn new(top: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            top: top.into(),
            text: text.into(),
            trace: false,
        }
    }

    /// The same, built so that [`Model::trace`] can write waveforms. Runs much more slowly.
    #[must_use]
    pub fn with_trace(self) -> Self {
        Self {
            trace: true,
            ..self
        }
    }

    /// The same with a register before every input but `clock` and `reset`: inputs change with the clock, like all state, and
    /// the model works out a cycle once. Without, what hangs on inputs is worked out when they change and again behind the edge.
    pub fn with_registered_inputs(self) -> Result<Self, BuildError> {
        let (top, text) = registered::wrap(&self.top, &self.text)?;
        Ok(Self { top, text, ..self })
    }

    /// The module that becomes the model.
    pub fn top(&self) -> &str {
        &self.top
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn has_trace(&self) -> bool {
        self.trace
    }
}

type Instance = *mut c_void;

#[repr(C)]
#[derive(Clone, Copy)]
struct PortEntry {
    name: *const c_char,
    width: u32,
    direction: u32,
    data: *mut c_void,
}

/// The loaded library with one instance in it. Ports keep it alive.
pub(crate) struct Loaded {
    instance: Instance,
    eval: unsafe extern "C" fn(Instance),
    cycle: unsafe extern "C" fn(Instance),
    trace: unsafe extern "C" fn(Instance, *const c_char) -> c_int,
    free: unsafe extern "C" fn(Instance),
    _library: Library,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: the instance came from this library's `osprey_new` and is freed only here.
        unsafe { (self.free)(self.instance) }
    }
}

/// One instance of a verilated module. Everything starts at zero.
pub struct Model {
    loaded: Rc<Loaded>,
    ports: HashMap<String, Port>,
    top: String,
    has_trace: bool,
    cycles: Cell<u64>,
}

impl Model {
    /// Builds `source`, or finds it built, and makes an instance.
    pub fn build(source: &Source) -> Result<Self, BuildError> {
        let path = build::library(source)?;
        // SAFETY: the library was made by this crate; it has no initialiser besides C++ statics.
        unsafe { Self::load(source, &path) }.map_err(|error| BuildError::Load {
            path,
            source: error,
        })
    }

    /// # Safety
    /// `path` must be a library with the shim of this crate.
    unsafe fn load(source: &Source, path: &Path) -> Result<Self, libloading::Error> {
        // SAFETY: the caller vouches for the library, the shim for the signatures of its functions.
        unsafe {
            let library = Library::new(path)?;
            let new: unsafe extern "C" fn() -> Instance = *library.get(b"osprey_new\0")?;
            let count: unsafe extern "C" fn() -> u32 = *library.get(b"osprey_port_count\0")?;
            let list: unsafe extern "C" fn(Instance, *mut PortEntry) =
                *library.get(b"osprey_ports\0")?;
            let instance = new();
            let loaded = Rc::new(Loaded {
                instance,
                eval: *library.get(b"osprey_eval\0")?,
                cycle: *library.get(b"osprey_cycle\0")?,
                trace: *library.get(b"osprey_trace\0")?,
                free: *library.get(b"osprey_free\0")?,
                _library: library,
            });
            let blank = PortEntry {
                name: std::ptr::null(),
                width: 0,
                direction: 0,
                data: std::ptr::null_mut(),
            };
            let mut entries = vec![blank; count() as usize];
            list(instance, entries.as_mut_ptr());
            let ports = entries.iter().map(|entry| {
                let name = CStr::from_ptr(entry.name).to_string_lossy().into_owned();
                let direction = if entry.direction == 0 {
                    Direction::Input
                } else {
                    Direction::Output
                };
                let handle = Handle {
                    data: entry.data.cast(),
                    width: entry.width as usize,
                    direction,
                };
                (name.clone(), Port::new(name, handle, loaded.clone()))
            });
            let ports = ports.collect();
            Ok(Self {
                loaded,
                ports,
                top: source.top().to_owned(),
                has_trace: source.has_trace(),
                cycles: Cell::new(0),
            })
        }
    }

    /// The input of this name.
    ///
    /// # Panics
    /// When there is none: the message lists the ports.
    pub fn input(&self, name: &str) -> Port {
        self.find(name, Direction::Input)
    }

    /// The output of this name.
    ///
    /// # Panics
    /// When there is none: the message lists the ports.
    pub fn output(&self, name: &str) -> Port {
        self.find(name, Direction::Output)
    }

    /// The port of this name, if there is one, whichever way it goes.
    pub fn port(&self, name: &str) -> Option<Port> {
        self.ports.get(name).cloned()
    }

    fn find(&self, name: &str, direction: Direction) -> Port {
        match self.ports.get(name) {
            Some(port) if port.direction() == direction => port.clone(),
            _ => panic!(
                "{}: no {direction:?} called `{name}`; ports are: {}",
                self.top,
                self.port_list()
            ),
        }
    }

    fn port_list(&self) -> String {
        let mut list: Vec<_> = self
            .ports
            .values()
            .map(|port| {
                format!(
                    "{} ({:?}, {} bits)",
                    port.name(),
                    port.direction(),
                    port.width()
                )
            })
            .collect();
        list.sort();
        list.join(", ")
    }

    /// Lets the outputs follow the inputs.
    pub fn eval(&self) {
        // SAFETY: the instance lives as long as `loaded`.
        unsafe { (self.loaded.eval)(self.loaded.instance) }
    }

    /// One clock cycle: `clock` falls, outputs settle, `clock` rises, outputs settle.
    ///
    /// Combinational outputs that depend on inputs are to be read after [`Model::eval`] and before this.
    pub fn cycle(&self) {
        self.cycles.set(self.cycles.get() + 1);
        // SAFETY: as in `eval`.
        unsafe { (self.loaded.cycle)(self.loaded.instance) }
    }

    /// Cycles since the instance was made.
    pub fn cycles(&self) -> u64 {
        self.cycles.get()
    }

    /// Holds input `reset` at 1 for a few cycles.
    pub fn reset(&self) {
        let reset = self.input("reset");
        reset.set(1);
        (0..4).for_each(|_| self.cycle());
        reset.set(0);
        self.eval();
    }

    /// From now on each half cycle goes to a VCD file.
    ///
    /// # Panics
    /// When the source was not made with [`Source::with_trace`], or the file cannot be written.
    pub fn trace(&self, path: &Path) {
        assert!(
            self.has_trace,
            "{}: the model was built without trace; use Source::with_trace",
            self.top
        );
        let text =
            CString::new(path.to_string_lossy().as_bytes()).expect("a path has no zero byte");
        // SAFETY: as in `eval`; the text outlives the call.
        let opened = unsafe { (self.loaded.trace)(self.loaded.instance, text.as_ptr()) };
        assert!(
            opened != 0,
            "{}: cannot write the trace {}",
            self.top,
            path.display()
        );
    }
}
