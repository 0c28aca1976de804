//! One zlib stream, bounded by the size its header claims.

use std::cmp::Ordering;
use std::io::BufRead;

use gix::zlib::{Decompress, FlushDecompress, Status};

use super::content::Content;
use super::error::ObjectError;

/// A decompressor to be used again and again.
pub(super) struct Inflater {
    state: Decompress,
    chunk: Box<[u8]>,
}

impl Inflater {
    const CHUNK: usize = 64 << 10;

    pub(super) fn new() -> Self {
        Inflater { state: Decompress::new(), chunk: vec![0; Self::CHUNK].into() }
    }

    /// Forgets the stream before.
    pub(super) fn reset(&mut self) {
        self.state.reset();
    }

    /// Inflates until `out` is full or the stream has ended; how many bytes, and whether it has.
    pub(super) fn fill(&mut self, input: &mut impl BufRead, out: &mut [u8]) -> Result<(usize, bool), ObjectError> {
        fill(&mut self.state, input, out)
    }

    /// The rest of a stream of which `size` bytes are still to come, into `out` in place of what is there, behind what `begun` holds of it.
    pub(super) fn exactly(
        &mut self,
        input: &mut impl BufRead,
        begun: &[u8],
        size: usize,
        out: &mut Content,
    ) -> Result<(), ObjectError> {
        /// Room behind the end, without which zlib goes slowly over the last bytes.
        const SLACK: usize = 300;
        let room = begun.len() + size + SLACK;
        let (start, rest) = out.room(room).split_at_mut(begun.len());
        start.copy_from_slice(begun);
        let (written, ended) = self.fill(input, rest)?;
        out.truncate(begun.len() + size);
        match written.cmp(&size) {
            Ordering::Less => Err(ObjectError::Shorter(size as u64)),
            Ordering::Equal if ended => Ok(()),
            _ => Err(ObjectError::Longer(size as u64)),
        }
    }

    /// The rest of a stream of which `size` bytes are still to come, handed on piece by piece.
    pub(super) fn streamed(
        &mut self,
        input: &mut impl BufRead,
        size: u64,
        mut sink: impl FnMut(&[u8]) -> Result<(), ObjectError>,
    ) -> Result<(), ObjectError> {
        let mut left = size;
        loop {
            let room = usize::try_from(left).unwrap_or(usize::MAX).min(self.chunk.len());
            if room == 0 {
                return self.ends(input, size);
            }
            let (written, ended) = fill(&mut self.state, input, &mut self.chunk[..room])?;
            left -= written as u64;
            sink(&self.chunk[..written])?;
            if ended {
                return if left == 0 { Ok(()) } else { Err(ObjectError::Shorter(size)) };
            }
        }
    }

    /// Nothing but the end mark is left.
    fn ends(&mut self, input: &mut impl BufRead, size: u64) -> Result<(), ObjectError> {
        match self.fill(input, &mut [0])? {
            (0, true) => Ok(()),
            _ => Err(ObjectError::Longer(size)),
        }
    }
}

fn fill(state: &mut Decompress, input: &mut impl BufRead, out: &mut [u8]) -> Result<(usize, bool), ObjectError> {
    let mut written = 0;
    loop {
        let bytes = input.fill_buf().map_err(|_| ObjectError::Truncated)?;
        let empty = bytes.is_empty();
        let (before_in, before_out) = (state.total_in(), state.total_out());
        let status =
            state.decompress(bytes, &mut out[written..], FlushDecompress::None).map_err(|_| ObjectError::Zlib)?;
        let consumed = usize::try_from(state.total_in() - before_in).unwrap_or(usize::MAX);
        let produced = usize::try_from(state.total_out() - before_out).unwrap_or(usize::MAX);
        input.consume(consumed);
        written += produced;
        if status == Status::StreamEnd {
            return Ok((written, true));
        }
        if written == out.len() {
            return Ok((written, false));
        }
        if consumed == 0 && produced == 0 {
            return Err(if empty { ObjectError::Truncated } else { ObjectError::Zlib });
        }
    }
}
