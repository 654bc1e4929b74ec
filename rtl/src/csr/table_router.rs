//! One written table entry to the blocks that keep its parts (`docs/registers.md`, tables). Combinational.

use crate::csr::registers::TableAccess;
use crate::dma::memory_translation::KeyEntry;
use crate::rx::classifier::ReceiveSettings;
use crate::tx::frame_request::{Peer, Route};
use crate::tx::message_completion::CompletionRing;
use crate::tx::spray_scheduler::SendSettings;
use crate::tx::work_queue::SendRing;
use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct TableRouter {
    pub access: Signal<In, TableAccess>,
    pub access_valid: Signal<In, Bit>,
    pub entry: Signal<In, Bits<512>>,
    pub index: Signal<Out, Bits<20>>,
    pub connection: Signal<Out, Bits<12>>,
    pub connection_write: Signal<Out, Bit>,
    pub receive: Signal<Out, ReceiveSettings>,
    pub send: Signal<Out, SendSettings>,
    pub send_ring: Signal<Out, SendRing>,
    pub completion_ring: Signal<Out, CompletionRing>,
    pub peer: Signal<Out, Peer>,
    pub route: Signal<Out, Route>,
    pub route_write: Signal<Out, Bit>,
    pub entropy: Signal<Out, Bits<16>>,
    pub entropy_write: Signal<Out, Bit>,
    pub key: Signal<Out, KeyEntry>,
    pub key_write: Signal<Out, Bit>,
    pub page_address: Signal<Out, Bits<64>>,
    pub page_write: Signal<Out, Bit>,
    pub clear_start: Signal<Out, Bit>,
    pub clear_psn: Signal<Out, Bits<24>>,
    pub clear_epoch: Signal<Out, Bits<8>>,
    pub clear_ordinal: Signal<Out, Bits<16>>,
    pub read_send: Signal<Out, Bit>,
    pub read_loss: Signal<Out, Bit>,
    writes: Signal<Local, Bit>,
    key_high: Signal<Local, Bits<32>>,
    mtu_shift: Signal<Local, Bits<4>>,
}

impl Logic for TableRouter {
    #[hdl_gen]
    fn update(&mut self) {
        self.index.next = self.access.val().index;
        self.connection.next = bit_cast::<12, 20>(self.access.val().index);
        self.writes.next = self.access_valid.val() & self.access.val().write.any();
        self.connection_write.next = self.writes.val() & (self.access.val().table == 1);
        self.route_write.next = self.writes.val() & (self.access.val().table == 2);
        self.entropy_write.next = self.writes.val() & (self.access.val().table == 3);
        self.key_write.next = self.writes.val() & (self.access.val().table == 4);
        self.page_write.next = self.writes.val() & (self.access.val().table == 5);
        self.clear_start.next = self.writes.val() & (self.access.val().table == 6);
        self.read_send.next =
            self.access_valid.val() & self.access.val().read.any() & (self.access.val().table == 7);
        self.read_loss.next =
            self.access_valid.val() & self.access.val().read.any() & (self.access.val().table == 8);

        // CONNECTION
        self.receive.next.enabled = self.entry.val().get_bits::<1>(0);
        self.receive.next.incarnation = self.entry.val().get_bits::<16>(96);
        self.receive.next.paths = self.entry.val().get_bits::<32>(32);
        self.send.next.enabled = self.entry.val().get_bits::<1>(1);
        self.send.next.paths = self.entry.val().get_bits::<32>(32);
        self.send.next.window = self.entry.val().get_bits::<8>(256);
        self.send_ring.next.enabled = self.entry.val().get_bits::<1>(1);
        self.send_ring.next.address = self.entry.val().get_bits::<64>(128);
        self.send_ring.next.log_entries = self.entry.val().get_bits::<4>(16);
        self.mtu_shift.next = self.entry.val().get_bits::<4>(8);
        self.send_ring.next.mtu_shift = self.mtu_shift.val();
        self.completion_ring.next.address = self.entry.val().get_bits::<64>(192);
        self.completion_ring.next.log_entries = self.entry.val().get_bits::<4>(20);
        self.peer.next.connection = self.entry.val().get_bits::<24>(64);
        self.peer.next.incarnation = self.entry.val().get_bits::<16>(112);

        // ROUTE, PATH
        self.route.next.mac = self.entry.val().get_bits::<48>(0);
        self.route.next.ip = self.entry.val().get_bits::<32>(64);
        self.entropy.next = self.entry.val().get_bits::<16>(0);

        // KEY, PAGE
        self.key_high.next = self.entry.val().get_bits::<32>(32);
        self.key.next.valid = self.entry.val().get_bits::<1>(0);
        self.key.next.local = self.entry.val().get_bits::<1>(1);
        self.key.next.remote = self.entry.val().get_bits::<1>(2);
        self.key.next.page_size = self.entry.val().get_bits::<2>(4);
        self.key.next.key =
            (self.key_high.val() << 12) | (bit_cast::<32, 20>(self.access.val().index) & 0xfff);
        self.key.next.first_page = self.entry.val().get_bits::<20>(64);
        self.key.next.base = self.entry.val().get_bits::<64>(128);
        self.key.next.length = self.entry.val().get_bits::<64>(192);
        self.page_address.next = self.entry.val().get_bits::<64>(0);

        // CLEAR
        self.clear_psn.next = self.entry.val().get_bits::<24>(0);
        self.clear_epoch.next = self.entry.val().get_bits::<8>(24);
        self.clear_ordinal.next = self.entry.val().get_bits::<16>(32);
    }
}
