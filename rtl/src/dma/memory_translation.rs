//! From a key and a virtual address to bus addresses (clause T-5.3): who may touch what, and where it lies.
//!
//! A key names an entry and the generation it was given out with; the range must lie inside the region
//! (`offset <= length && count <= length - offset`, so that nothing wraps), and the region must grant the
//! right. A range is at most one packet, so it touches at most two 4 KiB pages of virtual space: it is
//! split there and each piece looks up its own page (4 KiB, 2 MiB or 1 GiB). The second page is the first or the next
//! one, so even and odd entries of the page table lie in two memories of half its size. The refusal is out 4 cycles
//! after the request, the addresses after 8; one request a cycle.

use crate::bundle;
use crate::stream::Ram;
use rust_hdl::prelude::*;

bundle! {
    /// A registered region.
    KeyEntry { valid: 1, local: 1, remote: 1, page_size: 2, key: 32, first_page: 20, base: 64, length: 64 }
}

bundle! {
    /// A range to be looked up; `remote`: for a peer's write, else for the host's own send.
    TranslateRequest { key: 32, address: 64, length: 13, remote: 1 }
}

bundle! {
    /// Where the range lies: `length0` bytes at `address0`, the rest at `address1`.
    Translated { address0: 64, length0: 13, address1: 64, length: 13, bad_key: 1, out_of_bounds: 1 }
}

bundle! {
    /// A request on its way.
    TranslateStage { address: 64, length: 13, remote: 1, key: 32 }
}

#[derive(LogicBlock, Default)]
pub struct MemoryTranslation {
    pub clock: Signal<In, Clock>,
    pub request: Signal<In, TranslateRequest>,
    /// 4 cycles after the request.
    pub refused: Signal<Out, Bit>,
    /// 8 cycles after the request.
    pub translated: Signal<Out, Translated>,
    pub key_index: Signal<In, Bits<12>>,
    pub key_entry: Signal<In, KeyEntry>,
    pub key_write: Signal<In, Bit>,
    pub page_index: Signal<In, Bits<20>>,
    pub page_address: Signal<In, Bits<64>>,
    pub page_write: Signal<In, Bit>,
    keys: Ram<KeyEntry, 12>,
    even_pages: Ram<Bits<52>, 19>,
    odd_pages: Ram<Bits<52>, 19>,
    asked_key: Signal<Local, Bits<32>>,
    page_write_data: Signal<Local, Bits<52>>,
    write_at: Signal<Local, Bits<20>>,
    stage: [DFF<TranslateStage>; 8],
    entry2: DFF<KeyEntry>,
    entry3: DFF<KeyEntry>,
    offset3: DFF<Bits<64>>,
    key_ok3: DFF<Bit>,
    page_a3: DFF<Bits<20>>,
    page_b3: DFF<Bits<20>>,
    carry3: DFF<Bit>,
    address2: Signal<Local, Bits<64>>,
    base2: Signal<Local, Bits<64>>,
    room4: DFF<Bits<64>>,
    below4: DFF<Bit>,
    key_ok4: DFF<Bit>,
    index4: DFF<Bits<20>>,
    first4: DFF<Bits<20>>,
    carry4: DFF<Bit>,
    size: [DFF<Bits<2>>; 5],
    far: Signal<Local, Bits<51>>,
    near: Signal<Local, Bits<13>>,
    length4: Signal<Local, Bits<13>>,
    fits: Signal<Local, Bit>,
    bad_key: [DFF<Bit>; 4],
    out: [DFF<Bit>; 4],
    even5: DFF<Bits<19>>,
    odd5: DFF<Bits<19>>,
    /// The first page is an odd one; the second is.
    first_odd: [DFF<Bit>; 3],
    second_odd: [DFF<Bit>; 3],
    first_index: Signal<Local, Bits<20>>,
    up_index: Signal<Local, Bits<20>>,
    even7: DFF<Bits<52>>,
    odd7: DFF<Bits<52>>,
    page0: Signal<Local, Bits<52>>,
    page1: Signal<Local, Bits<52>>,
    low12: Signal<Local, Bits<64>>,
    in_page: Signal<Local, Bits<13>>,
    to_end: Signal<Local, Bits<13>>,
    address7: Signal<Local, Bits<64>>,
    length7: Signal<Local, Bits<13>>,
    second7: Signal<Local, Bits<64>>,
    mask: Signal<Local, Bits<64>>,
    frame0: Signal<Local, Bits<64>>,
    frame1: Signal<Local, Bits<64>>,
    result: DFF<Translated>,
}

