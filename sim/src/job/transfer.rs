//! Set-up, registration, WRITEs, completions: an application over the host library.

use super::Sample;
use crate::bench::Bench;
use crate::random::generator;
use crate::referee::{CompletionReferee, MemoryReferee};
use osprey_hls::regs::counters::{COUNTERS, Counter};
use osprey_hls::wire::{Ipv4Address, MacAddress, PlaneAddress};
use osprey_host::dma::{DmaBuffer, DmaMemory, PageSize};
use osprey_host::verbs::{
    CompletionStatus, Config, ConnectionHandle, ConnectionState, Context, Error, MemoryRegion,
    PathTelemetry, ProtectionDomain, Rights, WriteRequest,
};
use rand::Rng;
use sha2::{Digest, Sha256};

/// What every byte of the target is before.
const BACKGROUND: u8 = 0xcc;
/// Bytes behind the target region that must stay as they are.
const GUARD: usize = 4096;
/// Service number of the job.
const SERVICE: u32 = 1;
/// Cycles between two looks at the completion ring.
const POLL_CYCLES: u64 = 64;
/// Looks between two samples.
const SAMPLE_POLLS: u64 = 32;
/// From so many bytes on buffers have huge pages, to keep page tables short.
const HUGE_FROM: usize = 8 << 20;
/// Cycles that set-up may take.
const SETUP_CYCLES_MAX: u64 = 2_000_000;

/// What is to be sent and how.
#[derive(Debug, Clone)]
pub struct TransferConfig {
    /// The bytes.
    pub data: Vec<u8>,
    /// Bytes of a message; the last one may be shorter.
    pub message_bytes: usize,
    /// Offset of the source in its page.
    pub source_offset: usize,
    /// Offset of the target in its page.
    pub target_offset: usize,
    /// Settings of both hosts; the addresses are set here.
    pub host: Config,
    /// Planes in use.
    pub planes: usize,
    /// Source of keys, incarnations and entropy.
    pub seed: u64,
    /// Cycles without a completion after which the job is given up.
    pub patience_cycles: u64,
}

/// How far the job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes whose messages have completed.
    pub bytes: u64,
    /// Cycles since the first post.
    pub cycles: u64,
}

/// Why there is no outcome.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The host library says so.
    #[error("{side}: {error}")]
    Host {
        /// Which side.
        side: &'static str,
        /// What it says.
        error: Error,
    },
    /// The connection did not come about.
    #[error("no connection after {cycles} cycles: {state:?}")]
    SetUp {
        /// Cycles waited.
        cycles: u64,
        /// Where it stands.
        state: ConnectionState,
    },
    /// Nothing completes any more.
    #[error(
        "no completion for {cycles} cycles: {done} of {total} bytes are through; counters: {counters}"
    )]
    Stalled {
        /// Cycles without a completion.
        cycles: u64,
        /// Bytes that completed.
        done: u64,
        /// Bytes to send.
        total: u64,
        /// Counters of both sides that are not zero.
        counters: String,
    },
}

/// What the hosts saw.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What the referees found wrong.
    pub wrong: Vec<String>,
    /// SHA-256 of what was sent.
    pub sha256_sent: String,
    /// SHA-256 of what is in the target.
    pub sha256_received: String,
    /// Cycles from the first post to the last completion.
    pub cycles: u64,
    /// Cycles before the first post.
    pub setup_cycles: u64,
    /// Completions seen.
    pub completions: u64,
    /// The sender's paths.
    pub paths: Vec<PathTelemetry>,
    /// Counters of both sides, by number.
    pub counters: [Vec<u32>; 2],
    /// Line use over time.
    pub samples: Vec<Sample>,
}

/// Addresses of the ports of a side.
pub fn addresses(side: u8, planes: usize) -> Vec<PlaneAddress> {
    let address = |plane: u8| PlaneAddress {
        mac: MacAddress([0x02, 0, 0, 0, plane, side + 1]),
        ipv4: Ipv4Address([10, 0, plane, side + 1]),
    };
    (0..planes as u8).map(address).collect()
}

fn at<T>(side: usize, result: Result<T, Error>) -> Result<T, TransferError> {
    result.map_err(|error| TransferError::Host {
        side: ["host A", "host B"][side],
        error,
    })
}

/// Both hosts, over a bench.
struct Hosts<'a, B: Bench> {
    bench: &'a mut B,
    contexts: [Context; 2],
    domains: [ProtectionDomain; 2],
}

/// Registered memory and where it is.
struct Memory {
    buffer: DmaBuffer,
    region: MemoryRegion,
    offset: usize,
}

impl<'a, B: Bench> Hosts<'a, B> {
    fn open(bench: &'a mut B, config: &TransferConfig) -> Result<Self, TransferError> {
        let mut open = |side: usize| {
            let mut host = config.host.clone();
            host.planes = addresses(side as u8, config.planes);
            let seed = generator(config.seed, 5000 + side as u64).random();
            at(side, Context::open(&mut bench.port(side), host, seed))
        };
        let mut contexts = [open(0)?, open(1)?];
        let domains = contexts.each_mut().map(Context::protection_domain);
        Ok(Self {
            bench,
            contexts,
            domains,
        })
    }

