//! BARs of a PCI function, mapped from its sysfs resource files. All volatile access is here.

use super::Bar;
use memmap2::{MmapOptions, MmapRaw};
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::atomic::{Ordering, fence};

/// Address bit that selects BAR2.
const BAR2_BIT: u32 = 1 << 24;

/// Why a resource file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MapError {
    /// The file cannot be opened for reading and writing.
    #[error("cannot open {path}: {source}; the function's resource files are for its owner")]
    Open {
        /// The resource file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file cannot be mapped.
    #[error(
        "cannot map {path}: {source}; a kernel with strict device memory refuses while a driver holds it"
    )]
    Map {
        /// The resource file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The resource has no bytes: the device is not there, or was not scanned again after it was loaded.
    #[error("{path} is empty: rescan the bus from the bridge above the device, or reboot")]
    Empty {
        /// The resource file.
        path: PathBuf,
    },
}

/// BAR0 and BAR2 of a PCI function.
#[derive(Debug)]
pub struct MappedBar {
    registers: MmapRaw,
    doorbells: MmapRaw,
}

impl MappedBar {
    /// Maps `resource0` and `resource2` in the function's sysfs directory.
    pub fn open(function: &Path) -> Result<Self, MapError> {
        Ok(Self {
            registers: map(&function.join("resource0"))?,
            doorbells: map(&function.join("resource2"))?,
        })
    }

    /// Where a register is mapped.
    ///
    /// # Panics
    /// Outside the BAR or unaligned: an error of this library.
    fn pointer(&self, offset: u32) -> *mut u32 {
        let bar = if offset & BAR2_BIT == 0 {
            &self.registers
        } else {
            &self.doorbells
        };
        let at = (offset & !BAR2_BIT) as usize;
        assert!(
            at.is_multiple_of(4) && at + 4 <= bar.len(),
            "register {offset:#x} outside its BAR of {} bytes",
            bar.len()
        );
        bar.as_mut_ptr().wrapping_add(at).cast()
    }
}

fn map(path: &Path) -> Result<MmapRaw, MapError> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .map_err(|source| MapError::Open {
            path: path.into(),
            source,
        })?;
    let length = file.metadata().map(|data| data.len()).unwrap_or(0);
    if length == 0 {
        return Err(MapError::Empty { path: path.into() });
    }
    MmapOptions::new()
        .map_raw(&file)
        .map_err(|source| MapError::Map {
            path: path.into(),
            source,
        })
}

impl Bar for MappedBar {
    fn read32(&mut self, offset: u32) -> u32 {
        // SAFETY: `pointer` checked alignment and bounds inside a live mapping, which `self` owns; no Rust
        // reference to the mapping exists.
        u32::from_le(unsafe { self.pointer(offset).read_volatile() })
    }

    fn write32(&mut self, offset: u32, value: u32) {
        // Earlier writes to DMA memory must be visible before a doorbell.
        fence(Ordering::SeqCst);
        // SAFETY: as in `read32`; `&mut self` excludes other accesses through this mapping.
        unsafe { self.pointer(offset).write_volatile(value.to_le()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(bar0: usize, bar2: usize) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("osprey-bar-{}-{bar0}-{bar2}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("resource0"), vec![0; bar0]).unwrap();
        std::fs::write(path.join("resource2"), vec![0; bar2]).unwrap();
        path
    }

    #[test]
    fn registers_and_doorbells_go_to_their_bars() {
        let path = function(4096, 8192);
        let mut bar = MappedBar::open(&path).unwrap();
        bar.write32(0x40, 0x1234_5678);
        bar.write32(0x0100_1008, 9);
        assert_eq!(
            (
                bar.read32(0x40),
                bar.read32(0x0100_1008),
                bar.read32(0x0100_0008)
            ),
            (0x1234_5678, 9, 0)
        );
        drop(bar);
        assert_eq!(
            std::fs::read(path.join("resource0")).unwrap()[0x40..0x44],
            [0x78, 0x56, 0x34, 0x12]
        );
        std::fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn field_case_43_an_empty_resource_names_the_remedy() {
        let path = function(0, 0);
        let error = MappedBar::open(&path).unwrap_err().to_string();
        assert!(error.contains("rescan"), "{error}");
        std::fs::remove_dir_all(&path).unwrap();
        assert!(matches!(MappedBar::open(&path), Err(MapError::Open { .. })));
    }
}
