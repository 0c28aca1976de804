//! Deltas of a pack: a recipe that makes one object out of another.

use super::content::Content;

/// The part of a delta after its two sizes, with those.
pub(super) struct Delta<'a> {
    /// Bytes the base must have.
    pub base: u64,
    /// Bytes of the result.
    pub result: u64,
    instructions: &'a [u8],
}

/// Splits off the sizes.
pub(super) fn parse(bytes: &[u8]) -> Result<Delta<'_>, &'static str> {
    let (base, rest) = size(bytes)?;
    let (result, instructions) = size(rest)?;
    Ok(Delta { base, result, instructions })
}

/// A little-endian base-128 number.
fn size(bytes: &[u8]) -> Result<(u64, &[u8]), &'static str> {
    let mut value = 0_u64;
    for (index, &byte) in bytes.iter().enumerate().take(9) {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Ok((value, &bytes[index + 1..]));
        }
    }
    Err("a size is cut off or out of range")
}

impl Delta<'_> {
    /// Makes the result in `out`, in place of what is there. It never grows beyond the claimed size, which the caller has bounded.
    pub(super) fn apply(&self, base: &[u8], out: &mut Content) -> Result<(), &'static str> {
        let limit = usize::try_from(self.result).map_err(|_| "the result is out of range")?;
        if base.len() as u64 != self.base {
            return Err("it is made for a base of another size");
        }
        let mut left = out.room(limit);
        let mut rest = self.instructions;
        while let Some((&instruction, after)) = rest.split_first() {
            let piece = if instruction & 0x80 != 0 {
                let (offset, after) = little_endian(after, instruction & 0x0f)?;
                let (length, after) = little_endian(after, (instruction >> 4) & 0x07)?;
                rest = after;
                let length = if length == 0 { 0x1_0000 } else { length };
                base.get(offset..offset + length).ok_or("it copies from beyond the base")?
            } else {
                let length = usize::from(instruction);
                if length == 0 {
                    return Err("it holds the reserved instruction 0");
                }
                let (piece, after) = after.split_at_checked(length).ok_or("it is cut off")?;
                rest = after;
                piece
            };
            let (room, after) = left.split_at_mut_checked(piece.len()).ok_or("the result is longer than claimed")?;
            room.copy_from_slice(piece);
            left = after;
        }
        if left.is_empty() { Ok(()) } else { Err("the result is shorter than claimed") }
    }
}

/// The bytes of a number whose zero bytes are left out: `mask` tells which are there.
fn little_endian(mut bytes: &[u8], mask: u8) -> Result<(usize, &[u8]), &'static str> {
    let mut value = 0;
    for index in 0..4 {
        if mask & (1 << index) != 0 {
            let (&byte, rest) = bytes.split_first().ok_or("it is cut off")?;
            value |= usize::from(byte) << (8 * index);
            bytes = rest;
        }
    }
    Ok((value, bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn made(delta: &[u8], base: &[u8]) -> Result<Vec<u8>, &'static str> {
        let mut out = Content::default();
        parse(delta)?.apply(base, &mut out).map(|()| out.to_vec())
    }

    #[test]
    fn copies_and_inserts() {
        assert_eq!(made(&[5, 6, 0x91, 1, 3, 3, b'x', b'y', b'z'], b"abcde"), Ok(b"bcdxyz".to_vec()));
        assert_eq!(made(&[1, 0], b"a"), Ok(Vec::new()));
        let base = vec![7; 0x1_0000];
        assert_eq!(made(&[0x80, 0x80, 4, 0x80, 0x80, 4, 0x80], &base), Ok(base.clone()), "a length of 0 is 64 KiB");
    }

    #[test]
    fn says_what_is_wrong() {
        let wrong: [(&[u8], &str); 9] = [
            (&[], "a size is cut off or out of range"),
            (&[0x80; 20], "a size is cut off or out of range"),
            (&[4, 0], "it is made for a base of another size"),
            (&[5, 1, 0], "it holds the reserved instruction 0"),
            (&[5, 9, 0x91, 1], "it is cut off"),
            (&[5, 9, 3, b'x'], "it is cut off"),
            (&[5, 9, 0x91, 1, 5], "it copies from beyond the base"),
            (&[5, 2, 0x90, 3], "the result is longer than claimed"),
            (&[5, 4, 0x90, 3], "the result is shorter than claimed"),
        ];
        for (delta, message) in wrong {
            assert_eq!(made(delta, b"abcde"), Err(message), "{delta:?}");
        }
    }

    proptest! {
        #[test]
        fn never_exceeds_the_claim(delta in prop::collection::vec(any::<u8>(), 0..64), base in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(result) = made(&delta, &base) {
                prop_assert_eq!(result.len() as u64, parse(&delta).unwrap().result);
            }
        }

        #[test]
        fn rebuilds_from_random_pieces(base in prop::collection::vec(any::<u8>(), 1..300), cuts in prop::collection::vec((any::<u16>(), 1..300_usize), 0..20)) {
            let (mut body, mut want) = (Vec::new(), Vec::new());
            for (start, length) in cuts {
                let start = usize::from(start) % base.len();
                let length = length.min(base.len() - start);
                body.extend([0xb3, start as u8, (start >> 8) as u8, length as u8, (length >> 8) as u8]);
                want.extend_from_slice(&base[start..start + length]);
            }
            let number = |mut value: usize| {
                let mut bytes = Vec::new();
                while value > 0x7f { bytes.push(value as u8 | 0x80); value >>= 7; }
                bytes.push(value as u8);
                bytes
            };
            let delta = [number(base.len()), number(want.len()), body].concat();
            prop_assert_eq!(made(&delta, &base), Ok(want));
        }
    }
}
