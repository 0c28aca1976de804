//! Loose objects: one regular file, one zlib stream, a header and exactly as much content as it says, nothing after.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::objs::Kind;

use super::content::Content;
use super::error::ObjectError;
use super::files::{self, Links};
use super::hash::{self, Hasher};
use super::inflate::Inflater;
use super::meter::Meter;

/// The longest header: a kind, a blank, twenty digits, a NUL.
const HEADER: usize = 32;

/// Bigger files are read piece by piece.
const WHOLE_FILE: u64 = 1 << 20;

/// The path of an object below an `objects` folder.
pub(super) fn path(objects: &Path, id: ObjectId) -> PathBuf {
    let hex = id.to_hex().to_string();
    objects.join(&hex[..2]).join(&hex[2..])
}

/// Reads loose objects, keeping its buffers.
pub(super) struct Reader {
    inflater: Inflater,
    file: Vec<u8>,
}

/// What is to become of a blob's content.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// Hash it and let it go.
    Hash,
    /// Keep it in the buffer.
    Content,
    /// Keep it if it has at most so many bytes.
    UpTo(u64),
}

impl Want {
    /// Whether a blob of that size is kept.
    pub(super) fn keeps(self, size: u64) -> bool {
        match self {
            Want::Hash => false,
            Want::Content => true,
            Want::UpTo(most) => size <= most,
        }
    }
}

impl Reader {
    pub(super) fn new() -> Self {
        Reader { inflater: Inflater::new(), file: Vec::new() }
    }

    /// Reads and hashes one object; its kind and size. `content` holds it afterwards, unless it is a blob nobody wants.
    pub(super) fn read(
        &mut self,
        path: &Path,
        id: ObjectId,
        want: Want,
        meter: &mut Meter<'_>,
        content: &mut Content,
    ) -> Result<(Kind, u64), ObjectError> {
        let (file, length) = files::open(path, Links::Refuse)?;
        if length <= WHOLE_FILE {
            let mut bytes = std::mem::take(&mut self.file);
            let read = files::read_open(file, length, path, 2 * WHOLE_FILE, &mut bytes);
            let result = read
                .map_err(ObjectError::from)
                .and_then(|()| self.parse(&mut bytes.as_slice(), id, want, meter, content));
            self.file = bytes;
            result
        } else {
            self.parse(&mut BufReader::with_capacity(128 << 10, file), id, want, meter, content)
        }
    }

    pub(super) fn parse(
        &mut self,
        input: &mut impl BufRead,
        id: ObjectId,
        want: Want,
        meter: &mut Meter<'_>,
        content: &mut Content,
    ) -> Result<(Kind, u64), ObjectError> {
        self.inflater.reset();
        let mut start = [0; HEADER];
        let (read, mut ended) = self.inflater.fill(input, &mut start)?;
        let start = &start[..read];
        let (kind, size, header) = parse_header(start).ok_or(ObjectError::Header)?;
        let begun = &start[header..];
        let left = size.checked_sub(begun.len() as u64).ok_or(ObjectError::Longer(size))?;
        if kind == Kind::Blob && !want.keeps(size) {
            let mut hasher = Hasher::new(kind, size);
            hasher.update(begun);
            if !ended {
                self.inflater.streamed(input, left, |piece| {
                    meter.spend(piece.len() as u64)?;
                    hasher.update(piece);
                    Ok(())
                })?;
                ended = true;
            } else if left > 0 {
                return Err(ObjectError::Shorter(size));
            }
            meter.spend(0)?;
            hasher.verify(id)?;
        } else {
            meter.fits(kind, size)?;
            meter.spend(size)?;
            let left = usize::try_from(left).map_err(|_| ObjectError::Header)?;
            if ended && left > 0 {
                return Err(ObjectError::Shorter(size));
            }
            if !ended {
                self.inflater.exactly(input, begun, left, content)?;
                ended = true;
            } else {
                content.room(begun.len()).copy_from_slice(begun);
            }
            hash::verify(kind, content, id)?;
        }
        debug_assert!(ended);
        // One stream, and the end of the file.
        match input.fill_buf() {
            Ok([]) => Ok((kind, size)),
            Ok(_) => Err(ObjectError::Trailing),
            Err(_) => Err(ObjectError::Truncated),
        }
    }
}

/// `<kind> <decimal size>` and a NUL: the kind, the size and the header's length. No sign, no leading zero.
pub(super) fn parse_header(start: &[u8]) -> Option<(Kind, u64, usize)> {
    let nul = start.iter().take(HEADER).position(|&byte| byte == 0)?;
    let (kind, size) = std::str::from_utf8(&start[..nul]).ok()?.split_once(' ')?;
    let kind = Kind::from_bytes(kind.as_bytes()).ok()?;
    let canonical = size.bytes().all(|byte| byte.is_ascii_digit()) && (size == "0" || !size.starts_with('0'));
    Some((kind, size.parse().ok().filter(|_| canonical)?, nul + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headers() {
        assert_eq!(parse_header(b"blob 12\0hello"), Some((Kind::Blob, 12, 8)));
        assert_eq!(parse_header(b"tree 0\0"), Some((Kind::Tree, 0, 7)));
        assert_eq!(parse_header(b"tag 18446744073709551615\0"), Some((Kind::Tag, u64::MAX, 25)));
        let wrong: [&[u8]; 9] = [
            b"",
            b"blob 12",
            b"blob  12\0",
            b"blob 012\0",
            b"blob +1\0",
            b"blob \0",
            b"Blob 1\0",
            b"blob 18446744073709551616\0",
            b"blob 1 \0",
        ];
        for text in wrong {
            assert_eq!(parse_header(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_header_that_is_read_is_the_one_that_is_written(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some((kind, size, length)) = parse_header(&bytes) {
                let written = gix::objs::encode::loose_header(kind, size);
                prop_assert_eq!(&bytes[..length], written.as_slice());
            }
        }
    }
}
