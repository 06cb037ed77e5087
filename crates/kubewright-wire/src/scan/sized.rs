use super::Item;

/// An item whose length is known before it comes.
#[derive(Debug)]
pub(super) struct SizedItem {
    /// The most bytes that are read of an item.
    limit: usize,
    length: usize,
    /// How many of its bytes have come.
    seen: usize,
    /// Those that came with earlier chunks.
    partial: Vec<u8>,
}

/// An outsized item does not keep its buffer alive behind it.
const LARGEST_KEPT_BUFFER: usize = 1 << 16;

/// Whether there is more to come of an item.
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

    /// The next item has this length.
    pub(super) fn begin(&mut self, length: usize) {
        (self.length, self.seen) = (length, 0);
    }

    /// Takes what belongs to the item off the chunk, and calls `each` once it is whole or found to
    /// be too long. One that comes in one piece is not copied.
    pub(super) fn take<E>(
        &mut self,
        chunk: &mut &[u8],
        each: &mut impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<Progress, E> {
        let (part, rest) = chunk.split_at(chunk.len().min(self.length - self.seen));
        *chunk = rest;
        let begins = self.seen == 0;
        self.seen += part.len();
        let progress = match self.seen == self.length {
            true => Progress::Done,
            false => Progress::Waiting,
        };
        if self.length > self.limit {
            self.take_beginning(part, each)?;
        } else if begins && progress == Progress::Done {
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

    /// Hands out the beginning of an item that is too long as soon as it is there.
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
        // What says that it is too long may be no length at all.
        if self.partial.is_empty() && self.length <= self.limit {
            self.partial.reserve_exact(self.length);
        }
        self.partial.extend_from_slice(part);
    }

    fn reuse(&mut self, mut buffer: Vec<u8>) {
        if buffer.capacity() <= LARGEST_KEPT_BUFFER {
            buffer.clear();
            self.partial = buffer;
        }
    }
}
