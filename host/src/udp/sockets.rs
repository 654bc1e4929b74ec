//! The sockets of one plane: one that receives, and one for each source port that the endpoint draws.
//!
//! Packets of a path wait in a batch and leave in one system call with segmentation offload; arrivals come in batches too
//! (`recvmmsg`, receive offload). Data leaves as ECN-capable; marks are read. A source port that is taken on this machine is
//! replaced by another: entropy is what counts, not the number.

use nix::sys::socket::{setsockopt, sockopt};
use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, SocketAddrV4, UdpSocket};

/// Most sockets of a plane for sending; the oldest makes room.
const SENDERS_MAX: usize = 64;
/// Most bytes of a batch: the longest datagram that the kernel takes.
const BATCH_BYTES_MAX: usize = 65_000;
/// Bytes asked of the kernel for a socket's queue; it may give less.
const QUEUE_BYTES: usize = 8 << 20;

/// A socket and what the kernel can do with it.
#[derive(Debug)]
struct Socket {
    socket: UdpSocket,
    state: UdpSocketState,
}

impl Socket {
    fn bind(address: SocketAddrV4) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        // The library asks for receive times, which nobody reads here: with them its control buffer is too short for a
        // batch's ECN bits.
        setsockopt(&socket, sockopt::ReceiveTimestampns, &false)?;
        // A smaller queue only means more losses: not an error. Past the system's limit only who administers it gets more.
        let _ = setsockopt(&socket, sockopt::RcvBufForce, &QUEUE_BYTES);
        let _ = state.set_recv_buffer_size(UdpSockRef::from(&socket), QUEUE_BYTES);
        let _ = state.set_send_buffer_size(UdpSockRef::from(&socket), QUEUE_BYTES);
        Ok(Self { socket, state })
    }

    fn send(
        &self,
        destination: SocketAddrV4,
        contents: &[u8],
        segment: usize,
        marked: bool,
    ) -> io::Result<()> {
        let transmit = Transmit {
            destination: SocketAddr::V4(destination),
            ecn: Some(if marked {
                EcnCodepoint::Ce
            } else {
                EcnCodepoint::Ect0
            }),
            contents,
            segment_size: (contents.len() > segment).then_some(segment),
            src_ip: None,
        };
        self.state
            .try_send(UdpSockRef::from(&self.socket), &transmit)
    }
}

/// A source port, and the datagrams that wait for it.
#[derive(Debug)]
struct Sender {
    entropy: u16,
    socket: Socket,
    destination: SocketAddrV4,
    /// Whether the batch bears congestion marks, as tests may ask.
    marked: bool,
    batch: Vec<u8>,
    /// Bytes of each datagram but the last of the batch.
    segment: usize,
    segments: usize,
}

impl Sender {
    /// Whether a datagram of `length` bytes to `destination` can join the batch.
    fn takes(&self, destination: SocketAddrV4, length: usize, marked: bool) -> bool {
        let full = self.batch.len() == self.segments * self.segment;
        self.segments == 0
            || (full
                && (destination, marked) == (self.destination, self.marked)
                && length <= self.segment
                && self.segments < self.socket.state.max_gso_segments()
                && self.batch.len() + length <= BATCH_BYTES_MAX)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.segments > 0 {
            self.socket
                .send(self.destination, &self.batch, self.segment, self.marked)?;
            self.batch.clear();
            self.segments = 0;
        }
        Ok(())
    }
}

/// A datagram that arrived.
#[derive(Debug, Clone, Copy)]
pub(super) struct Received<'a> {
    pub(super) source: SocketAddrV4,
    pub(super) marked: bool,
    pub(super) bytes: &'a [u8],
}

/// A plane.
#[derive(Debug)]
pub(super) struct Sockets {
    local: SocketAddrV4,
    receiver: Socket,
    senders: Vec<Sender>,
    buffers: Vec<Vec<u8>>,
    metas: Vec<RecvMeta>,
}

impl Sockets {
    /// Binds the plane's address.
    pub(super) fn bind(local: SocketAddrV4) -> io::Result<Self> {
        let receiver = Socket::bind(local)?;
        let SocketAddr::V4(local) = receiver.socket.local_addr()? else {
            return Err(io::Error::other("not an IPv4 socket"));
        };
        Ok(Self {
            local,
            receiver,
            senders: Vec::new(),
            buffers: vec![vec![0; 1 << 16]; BATCH_SIZE],
            metas: vec![RecvMeta::default(); BATCH_SIZE],
        })
    }

    /// The address that is bound.
    pub(super) fn local(&self) -> SocketAddrV4 {
        self.local
    }

    /// The receiving socket, to be waited for.
    pub(super) fn descriptor(&self) -> &UdpSocket {
        &self.receiver.socket
    }

    /// Puts a datagram into the batch of its source port; `fill` writes it. A batch that it cannot join leaves first.
    pub(super) fn queue(
        &mut self,
        (entropy, marked): (u16, bool),
        destination: SocketAddrV4,
        length: usize,
        fill: impl FnOnce(&mut Vec<u8>, SocketAddrV4),
    ) -> io::Result<()> {
        let index = self.sender(entropy)?;
        let local = self.local;
        let sender = &mut self.senders[index];
        if !sender.takes(destination, length, marked) {
            sender.flush()?;
        }
        if sender.segments == 0 {
            (sender.destination, sender.marked) = (destination, marked);
            sender.segment = length;
        }
        fill(&mut sender.batch, local);
        sender.segments += 1;
        Ok(())
    }

    /// Sends all batches.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.senders.iter_mut().try_for_each(Sender::flush)
    }

    /// The socket of a source port, bound when it is first used.
    fn sender(&mut self, entropy: u16) -> io::Result<usize> {
        if let Some(index) = self
            .senders
            .iter()
            .position(|sender| sender.entropy == entropy)
        {
            return Ok(index);
        }
        if self.senders.len() == SENDERS_MAX {
            self.senders[0].flush()?;
            self.senders.remove(0);
        }
        let at = |port| SocketAddrV4::new(*self.local.ip(), port);
        let socket = Socket::bind(at(entropy)).or_else(|_| Socket::bind(at(0)))?;
        self.senders.push(Sender {
            entropy,
            socket,
            destination: self.local,
            marked: false,
            batch: Vec::with_capacity(BATCH_BYTES_MAX),
            segment: 0,
            segments: 0,
        });
        Ok(self.senders.len() - 1)
    }

    /// Takes what has arrived, up to one batch; how many datagrams.
    pub(super) fn receive(&mut self, mut take: impl FnMut(Received<'_>)) -> io::Result<usize> {
        let mut slices: Vec<IoSliceMut<'_>> = self
            .buffers
            .iter_mut()
            .map(|buffer| IoSliceMut::new(buffer))
            .collect();
        let socket = UdpSockRef::from(&self.receiver.socket);
        let batches = match self
            .receiver
            .state
            .recv(socket, &mut slices, &mut self.metas)
        {
            Ok(batches) => batches,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(0),
            Err(error) => return Err(error),
        };
        let mut count = 0;
        for (buffer, meta) in self.buffers.iter().zip(&self.metas).take(batches) {
            let SocketAddr::V4(source) = meta.addr else {
                continue;
            };
            let marked = meta.ecn == Some(EcnCodepoint::Ce);
            for bytes in buffer[..meta.len].chunks(meta.stride.max(1)) {
                take(Received {
                    source,
                    marked,
                    bytes,
                });
                count += 1;
            }
        }
        Ok(count)
    }
}
