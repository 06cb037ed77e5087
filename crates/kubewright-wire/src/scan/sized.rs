//! An item of known length, collected from chunks.

use super::item::Item;

/// Collects an item whose length is known.
#[derive(Debug)]
pub(super) struct SizedItem {
    /// The most bytes that are read of an item.
    limit: usize,
    length: usize,
    /// The number of received bytes.
    seen: usize,
    /// The bytes from earlier chunks.
    partial: Vec<u8>,
}

/// A larger buffer is freed after the item that needed it.
const MAX_REUSED_BUFFER: usize = 1 << 16;

/// Whether an item is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Done,
    Waiting,
}

impl SizedItem {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            length: 0,
            seen: 0,
            partial: Vec::new(),
        }
    }

    /// Begins an item of this length.
    pub(super) fn begin(&mut self, length: usize) {
        (self.length, self.seen) = (length, 0);
    }

    /// Takes the bytes of the item off the chunk, and calls `each` once it is complete or too long.
    /// An item within one chunk is not copied.
    pub(super) fn take<E>(
        &mut self,
        chunk: &mut &[u8],
        each: &mut impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<Progress, E> {
        let (part, rest) = chunk.split_at(chunk.len().min(self.length - self.seen));
        *chunk = rest;
        let is_first = self.seen == 0;
        self.seen += part.len();
        let progress = if self.seen == self.length {
            Progress::Done
        } else {
            Progress::Waiting
        };
        if self.length > self.limit {
            self.take_beginning(part, each)?;
        } else if is_first && progress == Progress::Done {
            each(Item::Whole(part))?;
        } else {
            self.keep(part);
            if progress == Progress::Done {
                let whole = std::mem::take(&mut self.partial);
                each(Item::Whole(&whole))?;
                self.reuse(whole);
            }
        }
        Ok(progress)
    }

    /// Returns the beginning of an item that is too long as soon as it has been received.
    fn take_beginning<E>(
        &mut self,
        part: &[u8],
        each: &mut impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let before = self.seen - part.len();
        if before >= self.limit {
            return Ok(());
        }
        self.keep(part.get(..self.limit - before).unwrap_or(part));
        if self.seen < self.limit {
            return Ok(());
        }
        let beginning = std::mem::take(&mut self.partial);
        each(Item::Cut(&beginning))
    }

    fn keep(&mut self, part: &[u8]) {
        // The length of an item that is too long may be wrong, so it is not reserved.
        if self.partial.is_empty() && self.length <= self.limit {
            self.partial.reserve_exact(self.length);
        }
        self.partial.extend_from_slice(part);
    }

    fn reuse(&mut self, mut buffer: Vec<u8>) {
        if buffer.capacity() <= MAX_REUSED_BUFFER {
            buffer.clear();
            self.partial = buffer;
        }
    }
}
