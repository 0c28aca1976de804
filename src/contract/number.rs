//! JSON numbers on their exact decimal value, and the integer rule (contract `lossless-json-integer-identity`).
//!
//! A value is never rounded: what a double would make of the token plays no part. Everything is linear in the token's
//! length; an exponent is a number here, not as many zeros.

use std::cmp::Ordering;
use std::fmt;

/// The largest magnitude that a number with a point or an exponent may have and still count as an integer: 2^53 - 1.
pub const LARGEST_SAFE: u64 = 9_007_199_254_740_991;

/// Exponents saturate here. Two numbers so large (or so small) are told apart by their digits alone.
const FARTHEST: i64 = 1_000_000_000_000_000_000;

/// A finite number: the sign, 0.`digits`, times ten to the power of `point`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Number {
    negative: bool,
    /// Without a zero at either end; empty for zero.
    digits: Box<str>,
    point: i64,
}

impl Number {
    /// Reads a token of the JSON grammar; `None` for `NaN` and the infinities.
    pub fn parse(token: &str) -> Option<Number> {
        let (negative, token) = match token.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, token),
        };
        if !token.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let (mantissa, exponent) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = if fraction.is_empty() { whole.to_owned() } else { [whole, fraction].concat() };
        let significant = all.trim_start_matches('0');
        if significant.is_empty() {
            return Some(Number { negative: false, digits: "".into(), point: 0 });
        }
        let zeros = all.len() - significant.len();
        let point = saturating(exponent).saturating_add(distance(whole.len())).saturating_sub(distance(zeros));
        Some(Number { negative, digits: significant.trim_end_matches('0').into(), point })
    }

    fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Less than zero.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Greater than zero.
    pub fn is_positive(&self) -> bool {
        !self.negative && !self.is_zero()
    }

    /// No digit stands behind the point.
    pub fn is_integral(&self) -> bool {
        distance(self.digits.len()) <= self.point || self.is_zero()
    }

    fn magnitude(&self, other: &Number) -> Ordering {
        // Digits start with no zero, so the farther point is the larger number, and text order is numeric order.
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self.point.cmp(&other.point).then_with(|| self.digits.cmp(&other.digits)),
        }
    }

    /// The value, if it is one of `u64`.
    pub fn to_u64(&self) -> Option<u64> {
        if self.negative || !self.is_integral() || self.point > 20 {
            return None;
        }
        let zeros = usize::try_from(self.point).ok()?.saturating_sub(self.digits.len());
        let text = [&*self.digits, &"0".repeat(zeros)].concat();
        if text.is_empty() { Some(0) } else { text.parse().ok() }
    }

    /// Whether it is a multiple of `divisor`; `None` if the divisor is not positive or its significant digits
    /// do not fit 64 bits, which would make the answer cost more than linear time.
    pub fn is_multiple_of(&self, divisor: &Number) -> Option<bool> {
        if !divisor.is_positive() {
            return None;
        }
        let modulus: u64 = divisor.digits.parse().ok()?;
        if self.is_zero() {
            return Some(true);
        }
        let last = |number: &Number| number.point - distance(number.digits.len());
        let Ok(shift) = u64::try_from(last(self) - last(divisor)) else {
            // Neither ends in a zero, so what lies behind the divisor's last digit cannot cancel out.
            return Some(false);
        };
        let modulus = u128::from(modulus);
        let rest = self.digits.bytes().fold(0, |rest, digit| (rest * 10 + u128::from(digit - b'0')) % modulus);
        Some((rest * power_of_ten(shift, modulus)).is_multiple_of(modulus))
    }
}

/// The shortest token of the value without a point, unless an exponent is shorter than its zeros.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0");
        }
        let exponent = self.point.saturating_sub(distance(self.digits.len()));
        write!(f, "{}{}", if self.negative { "-" } else { "" }, self.digits)?;
        match exponent {
            0..=20 => write!(f, "{}", &"0".repeat(20)[..usize::try_from(exponent).unwrap_or(0)]),
            _ => write!(f, "e{exponent}"),
        }
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.magnitude(other),
            (true, true) => other.magnitude(self),
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        let digits = value.to_string();
        let point = if value == 0 { 0 } else { distance(digits.len()) };
        Number { negative: false, digits: digits.trim_end_matches('0').into(), point }
    }
}

