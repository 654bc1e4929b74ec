//! `osprey info`: identity and capabilities.

use osprey_host::bar::MappedBar;
use osprey_host::device::identify;
use std::path::PathBuf;

/// Arguments of `osprey info`.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Directory of the PCI function, such as /sys/bus/pci/devices/0000:01:00.0.
    function: PathBuf,
}

/// Prints what the engine has.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let found = identify(&mut MappedBar::open(&arguments.function)?)?;
    println!("planes            {}", found.planes);
    println!("paths a plane     {}", found.paths_per_plane);
    println!("connections       {}", found.connections);
    println!("window W          {}", found.window);
    println!("message slots     {}", found.slots);
    println!("memory keys       {}", found.keys);
    println!("pages             {}", found.pages);
    println!("data width        {} bits", u32::from(found.beat_bytes) * 8);
    Ok(())
}
