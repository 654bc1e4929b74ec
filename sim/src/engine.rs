//! The verilated engine as a typed value: its buses in and out of the model's ports.
//!
//! A cycle of whoever drives it: `set_*` all inputs, [`Engine::cycle`], read the outputs. Inputs stand behind registers, so the
//! edge that begins the cycle brings them in together with the engine's new state, and the outputs that are read follow from both.

use crate::axi::{
    AxiAddress, AxiMaster, AxiSlave, AxilMasterSignals, AxilSlaveSignals, StreamBeat, Word512,
};
use osprey_verilated::{BuildError, Model, Port, Source, workspace_root};
use std::path::{Path, PathBuf};

/// Most planes that an engine has.
const PLANES_MAX: usize = 4;

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The Verilog was not emitted.
    #[error("no Verilog at {path} ({cause}): run `cargo run -p osprey-rtl --bin emit` first")]
    NotEmitted {
        /// Where it should be.
        path: PathBuf,
        /// What the system says.
        cause: std::io::Error,
    },
    /// The Verilog could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// The emitted Verilog of a configuration (`edge`, `lab`), built with or without waveforms.
pub fn source(configuration: &str, trace: bool) -> Result<Source, EngineError> {
    let name = format!("osprey_engine_{configuration}");
    let path = workspace_root()
        .join("target/emit")
        .join(format!("{name}.v"));
    let text =
        std::fs::read_to_string(&path).map_err(|cause| EngineError::NotEmitted { path, cause })?;
    let source = Source::new(name, text);
    Ok(if trace { source.with_trace() } else { source })
}

struct StreamPorts {
    data: Port,
    keep: Port,
    last: Port,
    valid: Port,
    /// `tuser` of a receive stream, `tready` of a transmit stream.
    extra: Port,
}

struct AxilPorts {
    awaddr: Port,
    awvalid: Port,
    awready: Port,
    wdata: Port,
    wvalid: Port,
    wready: Port,
    bresp: Port,
    bvalid: Port,
    bready: Port,
    araddr: Port,
    arvalid: Port,
    arready: Port,
    rdata: Port,
    rresp: Port,
    rvalid: Port,
    rready: Port,
}

struct AxiPorts {
    aw: [Port; 3],
    awready: Port,
    wdata: Port,
    wstrb: Port,
    wlast: Port,
    wvalid: Port,
    wready: Port,
    bresp: Port,
    bvalid: Port,
    bready: Port,
    ar: [Port; 3],
    arready: Port,
    rdata: Port,
    rresp: Port,
    rlast: Port,
    rvalid: Port,
    rready: Port,
}

/// One running engine.
pub struct Engine {
    model: Model,
    axil: AxilPorts,
    axi: AxiPorts,
    receive: Vec<StreamPorts>,
    transmit: Vec<StreamPorts>,
    link_up: Port,
    interrupt: Port,
}

impl Engine {
    /// An instance of `source`, with its inputs behind registers, held in reset for a few cycles.
    ///
    /// # Panics
    /// When the module lacks a port of the contract: the message lists those that it has.
    pub fn new(source: &Source) -> Result<Self, EngineError> {
        let model = Model::build(&source.clone().with_registered_inputs()?)?;
        let planes = (0..PLANES_MAX)
            .take_while(|p| model.port(&format!("rx{p}_tvalid")).is_some())
            .count();
        let engine = Self {
            axil: axil_ports(&model),
            axi: axi_ports(&model),
            receive: (0..planes)
                .map(|p| stream_ports(&model, &format!("rx{p}"), true))
                .collect(),
            transmit: (0..planes)
                .map(|p| stream_ports(&model, &format!("tx{p}"), false))
                .collect(),
            link_up: model.input("link_up"),
            interrupt: model.output("completion_interrupt"),
            model,
        };
        engine.axil_strobes();
        engine.model.reset();
        Ok(engine)
    }

    /// Accesses are always whole words.
    fn axil_strobes(&self) {
        self.model.input("s_axil_wstrb").set(15_u32);
    }

    /// Planes of the engine.
    pub fn planes(&self) -> usize {
        self.receive.len()
    }

    /// Writes waveforms from now on; the source must have been made for it.
    pub fn trace(&self, path: &Path) {
        self.model.trace(path);
    }

    /// The next cycle begins, with the inputs that were set.
    pub fn cycle(&self) {
        self.model.cycle();
    }

    /// Whether the interrupt output is set.
    pub fn interrupt(&self) -> bool {
        self.interrupt.is_set()
    }

    /// Link state of the planes, plane 0 in bit 0.
    pub fn set_link_up(&self, mask: u32) {
        self.link_up.set(mask);
    }

    /// Drives AXI-Lite.
    pub fn set_axil(&self, s: &AxilMasterSignals) {
        let p = &self.axil;
        p.awaddr.set(s.awaddr);
        p.awvalid.set(s.awvalid);
        p.wdata.set(s.wdata);
        p.wvalid.set(s.wvalid);
        p.bready.set(s.bready);
        p.araddr.set(s.araddr);
        p.arvalid.set(s.arvalid);
        p.rready.set(s.rready);
    }