/// Whether a token counts as an integer: an integer literal always does, any other number only if its exact value is
/// integral and its magnitude at most [`LARGEST_SAFE`].
pub fn is_integer(token: &str) -> bool {
    if !token.contains(['.', 'e', 'E']) {
        // `NaN` and the infinities are no literals.
        return token.ends_with(|c: char| c.is_ascii_digit());
    }
    Number::parse(token).is_some_and(|number| number.is_integral() && number.magnitude(&LARGEST_SAFE.into()).is_le())
}

/// The value of a token that counts as an integer, written as an integer literal; other tokens as they are.
pub fn normalised(token: &str) -> String {
    if !token.contains(['.', 'e', 'E', '-']) || !is_integer(token) {
        return token.to_owned();
    }
    match Number::parse(token) {
        Some(number) if number.is_zero() => "0".to_owned(),
        // A safe integer has at most sixteen digits, and a literal is as long as its token.
        Some(number) => {
            let zeros = usize::try_from(number.point).unwrap_or(0).saturating_sub(number.digits.len());
            [if number.negative { "-" } else { "" }, &number.digits, &"0".repeat(zeros)].concat()
        }
        None => token.to_owned(),
    }
}

fn distance(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(FARTHEST).min(FARTHEST)
}

fn saturating(exponent: &str) -> i64 {
    let (negative, digits) = match exponent.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, exponent.strip_prefix('+').unwrap_or(exponent)),
    };
    let step = |value: i64, digit: u8| value.saturating_mul(10).saturating_add(i64::from(digit - b'0')).min(FARTHEST);
    let value = digits.bytes().fold(0, step);
    if negative { -value } else { value }
}

