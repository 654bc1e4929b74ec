//! One seeded fault for each class of mismatch, and the good forms beside them.

use super::*;

/// The reasons found in a block with this `update`.
macro_rules! reasons {
    ($($update:tt)*) => {{
        #[derive(LogicBlock, Default)]
        struct Case {
            a: Signal<In, Bits<8>>,
            b: Signal<In, Bits<8>>,
            f: Signal<In, Bit>,
            x: [Signal<In, Bits<8>>; 2],
            y: Signal<Out, Bits<8>>,
            w: Signal<Out, Bits<16>>,
            t: Signal<Local, Bits<8>>,
            yes: Signal<Out, Bit>,
        }
        impl Logic for Case {
            $($update)*
        }
        check(&Case::default()).into_iter().map(|violation| violation.to_string()).collect::<Vec<_>>()
    }};
}

fn one(reasons: &[String], part: &str) {
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert!(reasons[0].contains(part), "{reasons:?}");
}

#[test]
fn arithmetic_in_a_comparison() {
    one(
        &reasons!(
            #[hdl_gen]
            fn update(&mut self) {
                self.yes.next = (self.a.val() + 1) == self.b.val();
            }
        ),
        "not masked",
    );
    one(
        &reasons!(
            #[hdl_gen]
            fn update(&mut self) {
                self.yes.next = (self.a.val() - self.b.val()) < 16;
            }
        ),
        "not masked",
    );
}

#[test]
fn operators_that_verilog_groups_differently() {
    one(
        &reasons!(
            #[hdl_gen]
            fn update(&mut self) {
                self.yes.next = self.a.val() & self.b.val() == self.b.val();
            }
        ),
        "grouped differently",
    );
    one(
        &reasons!(
            #[hdl_gen]
            fn update(&mut self) {
                if self.a.val() ^ self.b.val() != self.b.val() {
                    self.yes.next = true;
                }
            }
        ),
        "grouped",
    );
}

#[test]
fn not_inside_a_cast_or_a_comparison() {
    one(
        &reasons!(
            #[hdl_gen]
            fn update(&mut self) {
                self.y.next = bit_cast::<8, 1>((!self.f.val()).into());
            }
        ),
        "widened before",
    );
    one(
        &reasons!(
            #[hdl_gen]
            fn update(&mut self) {
                self.yes.next = !self.a.val() == 0xfe;
            }
        ),
        "not masked",
    );
}

#[test]
fn narrow_casts_do_not_narrow_what_follows() {
    one(
        &reasons!(
            #[hdl_gen]
            fn update(&mut self) {
                self.yes.next = (bit_cast::<4, 8>(self.a.val()) + 1) == 3;
            }
        ),
        "not masked",
    );
    one(
        &reasons!(
            #[hdl_gen]
            fn update(&mut self) {
                self.yes.next = bit_cast::<4, 8>(self.a.val()).all();
            }
        ),
        "reduction",
    );
}

#[test]
fn a_sum_is_widened() {
    one(
        &reasons!(
            #[hdl_gen]
            fn update(&mut self) {
                self.w.next = bit_cast::<16, 8>(self.a.val() + self.b.val());
            }
        ),
        "widened before",
    );
}

#[test]
fn a_slice_of_an_expression() {
    one(
        &reasons!(
            #[hdl_gen]
            fn update(&mut self) {
                self.y.next = bit_cast::<8, 4>((self.a.val() + 1).get_bits::<4>(0));
            }
        ),
        "not a plain signal",
    );
    one(
        &reasons!(
            #[hdl_gen]
            fn update(&mut self) {
                self.yes.next = self.a.val().get_bits::<4>(0).get_bit(1);
            }
        ),
        "not a plain signal",
    );
}

#[test]
fn literals_that_do_not_fit() {
    one(
        &reasons!(
            #[hdl_gen]
            fn update(&mut self) {
                self.yes.next = self.a.val() == 0x100;
            }
        ),
        "does not fit in 8 bits",
    );
    one(
        &reasons!(
            #[hdl_gen]
            fn update(&mut self) {
                self.y.next = 0x1ff.into();
            }
        ),
        "does not fit in 8 bits",
    );
    one(
        &reasons!(
            #[hdl_gen]
            fn update(&mut self) {
                self.yes.next = self.x[1].val() == 0x100;
            }
        ),
        "does not fit in 8 bits",
    );
}

#[test]
fn shifts_down_of_what_is_not_exact() {
    one(
        &reasons!(
            #[hdl_gen]
            fn update(&mut self) {
                self.y.next = (self.a.val() + self.b.val()) >> 1;
            }
        ),
        "not masked",
    );
}

#[test]
fn good_forms_pass() {
    let found = reasons!(
        #[hdl_gen]
        fn update(&mut self) {
            self.t.next = self.a.val() + 1;
            self.yes.next = self.t.val() == self.b.val();
            if (self.a.val() & self.b.val()) == self.b.val() {
                self.y.next = self.a.val() - self.b.val() - 1;
            }
            if !self.f.val() & (self.a.val() == 0xff) {
                self.y.next = !self.a.val() & self.b.val();
            }
            self.w.next = bit_cast::<16, 8>(self.a.val() & self.b.val());
            if self.f.val() && !self.a.val().any() {
                self.w.next = bit_cast::<16, 8>(self.t.val()) << 8;
            }
            for i in 0..2 {
                if self.x[i].val().get_bits::<4>(4).any() & self.a.val().get_bit(i) {
                    self.y.next = self.x[i].val();
                }
            }
            self.yes.next = (self.a.val() & !self.b.val()).any() | !self.a.val().all();
        }
    );
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn words_of_the_language() {
    #[derive(LogicBlock, Default)]
    struct Case {
        within: Signal<In, Bit>,
        end: Signal<Out, Bit>,
    }
    impl Logic for Case {
        #[hdl_gen]
        fn update(&mut self) {
            self.end.next = self.within.val();
        }
    }
    let names: Vec<_> = check(&Case::default())
        .into_iter()
        .map(|violation| violation.expression)
        .collect();
    assert_eq!(names, ["end", "within"]);
}