    /// A registered buffer that holds `content` at `offset`, with a guard behind it.
    fn memory(
        &mut self,
        side: usize,
        offset: usize,
        content: &[u8],
        rights: Rights,
    ) -> Result<Memory, TransferError> {
        let mut port = self.bench.port(side);
        let length = offset + content.len() + GUARD;
        let page_size = if length < HUGE_FROM {
            PageSize::Small
        } else {
            PageSize::Huge
        };
        let buffer = at(side, port.allocate(length, page_size).map_err(Error::from))?;
        port.write(&buffer, 0, &vec![BACKGROUND; length]);
        port.write(&buffer, offset, content);
        let (context, domain) = (&mut self.contexts[side], self.domains[side]);
        let range = (offset as u64, content.len() as u64);
        let region = at(
            side,
            context.register(&mut port, domain, &buffer, range, rights),
        )?;
        Ok(Memory {
            buffer,
            region,
            offset,
        })
    }

    /// A connection from A to B, established on both sides.
    fn connect(
        &mut self,
        target: &MemoryRegion,
        planes: usize,
    ) -> Result<[ConnectionHandle; 2], TransferError> {
        at(
            1,
            self.contexts[1].listen(self.domains[1], SERVICE, &[*target]),
        )?;
        let (to, domain, begun) = (addresses(1, planes), self.domains[0], self.bench.cycle());
        let a = at(
            0,
            self.contexts[0].connect(&mut self.bench.port(0), domain, &to, SERVICE, &[]),
        )?;
        loop {
            self.progress()?;
            let state = at(0, self.contexts[0].state(a))?.clone();
            let cycles = self.bench.cycle() - begun;
            if state == ConnectionState::Established {
                let b = self.contexts[1].accept();
                return b
                    .map(|b| [a, b])
                    .ok_or(TransferError::SetUp { cycles, state });
            }
            if state != ConnectionState::Connecting || cycles > SETUP_CYCLES_MAX {
                return Err(TransferError::SetUp { cycles, state });
            }
        }
    }

    /// Both libraries take a turn, then time goes on.
    fn progress(&mut self) -> Result<(), TransferError> {
        for side in 0..2 {
            at(
                side,
                self.contexts[side].progress(&mut self.bench.port(side)),
            )?;
        }
        self.bench.run(POLL_CYCLES);
        Ok(())
    }

    fn counters(&mut self, side: usize) -> Vec<u32> {
        let mut port = self.bench.port(side);
        Counter::ALL
            .iter()
            .map(|counter| self.contexts[side].counter(&mut port, *counter))
            .collect()
    }

    /// Counters that are not zero, for a message.
    fn counters_text(&mut self) -> String {
        let mut text = String::new();
        for (side, name) in ["A", "B"].iter().enumerate() {
            text += name;
            for ((counter, _), value) in COUNTERS
                .iter()
                .zip(self.counters(side))
                .filter(|(_, v)| *v != 0)
            {
                text += &format!(" {counter}={value}");
            }
            text += "; ";
        }
        text
    }
}

/// Sends the bytes and asks the referees.
pub fn transfer<B: Bench>(
    bench: &mut B,
    config: &TransferConfig,
    progress: &mut dyn FnMut(Progress),
) -> Result<Outcome, TransferError> {
    let mut hosts = Hosts::open(bench, config)?;
    let source_rights = Rights {
        local: true,
        remote_write: false,
    };
    let source = hosts.memory(0, config.source_offset, &config.data, source_rights)?;
    let target_rights = Rights {
        local: false,
        remote_write: true,
    };
    let blank = vec![BACKGROUND; config.data.len()];
    let target = hosts.memory(1, config.target_offset, &blank, target_rights)?;
    let [a, b] = hosts.connect(&target.region, config.planes)?;
    let mut memory = MemoryReferee::new(vec![BACKGROUND; target.buffer.length]);
    memory.expect(target.offset, &config.data);

    let begun = hosts.bench.cycle();
    let mut sender = Sender::new(a, config, &source.region, &target.region);
    let ended = sender.run(&mut hosts, config, begun, progress)?;

    let mut found = vec![0; target.buffer.length];
    hosts.bench.port(1).read(&target.buffer, 0, &mut found);
    let received = &found[target.offset..target.offset + config.data.len()];
    let mut wrong = sender.referee.judge();
    wrong.extend(
        memory
            .judge(&found)
            .into_iter()
            .map(|what| format!("memory of B: {what}")),
    );
    let (sha256_sent, sha256_received) = (sha256(&config.data), sha256(received));
    if sha256_sent != sha256_received {
        wrong.push("SHA-256 of target and source differ".into());
    }
    hosts.bench.quiesce();
    let paths = at(
        0,
        hosts.contexts[0].path_telemetry(&mut hosts.bench.port(0), a),
    )?;
    let counters = [hosts.counters(0), hosts.counters(1)];
    hosts.end([a, b], [source.region, target.region])?;
    Ok(Outcome {
        wrong,
        sha256_sent,
        sha256_received,
        cycles: ended - begun,
        setup_cycles: begun,
        completions: sender.referee.count(),
        paths,
        counters,
        samples: sender.samples,
    })
}