/// 10^`exponent` modulo `modulus`, which fits 64 bits.
fn power_of_ten(mut exponent: u64, modulus: u128) -> u128 {
    let (mut power, mut base) = (1 % modulus, 10 % modulus);
    while exponent > 0 {
        if exponent % 2 == 1 {
            power = power * base % modulus;
        }
        base = base * base % modulus;
        exponent /= 2;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(token: &str) -> Number {
        Number::parse(token).unwrap()
    }

    #[test]
    fn the_integer_rule_is_about_the_exact_value_of_the_token() {
        for token in [
            "7",
            "7.0",
            "7e0",
            "70e-1",
            "700E-02",
            "0.7e1",
            "0.00007e+5",
            "-0",
            "-0.0",
            "0e999999999999999999999999",
            "9007199254740991.0",
            "-9007199254740991e0",
            "90071992547409910e-1",
            "9007199254740993",
            "100000000000000000000000000000000000000000",
            "1e15",
            "9e15",
        ] {
            assert!(is_integer(token), "{token}");
        }
        for token in [
            "7.5",
            "4503599627370497.5",
            "7.0000000000000000000000001",
            "9007199254740991.4",
            "9007199254740992.0",
            "9007199254740992e0",
            "1e16",
            "1e400",
            "1e-400",
            "1e999999999999999999999",
            "1e-999999999999999999999",
            "-9007199254740992.0",
            "NaN",
            "Infinity",
            "-Infinity",
            "0.1e0",
            "1E-1",
        ] {
            assert!(!is_integer(token), "{token}");
        }
        for (token, literal) in [
            ("70e-1", "7"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("-7.0", "-7"),
            ("1e15", "1000000000000000"),
            ("7.5", "7.5"),
            ("9223372036854775807", "9223372036854775807"),
            ("9007199254740992.0", "9007199254740992.0"),
            ("NaN", "NaN"),
        ] {
            assert_eq!(normalised(token), literal);
        }
        assert_eq!(normalised("-1000"), "-1000");
    }

    #[test]
    fn order_is_exact_however_large_or_small() {
        let ascending = [
            "-1e999999999999999999999",
            "-1e20",
            "-15",
            "-2",
            "-1.0000000000000000000001",
            "-1",
            "-0.1",
            "0",
            "1e-400",
            "0.02",
            "0.15",
            "0.2",
            "1",
            "1.0000000000000000000001",
            "2",
            "15",
            "9007199254740992",
            "9007199254740993",
            "1e20",
            "1e400",
            "1e999999999999999999999",
        ];
        for (index, left) in ascending.iter().enumerate() {
            for (other, right) in ascending.iter().enumerate() {
                assert_eq!(number(left).cmp(&number(right)), index.cmp(&other), "{left} {right}");
                assert_eq!(number(left) == number(right), index == other, "{left} {right}");
            }
        }
        assert_eq!(number("-0.0"), number("0e7"));
        assert_eq!(number("1.50e1"), number("15"));
    }

    #[test]
    fn multiples_are_exact() {
        for (value, divisor, expected) in [
            ("10", "5", Some(true)),
            ("0.3", "0.1", Some(true)),
            ("0.35", "0.1", Some(false)),
            ("0", "7", Some(true)),
            ("1e308", "0.5", Some(true)),
            ("1e999999999999", "3", Some(false)),
            ("1e999999999999", "8", Some(true)),
            ("9e999999999999", "3", Some(true)),
            ("7", "2.5", Some(false)),
            ("7.5", "2.5", Some(true)),
            ("5", "10", Some(false)),
            ("-6", "3", Some(true)),
            ("6", "0", None),
            ("6", "-3", None),
            ("6", "123456789012345678901", None),
            ("0.00751", "0.0001", Some(false)),
        ] {
            assert_eq!(number(value).is_multiple_of(&number(divisor)), expected, "{value} {divisor}");
        }
    }

    #[test]
    fn a_number_of_a_megabyte_is_no_more_than_a_megabyte() {
        let long = "9".repeat(1 << 20);
        assert!(is_integer(&long) && !is_integer(&format!("{long}.5")));
        assert!(number(&long) < number(&format!("1{long}")));
        assert_eq!(number(&long).is_multiple_of(&number("9")), Some(true));
        assert!(!is_integer(&format!("1e{long}")) && !is_integer(&format!("1e-{long}")));
        assert_eq!(number(&format!("0.{}1e{}", "0".repeat(1 << 20), (1 << 20) + 1)), number("1"));
    }

    proptest! {
        #[test]
        fn agrees_with_plain_arithmetic_where_that_is_exact(
            left in -1_000_000i64..1_000_000, right in -1_000_000i64..1_000_000, zeros in 0usize..4, point in 0usize..5
        ) {
            let (plain, other) = (number(&left.to_string()), number(&right.to_string()));
            prop_assert_eq!(plain.cmp(&other), left.cmp(&right));
            if right > 0 {
                prop_assert_eq!(plain.is_multiple_of(&other), Some(left % right == 0));
            }
            let spelt = format!("{left}{}e-{zeros}", "0".repeat(zeros));
            prop_assert_eq!(number(&spelt), plain.clone());
            prop_assert!(is_integer(&spelt));
            prop_assert_eq!(normalised(&spelt), left.to_string());
            let scale = 10i64.pow(u32::try_from(point).unwrap());
            prop_assert_eq!(is_integer(&format!("{left}e-{point}")), left % scale == 0);
            prop_assert_eq!(plain.to_u64(), u64::try_from(left).ok());
            prop_assert_eq!(Number::from(left.unsigned_abs()), number(&left.unsigned_abs().to_string()));
        }

        #[test]
        fn never_panics(token in "-?[0-9]{0,30}(\\.[0-9]{0,30})?([eE][+-]?[0-9]{0,30})?|\\PC{0,9}") {
            let _ = (is_integer(&token), Number::parse(&token).map(|number| number.to_u64()));
            let _ = normalised(&token);
        }
    }
}
