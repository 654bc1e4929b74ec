//! Why a received frame was dropped: one number for each reason, one counter for each number.
//!
//! Of several reasons the one with the lowest code is reported.

macro_rules! reasons {
    ($($(#[$meta:meta])* $name:ident = $code:literal),* $(,)?) => {
        /// A reason to drop a received frame; 5 bits in hardware, 0 is none.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum DropReason { $($(#[$meta])* $name = $code),* }

        impl DropReason {
            /// All reasons, by code.
            pub const ALL: &'static [DropReason] = &[$(DropReason::$name),*];

            /// The code in hardware.
            pub const fn code(self) -> u8 {
                self as u8
            }
        }
    };
}

reasons! {
    /// The MAC found an error, or the frame was longer than any that we take.
    Mac = 1,
    /// Destination MAC is neither the plane's own nor broadcast.
    MacAddress = 2,
    /// Neither IPv4 nor IPv6 behind at most two VLAN tags.
    EtherType = 3,
    /// IP version or header length is wrong.
    IpHeader = 4,
    /// The IPv4 header checksum is wrong.
    IpChecksum = 5,
    /// An IPv4 fragment.
    Fragment = 6,
    /// IPv6 with an extension header.
    ExtensionHeader = 7,
    /// Not UDP.
    Protocol = 8,
    /// The IPv4 destination is not the plane's own.
    IpAddress = 9,
    /// UDP is too short for the transport, or does not lie within IP, or IP not within the frame.
    Length = 10,
    /// Another UDP port.
    Port = 11,
    /// The CRC is wrong.
    Crc = 12,
    /// No room in the plane's frame FIFO.
    Full = 13,
    /// Longer than any frame that we take.
    Oversize = 14,
}