impl MemoryTranslation {
    /// `1 << key_bits` keys, `1 << page_bits` page table entries.
    pub fn new(key_bits: usize, page_bits: usize) -> Self {
        Self {
            keys: Ram::new(key_bits).without_collisions(),
            even_pages: Ram::new(page_bits - 1),
            odd_pages: Ram::new(page_bits - 1),
            ..Default::default()
        }
    }
}

impl Logic for MemoryTranslation {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, entry2, entry3, offset3, key_ok3, page_a3, page_b3, carry3, room4, below4,
            key_ok4, index4, first4, carry4, even5, odd5, even7, odd7, result
        );
        clock!(self, clock, keys, even_pages, odd_pages);
        self.asked_key.next = self.request.val().key;
        self.keys.read_address.next = self.asked_key.val().get_bits::<12>(0);
        self.keys.read_enable.next = true;
        self.keys.write_address.next = self.key_index.val();
        self.keys.write_data.next = self.key_entry.val();
        self.keys.write_enable.next = self.key_write.val();
        for i in 0..8 {
            self.stage[i].clock.next = self.clock.val();
        }
        for i in 0..7 {
            self.stage[i + 1].d.next = self.stage[i].q.val();
        }
        self.stage[0].d.next.address = self.request.val().address;
        self.stage[0].d.next.length = self.request.val().length;
        self.stage[0].d.next.remote = self.request.val().remote;
        self.stage[0].d.next.key = self.asked_key.val();
        // A key that is being written is none: its old entry has just gone, of its new one nobody has heard.
        self.entry2.d.next = self.keys.read_data.val();
        if self.keys.met.val() {
            self.entry2.d.next.valid = 0.into();
        }
        for i in 0..5 {
            self.size[i].clock.next = self.clock.val();
        }
        for i in 0..4 {
            self.size[i + 1].d.next = self.size[i].q.val();
            self.bad_key[i].clock.next = self.clock.val();
            self.out[i].clock.next = self.clock.val();
        }
        for i in 0..3 {
            self.bad_key[i + 1].d.next = self.bad_key[i].q.val();
            self.out[i + 1].d.next = self.out[i].q.val();
        }

        // Cycle 2: distance into the region, the right key with the right, page numbers.
        self.address2.next = self.stage[1].q.val().address;
        self.base2.next = self.entry2.q.val().base;
        self.entry3.d.next = self.entry2.q.val();
        self.offset3.d.next = self.address2.val() - self.base2.val();
        self.key_ok3.d.next = self.entry2.q.val().valid.any()
            & (self.entry2.q.val().key == self.stage[1].q.val().key)
            & ((self.stage[1].q.val().remote.any() & self.entry2.q.val().remote.any())
                | (!self.stage[1].q.val().remote.any() & self.entry2.q.val().local.any()));
        self.page_a3.d.next = self.address2.val().get_bits::<20>(12);
        self.page_b3.d.next = self.base2.val().get_bits::<20>(12);
        self.carry3.d.next = true;
        if self.entry2.q.val().page_size == 1 {
            self.page_a3.d.next = self.address2.val().get_bits::<20>(21);
            self.page_b3.d.next = self.base2.val().get_bits::<20>(21);
            self.carry3.d.next = self.address2.val().get_bits::<9>(12).all();
        }
        if self.entry2.q.val().page_size == 2 {
            self.page_a3.d.next = self.address2.val().get_bits::<20>(30);
            self.page_b3.d.next = self.base2.val().get_bits::<20>(30);
            self.carry3.d.next = self.address2.val().get_bits::<18>(12).all();
        }
        self.size[0].d.next = self.entry2.q.val().page_size;

        // Cycle 3: room behind the offset.
        self.room4.d.next = self.entry3.q.val().length - self.offset3.q.val();
        self.below4.d.next = self.offset3.q.val() <= self.entry3.q.val().length;
        self.key_ok4.d.next = self.key_ok3.q.val();
        self.index4.d.next = self.page_a3.q.val() - self.page_b3.q.val();
        self.first4.d.next = self.entry3.q.val().first_page;
        self.carry4.d.next = self.carry3.q.val();

        // Cycle 4: refuse?
        self.far.next = self.room4.q.val().get_bits::<51>(13);
        self.near.next = self.room4.q.val().get_bits::<13>(0);
        self.length4.next = self.stage[3].q.val().length;
        self.fits.next =
            self.below4.q.val() & (self.far.val().any() | (self.length4.val() <= self.near.val()));
        self.refused.next = !self.key_ok4.q.val() | !self.fits.val();
        self.bad_key[0].d.next = !self.key_ok4.q.val();
        self.out[0].d.next = self.key_ok4.q.val() & !self.fits.val();
        self.first_index.next = self.index4.q.val() + self.first4.q.val();
        // The even one of the two is the first or the one behind it.
        self.up_index.next = self.first_index.val() + 1;
        self.even5.d.next = self.up_index.val().get_bits::<19>(1);
        self.odd5.d.next = self.first_index.val().get_bits::<19>(1);
        self.first_odd[0].d.next = self.first_index.val().get_bit(0);
        self.second_odd[0].d.next = self.first_index.val().get_bit(0) ^ self.carry4.q.val();

        // Cycle 5: both pages.
        self.even_pages.read_address.next = self.even5.q.val();
        self.even_pages.read_enable.next = true;
        self.odd_pages.read_address.next = self.odd5.q.val();
        self.odd_pages.read_enable.next = true;
        self.page_write_data.next = self.page_address.val().get_bits::<52>(12);
        self.write_at.next = self.page_index.val();
        self.even_pages.write_address.next = self.write_at.val().get_bits::<19>(1);
        self.even_pages.write_data.next = self.page_write_data.val();
        self.even_pages.write_enable.next = self.page_write.val() & !self.write_at.val().get_bit(0);
        self.odd_pages.write_address.next = self.write_at.val().get_bits::<19>(1);
        self.odd_pages.write_data.next = self.page_write_data.val();
        self.odd_pages.write_enable.next = self.page_write.val() & self.write_at.val().get_bit(0);
        self.even7.d.next = self.even_pages.read_data.val();
        self.odd7.d.next = self.odd_pages.read_data.val();
        for i in 0..3 {
            self.first_odd[i].clock.next = self.clock.val();
            self.second_odd[i].clock.next = self.clock.val();
        }
        for i in 0..2 {
            self.first_odd[i + 1].d.next = self.first_odd[i].q.val();
            self.second_odd[i + 1].d.next = self.second_odd[i].q.val();
        }

        // Cycle 7: the page's frame and the place in it.
        self.address7.next = self.stage[6].q.val().address;
        self.length7.next = self.stage[6].q.val().length;
        self.mask.next = 0xfff.into();
        if self.size[4].q.val() == 1 {
            self.mask.next = 0x1f_ffff.into();
        }
        if self.size[4].q.val() == 2 {
            self.mask.next = 0x3fff_ffff.into();
        }
        self.page0.next = self.even7.q.val();
        if self.first_odd[2].q.val() {
            self.page0.next = self.odd7.q.val();
        }
        self.page1.next = self.even7.q.val();
        if self.second_odd[2].q.val() {
            self.page1.next = self.odd7.q.val();
        }
        self.frame0.next = bit_cast::<64, 52>(self.page0.val()) << 12;
        self.frame1.next = bit_cast::<64, 52>(self.page1.val()) << 12;
        self.low12.next = self.address7.val() | 0xfff;
        self.second7.next = self.low12.val() + 1;
        self.in_page.next = bit_cast::<13, 64>(self.address7.val()) & 0xfff;
        self.to_end.next = 0x1000.into();
        self.to_end.next = self.to_end.val() - self.in_page.val();
        self.result.d.next.address0 = self.frame0.val() | (self.address7.val() & self.mask.val());
        self.result.d.next.address1 = self.frame1.val() | (self.second7.val() & self.mask.val());
        self.result.d.next.length0 = self.length7.val();
        if self.to_end.val() < self.length7.val() {
            self.result.d.next.length0 = self.to_end.val();
        }
        self.result.d.next.length = self.length7.val();
        self.result.d.next.bad_key = self.bad_key[2].q.val().into();
        self.result.d.next.out_of_bounds = self.out[2].q.val().into();
        self.translated.next = self.result.q.val();
    }
}
