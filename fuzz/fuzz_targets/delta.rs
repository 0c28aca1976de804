//! Deltas, against a second implementation that takes the simple way. The first byte is the length of the base.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paired_sdk_gate::fuzzing::delta;

const LIMIT: u64 = 1 << 20;

fuzz_target!(|data: &[u8]| {
    let Some((&length, rest)) = data.split_first() else { return };
    let (base, recipe) = rest.split_at(usize::from(length).min(rest.len()));
    // Long enough for copies of the default length.
    let long = base.repeat(if base.len() > 200 { 400 } else { 1 });
    for base in [base, &long] {
        assert_eq!(delta(base, recipe, LIMIT).ok(), slow(base, recipe));
    }
});

fn slow(base: &[u8], recipe: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = recipe.iter().copied();
    let mut number = || {
        let mut value = 0_u64;
        for shift in (0..63).step_by(7) {
            let byte = bytes.next()?;
            value += u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(value);
            }
        }
        None
    };
    let (from, to) = (number()?, number()?);
    if from != base.len() as u64 || to > LIMIT {
        return None;
    }
    let mut made = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte == 0 {
            return None;
        }
        if byte < 128 {
            for _ in 0..byte {
                made.push(bytes.next()?);
            }
        } else {
            let mut fields = [0_u8; 7];
            for (bit, field) in fields.iter_mut().enumerate() {
                if byte >> bit & 1 == 1 {
                    *field = bytes.next()?;
                }
            }
            let [a, b, c, d, e, f, g] = fields;
            let start = u32::from_le_bytes([a, b, c, d]) as usize;
            let length = match u32::from_le_bytes([e, f, g, 0]) as usize {
                0 => 65536,
                length => length,
            };
            made.extend_from_slice(base.get(start..)?.get(..length)?);
        }
        if made.len() as u64 > to {
            return None;
        }
    }
    (made.len() as u64 == to).then_some(made)
}
