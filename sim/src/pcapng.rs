//! Capture of all frames into a pcapng file: one interface a port, stamps in nanoseconds.

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, PcapError};
use std::borrow::Cow;
use std::io::Write;
use std::time::Duration;

/// Which way a frame passes a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Direction {
    /// Into the engine.
    In = 1,
    /// Out of the engine.
    Out = 2,
}

/// Writes a capture. The first error ends it and is reported by [`Capture::finish`].
pub struct Capture {
    writer: PcapNgWriter<Box<dyn Write>>,
    failed: Option<PcapError>,
    frames: u64,
}

impl Capture {
    /// A capture of ports with these names.
    pub fn new(output: Box<dyn Write>, ports: &[String]) -> Result<Self, PcapError> {
        let mut writer = PcapNgWriter::new(output)?;
        for port in ports {
            writer.write_pcapng_block(InterfaceDescriptionBlock {
                linktype: DataLink::ETHERNET,
                snaplen: 0,
                options: vec![
                    InterfaceDescriptionOption::IfName(Cow::Borrowed(port)),
                    InterfaceDescriptionOption::IfTsResol(9),
                ],
            })?;
        }
        Ok(Self {
            writer,
            failed: None,
            frames: 0,
        })
    }

    /// A frame passes port number `port` at `time_ns`.
    pub fn record(&mut self, port: usize, direction: Direction, time_ns: u64, frame: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        let block = EnhancedPacketBlock {
            interface_id: port as u32,
            timestamp: Duration::from_nanos(time_ns),
            original_len: frame.len() as u32,
            data: Cow::Borrowed(frame),
            options: vec![EnhancedPacketOption::Flags(direction as u32)],
        };
        match self.writer.write_pcapng_block(block) {
            Ok(_) => self.frames += 1,
            Err(error) => self.failed = Some(error),
        }
    }

    /// Ends the capture; how many frames it holds.
    pub fn finish(mut self) -> Result<u64, PcapError> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => {
                self.writer.get_mut().flush().map_err(PcapError::IoError)?;
                Ok(self.frames)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_file::pcapng::{Block, PcapNgReader};
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn frames_are_read_back_with_port_stamp_and_direction() {
        let shared = Shared::default();
        let ports = ["a0".to_owned(), "b0".to_owned()];
        let mut capture = Capture::new(Box::new(shared.clone()), &ports).unwrap();
        capture.record(0, Direction::Out, 5_000_000_004, &[1; 61]);
        capture.record(1, Direction::In, 5_000_000_008, &[2; 62]);
        assert_eq!(capture.finish().unwrap(), 2);
        let bytes = shared.0.lock().unwrap().clone();
        let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
        let mut found = Vec::new();
        while let Some(block) = reader.next_block() {
            if let Block::EnhancedPacket(packet) = block.unwrap() {
                found.push((
                    packet.interface_id,
                    packet.timestamp.as_nanos() as u64,
                    packet.data.len(),
                ));
            }
        }
        assert_eq!(found, [(0, 5_000_000_004, 61), (1, 5_000_000_008, 62)]);
        assert_eq!(reader.interfaces().len(), 2);
    }
}
