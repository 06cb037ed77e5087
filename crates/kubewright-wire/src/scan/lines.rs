use memchr::memchr;

use super::ScanError;

/// Splits a watch into its lines, one frame each.
#[derive(Debug)]
pub struct LineScanner {
    limit: usize,
    /// The beginning of a line whose end has not come yet.
    partial: Vec<u8>,
}

impl LineScanner {
    /// A scanner that refuses lines of more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            partial: Vec::new(),
        }
    }

    /// Takes the next chunk and calls `each` for every line that is whole, without its end;
    /// empty lines are skipped.
    pub fn push<E: From<ScanError>>(
        &mut self,
        mut chunk: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(end) = memchr(b'\n', chunk) {
            let (line, rest) = chunk.split_at(end);
            chunk = rest.get(1..).unwrap_or_default();
            if self.partial.is_empty() {
                self.check(line.len())?;
                if !line.is_empty() {
                    each(line)?;
                }
                continue;
            }
            self.check(self.partial.len() + line.len())?;
            self.partial.extend_from_slice(line);
            // A large line's buffer is not kept.
            let whole = std::mem::take(&mut self.partial);
            each(&whole)?;
        }
        self.check(self.partial.len() + chunk.len())?;
        self.partial.extend_from_slice(chunk);
        Ok(())
    }

    fn check(&self, length: usize) -> Result<(), ScanError> {
        if length > self.limit {
            return Err(ScanError::TooLarge { limit: self.limit });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{LineScanner, ScanError};

    fn lines(chunks: &[&[u8]], limit: usize) -> Result<Vec<Vec<u8>>, ScanError> {
        let mut scanner = LineScanner::new(limit);
        let mut lines = Vec::new();
        for chunk in chunks {
            scanner.push(chunk, |line| {
                lines.push(line.to_vec());
                Ok::<_, ScanError>(())
            })?;
        }
        Ok(lines)
    }

    #[test]
    fn lines_are_the_same_wherever_the_stream_is_cut() {
        let stream = b"{\"a\":1}\n\n{\"b\":\"\\n\"}\n{\"c\"";
        let expected = vec![b"{\"a\":1}".to_vec(), b"{\"b\":\"\\n\"}".to_vec()];
        for cut in 0..=stream.len() {
            for second in cut..=stream.len() {
                let (head, rest) = stream.split_at(cut);
                let (middle, tail) = rest.split_at(second - cut);
                let found = lines(&[head, middle, tail], 100).unwrap();
                assert_eq!(found, expected, "{cut} {second}");
            }
        }
    }

    #[test]
    fn a_line_over_the_limit_is_refused_before_its_end() {
        for chunks in [[&b"12345678"[..], b"9\n"], [b"123456789", b""]] {
            let error = lines(&chunks, 8).unwrap_err();
            assert!(matches!(error, ScanError::TooLarge { limit: 8 }));
        }
        assert!(lines(&[b"12345678\n"], 8).is_ok());
    }
}
