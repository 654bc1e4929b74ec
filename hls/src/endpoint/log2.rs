//! Logarithms to base 2 with 5 fraction bits, for the spray's score (T-2.2).
//!
//! A small table and two adds replace a division: so the RTL compares paths too, with 3 fraction bits.

/// Fraction bits of a logarithm.
const FRACTION_BITS: u32 = 5;

/// 32 x log2(1 + i / 64), rounded.
const MANTISSA: [u8; 64] = [
    0, 1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8, 9, 9, 10, 10, 11, 11, 12, 13, 13, 14, 14, 15, 15, 16,
    16, 17, 17, 18, 18, 19, 19, 20, 20, 21, 21, 22, 22, 22, 23, 23, 24, 24, 25, 25, 25, 26, 26, 27,
    27, 27, 28, 28, 29, 29, 29, 30, 30, 31, 31, 31, 32,
];

/// 32 x log2(`value`); 0 counts as 1.
pub(super) const fn log2(value: u32) -> i16 {
    let value = if value == 0 { 1 } else { value };
    let exponent = value.ilog2();
    // The six bits below the leading one.
    let mantissa = ((value as u64) << 6 >> exponent) & 63;
    ((exponent << FRACTION_BITS) + MANTISSA[mantissa as usize] as u32) as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_within_a_thirtieth_of_the_logarithm() {
        for value in (1..5000)
            .chain((5..32).map(|n| (1 << n) - 1))
            .chain([u32::MAX])
        {
            let exact = 32.0 * f64::from(value).log2();
            let error = (f64::from(log2(value)) - exact).abs();
            assert!(error < 1.25, "{value}: {error}");
        }
    }

    #[test]
    fn the_table_is_the_rounded_logarithm() {
        for (i, entry) in MANTISSA.iter().enumerate() {
            let exact = 32.0 * (1.0 + i as f64 / 64.0).log2();
            assert_eq!(f64::from(*entry), exact.round(), "entry {i}");
        }
    }
}