    /// What the engine drives on AXI-Lite.
    pub fn axil(&self) -> AxilSlaveSignals {
        let p = &self.axil;
        AxilSlaveSignals {
            awready: p.awready.is_set(),
            wready: p.wready.is_set(),
            bvalid: p.bvalid.is_set(),
            bresp: p.bresp.get() as u8,
            arready: p.arready.is_set(),
            rvalid: p.rvalid.is_set(),
            rdata: p.rdata.get() as u32,
            rresp: p.rresp.get() as u8,
        }
    }

    /// Drives the memory's side of AXI.
    pub fn set_axi(&self, s: &AxiSlave) {
        let p = &self.axi;
        p.awready.set(s.awready);
        p.wready.set(s.wready);
        p.bvalid.set(s.bvalid);
        p.bresp.set(s.bresp);
        p.arready.set(s.arready);
        p.rvalid.set(s.rvalid);
        if s.rvalid {
            p.rdata.set_words(&s.rdata);
            p.rresp.set(s.rresp);
            p.rlast.set(s.rlast);
        }
    }

    /// What the engine drives on AXI; data is read only when it is valid.
    pub fn axi(&self) -> AxiMaster {
        let p = &self.axi;
        let wvalid = p.wvalid.is_set();
        AxiMaster {
            aw: address(&p.aw),
            wdata: if wvalid { wide(&p.wdata) } else { [0; 16] },
            wstrb: if wvalid { p.wstrb.get() } else { 0 },
            wlast: wvalid && p.wlast.is_set(),
            wvalid,
            bready: p.bready.is_set(),
            ar: address(&p.ar),
            rready: p.rready.is_set(),
        }
    }

    /// Drives a receive stream.
    pub fn set_receive(&self, plane: usize, beat: &StreamBeat) {
        let p = &self.receive[plane];
        p.valid.set(beat.valid);
        if beat.valid {
            p.data.set_words(&beat.data);
            p.keep.set(beat.keep);
            p.last.set(beat.last);
            p.extra.set(beat.user);
        }
    }

    /// Drives the ready of a transmit stream.
    pub fn set_transmit_ready(&self, plane: usize, ready: bool) {
        self.transmit[plane].extra.set(ready);
    }

    /// What the engine drives on a transmit stream.
    pub fn transmit(&self, plane: usize) -> StreamBeat {
        let p = &self.transmit[plane];
        if !p.valid.is_set() {
            return StreamBeat::default();
        }
        StreamBeat {
            data: wide(&p.data),
            keep: p.keep.get(),
            last: p.last.is_set(),
            user: false,
            valid: true,
        }
    }
}

fn wide(port: &Port) -> Word512 {
    let mut words = [0; 16];
    port.read_into(&mut words);
    words
}

fn address([address, len, valid]: &[Port; 3]) -> AxiAddress {
    match valid.is_set() {
        true => AxiAddress {
            address: address.get(),
            len: len.get() as u8,
            valid: true,
        },
        false => AxiAddress::default(),
    }
}

fn stream_ports(model: &Model, prefix: &str, receive: bool) -> StreamPorts {
    let port = |name: &str| match receive {
        true => model.input(&format!("{prefix}_{name}")),
        false => model.output(&format!("{prefix}_{name}")),
    };
    StreamPorts {
        data: port("tdata"),
        keep: port("tkeep"),
        last: port("tlast"),
        valid: port("tvalid"),
        extra: if receive {
            port("tuser")
        } else {
            model.input(&format!("{prefix}_tready"))
        },
    }
}

fn axil_ports(model: &Model) -> AxilPorts {
    let input = |name: &str| model.input(&format!("s_axil_{name}"));
    let output = |name: &str| model.output(&format!("s_axil_{name}"));
    AxilPorts {
        awaddr: input("awaddr"),
        awvalid: input("awvalid"),
        awready: output("awready"),
        wdata: input("wdata"),
        wvalid: input("wvalid"),
        wready: output("wready"),
        bresp: output("bresp"),
        bvalid: output("bvalid"),
        bready: input("bready"),
        araddr: input("araddr"),
        arvalid: input("arvalid"),
        arready: output("arready"),
        rdata: output("rdata"),
        rresp: output("rresp"),
        rvalid: output("rvalid"),
        rready: input("rready"),
    }
}

fn axi_ports(model: &Model) -> AxiPorts {
    let input = |name: &str| model.input(&format!("m_axi_{name}"));
    let output = |name: &str| model.output(&format!("m_axi_{name}"));
    AxiPorts {
        aw: [output("awaddr"), output("awlen"), output("awvalid")],
        awready: input("awready"),
        wdata: output("wdata"),
        wstrb: output("wstrb"),
        wlast: output("wlast"),
        wvalid: output("wvalid"),
        wready: input("wready"),
        bresp: input("bresp"),
        bvalid: input("bvalid"),
        bready: output("bready"),
        ar: [output("araddr"), output("arlen"), output("arvalid")],
        arready: input("arready"),
        rdata: input("rdata"),
        rresp: input("rresp"),
        rlast: input("rlast"),
        rvalid: input("rvalid"),
        rready: output("rready"),
    }
}
