//! The content of an object, in memory.

use std::fmt;
use std::ops::Deref;

use memmap2::{Advice, MmapMut};

/// Bytes in a buffer that can be used again.
pub struct Content {
    buffer: Buffer,
    length: usize,
}

enum Buffer {
    Heap(Box<[u8]>),
    /// Of huge pages where the system has them: to come by a large buffer page by page takes a sixth of the time of filling it.
    Mapped(MmapMut),
}

impl Content {
    /// From here on a buffer is mapped.
    const LARGE: usize = 4 << 20;

    /// Room for `size` bytes in place of what is there. They are to be written: they may hold anything.
    pub(super) fn room(&mut self, size: usize) -> &mut [u8] {
        if self.capacity() < size {
            // Twice as much as before, lest a buffer that is used again grows in small steps.
            let least = size.max(2 * self.capacity().min(Self::LARGE / 4));
            self.buffer = Buffer::new(least);
        }
        self.length = size;
        &mut self.buffer.bytes_mut()[..size]
    }

    /// Keeps the first `length` bytes, if there are more.
    pub(super) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// Bytes for which there is room.
    pub(super) fn capacity(&self) -> usize {
        self.buffer.bytes().len()
    }
}

impl Buffer {
    fn new(size: usize) -> Self {
        if size >= Content::LARGE
            && let Ok(map) = MmapMut::map_anon(size)
        {
            // A matter of speed alone.
            let _ = map.advise(Advice::HugePage);
            return Buffer::Mapped(map);
        }
        Buffer::Heap(vec![0; size].into())
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Buffer::Heap(bytes) => bytes,
            Buffer::Mapped(map) => map,
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Buffer::Heap(bytes) => bytes,
            Buffer::Mapped(map) => map,
        }
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.length)
    }
}

impl Default for Content {
    fn default() -> Self {
        Content { buffer: Buffer::Heap(Box::default()), length: 0 }
    }
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer.bytes()[..self.length]
    }
}

impl Clone for Content {
    fn clone(&self) -> Self {
        let mut copy = Content::default();
        copy.room(self.len()).copy_from_slice(self);
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_what_was_written_last() {
        let mut content = Content::default();
        assert_eq!(content.len(), 0);
        for (size, mapped) in [(3, false), (0, false), (2, false), (Content::LARGE, true), (5, true)] {
            content.room(size).fill(size as u8);
            assert_eq!(content[..], vec![size as u8; size]);
            assert_eq!(content.clone()[..], content[..]);
            assert_eq!(matches!(content.buffer, Buffer::Mapped(_)), mapped, "{size}");
        }
        content.truncate(9);
        assert_eq!(content[..], [5; 5]);
        content.truncate(1);
        assert_eq!(content[..], [5]);
    }
}
