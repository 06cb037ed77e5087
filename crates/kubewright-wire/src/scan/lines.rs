//! Splitting of a JSON watch into lines.

use memchr::memchr;

use super::item::Item;

/// Splits a watch into its lines, one frame each.
#[derive(Debug)]
pub struct LineScanner {
    limit: usize,
    /// The received bytes of an incomplete line.
    partial: Vec<u8>,
    /// Whether the rest of the line is skipped, because its beginning was returned.
    cut: bool,
}

impl LineScanner {
    /// A scanner that reads at most `limit` bytes of a line.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            partial: Vec::new(),
            cut: false,
        }
    }

    /// Takes the next chunk and calls `each` for every line that is complete or too long, without
    /// its newline; empty lines are skipped.
    pub fn push<E>(
        &mut self,
        mut chunk: &[u8],
        mut each: impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(end) = memchr(b'\n', chunk) {
            let (line, rest) = chunk.split_at(end);
            chunk = rest.get(1..).unwrap_or_default();
            self.take(line, &mut each)?;
            // The buffer is freed, because it may be large.
            let whole = std::mem::take(&mut self.partial);
            if !std::mem::take(&mut self.cut) && !whole.is_empty() {
                each(Item::Whole(&whole))?;
            }
        }
        self.keep(chunk, &mut each)
    }

    /// Takes the last part of a line. A line within one chunk is not copied.
    fn take<E>(
        &mut self,
        line: &[u8],
        each: &mut impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.cut || !self.partial.is_empty() || line.len() > self.limit {
            return self.keep(line, each);
        }
        if line.is_empty() {
            return Ok(());
        }
        each(Item::Whole(line))
    }

    fn keep<E>(
        &mut self,
        part: &[u8],
        each: &mut impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.cut {
            return Ok(());
        }
        let capacity = self.limit - self.partial.len();
        let (kept, over) = part.split_at(part.len().min(capacity));
        self.partial.extend_from_slice(kept);
        if over.is_empty() {
            return Ok(());
        }
        self.cut = true;
        let beginning = std::mem::take(&mut self.partial);
        each(Item::Cut(&beginning))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::{Item, LineScanner};

    /// The lines of the chunks; `<` and the beginning of those that are too long.
    fn lines(chunks: &[&[u8]], limit: usize) -> Vec<String> {
        let mut scanner = LineScanner::new(limit);
        let mut lines = Vec::new();
        for chunk in chunks {
            let Ok(()) = scanner.push(chunk, |line| {
                let (sign, bytes) = match line {
                    Item::Whole(bytes) => ("", bytes),
                    Item::Cut(bytes) => ("<", bytes),
                };
                let text = String::from_utf8(bytes.to_vec()).unwrap();
                lines.push(format!("{sign}{text}"));
                Ok::<_, Infallible>(())
            });
        }
        lines
    }

    /// All splits of the stream into three chunks.
    fn cuts(stream: &[u8]) -> impl Iterator<Item = [&[u8]; 3]> {
        let places =
            (0..=stream.len()).flat_map(|cut| (cut..=stream.len()).map(move |end| (cut, end)));
        places.map(|(cut, second)| {
            let (head, rest) = stream.split_at(cut);
            let (middle, tail) = rest.split_at(second - cut);
            [head, middle, tail]
        })
    }

    #[test]
    fn lines_do_not_depend_on_the_chunks() {
        for chunks in cuts(b"{\"a\":1}\n\n{\"b\":\"\\n\"}\n{\"c\"") {
            assert_eq!(lines(&chunks, 100), ["{\"a\":1}", "{\"b\":\"\\n\"}"]);
        }
    }

    #[test]
    fn line_over_the_limit_is_truncated_and_the_next_line_is_complete() {
        for chunks in cuts(b"12345678\n123456789\n12345678901234567890\nabc\n") {
            assert_eq!(
                lines(&chunks, 8),
                ["12345678", "<12345678", "<12345678", "abc"]
            );
        }
    }

    #[test]
    fn line_over_the_limit_is_returned_before_its_end() {
        assert_eq!(lines(&[b"123456789"], 8), ["<12345678"]);
    }
}