impl<B: Bench> Hosts<'_, B> {
    /// Closes the connection and deregisters the memory.
    fn end(
        &mut self,
        handles: [ConnectionHandle; 2],
        regions: [MemoryRegion; 2],
    ) -> Result<(), TransferError> {
        at(
            0,
            self.contexts[0].close(&mut self.bench.port(0), handles[0]),
        )?;
        let begun = self.bench.cycle();
        while matches!(
            at(0, self.contexts[0].state(handles[0]))?,
            ConnectionState::Closing
        ) && self.bench.cycle() - begun < SETUP_CYCLES_MAX
        {
            self.progress()?;
        }
        for side in 0..2 {
            let (context, mut port) = (&mut self.contexts[side], self.bench.port(side));
            at(side, context.deregister(&mut port, regions[side]))?;
            at(side, context.release(&mut port, handles[side]))?;
        }
        Ok(())
    }
}

/// Posts messages and takes completions.
struct Sender {
    handle: ConnectionHandle,
    requests: std::vec::IntoIter<WriteRequest>,
    next: Option<WriteRequest>,
    referee: CompletionReferee,
    samples: Vec<Sample>,
    done: u64,
}

impl Sender {
    fn new(
        handle: ConnectionHandle,
        config: &TransferConfig,
        source: &MemoryRegion,
        target: &MemoryRegion,
    ) -> Self {
        let mut offset = 0;
        let request = |(user, chunk): (usize, &[u8])| {
            let request = WriteRequest {
                local_key: source.key,
                local_address: source.address + offset,
                remote_key: target.key,
                remote_address: target.address + offset,
                length: chunk.len() as u32,
                user: user as u64,
            };
            offset += chunk.len() as u64;
            request
        };
        let requests: Vec<_> = config
            .data
            .chunks(config.message_bytes)
            .enumerate()
            .map(request)
            .collect();
        let mut requests = requests.into_iter();
        let next = requests.next();
        Self {
            handle,
            requests,
            next,
            referee: Default::default(),
            samples: Vec::new(),
            done: 0,
        }
    }

    /// Runs until all has completed; the cycle of the last completion.
    fn run<B: Bench>(
        &mut self,
        hosts: &mut Hosts<'_, B>,
        config: &TransferConfig,
        begun: u64,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<u64, TransferError> {
        let (total, mut last, mut polls) = (config.data.len() as u64, begun, 0_u64);
        self.sample(hosts, begun);
        while self.done < total {
            self.post(hosts)?;
            hosts.bench.run(POLL_CYCLES);
            let before = self.done;
            self.poll(hosts)?;
            let now = hosts.bench.cycle();
            if self.done != before {
                last = now;
            } else if now - last > config.patience_cycles {
                let (cycles, done, counters) = (now - last, self.done, hosts.counters_text());
                return Err(TransferError::Stalled {
                    cycles,
                    done,
                    total,
                    counters,
                });
            }
            polls += 1;
            if polls.is_multiple_of(SAMPLE_POLLS) {
                self.sample(hosts, begun);
                progress(Progress {
                    bytes: self.done,
                    cycles: now - begun,
                });
            }
        }
        self.sample(hosts, begun);
        progress(Progress {
            bytes: self.done,
            cycles: last - begun,
        });
        Ok(last)
    }

    fn sample<B: Bench>(&mut self, hosts: &Hosts<'_, B>, begun: u64) {
        let cycle = hosts.bench.cycle() - begun;
        self.samples.push(Sample {
            cycle,
            bytes: self.done,
            line_bytes: hosts.bench.line_bytes(),
        });
    }

    /// Posts until the library refuses for lack of room.
    fn post<B: Bench>(&mut self, hosts: &mut Hosts<'_, B>) -> Result<(), TransferError> {
        while let Some(request) = self.next {
            let limit = hosts.contexts[0].config().send_entries();
            let slots =
                at(0, hosts.contexts[0].settled(self.handle))?.map_or(0, |s| u32::from(s.slots));
            if at(0, hosts.contexts[0].outstanding(self.handle))? >= limit.min(slots) {
                break;
            }
            at(
                0,
                hosts.contexts[0].post_write(&mut hosts.bench.port(0), self.handle, &request),
            )?;
            self.referee.posted(request.user);
            self.next = self.requests.next();
        }
        Ok(())
    }

    fn poll<B: Bench>(&mut self, hosts: &mut Hosts<'_, B>) -> Result<(), TransferError> {
        let mut completions = Vec::new();
        at(
            0,
            hosts.contexts[0].poll(&mut hosts.bench.port(0), self.handle, &mut completions),
        )?;
        for completion in completions {
            self.referee
                .completed(completion.user, completion.status == CompletionStatus::Ok);
            self.done += u64::from(completion.length);
        }
        Ok(())
    }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
