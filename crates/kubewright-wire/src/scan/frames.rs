//! Splitting of a protobuf watch into frames.

use super::item::Item;
use super::sized::{Progress, SizedItem};

/// Splits a watch in protobuf into its frames: four bytes of length in big endian, then the frame
/// (`k8s.io/apimachinery/pkg/util/framer`).
#[derive(Debug)]
pub struct FrameScanner {
    /// The received bytes of the next frame's length.
    head: Vec<u8>,
    /// Whether the length is complete.
    begun: bool,
    item: SizedItem,
}

impl FrameScanner {
    /// A scanner that reads at most `limit` bytes of a frame.
    pub fn new(limit: usize) -> Self {
        Self {
            head: Vec::with_capacity(4),
            begun: false,
            item: SizedItem::new(limit),
        }
    }

    /// Takes the next chunk and calls `each` for every frame that is complete or too long.
    pub fn push<E>(
        &mut self,
        mut chunk: &[u8],
        mut each: impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some((&byte, rest)) = chunk.split_first() {
            if !self.begun {
                chunk = rest;
                self.head.push(byte);
                let Ok(bytes) = <[u8; 4]>::try_from(self.head.as_slice()) else {
                    continue;
                };
                self.head.clear();
                let length = usize::try_from(u32::from_be_bytes(bytes)).unwrap_or(usize::MAX);
                self.item.begin(length);
                // An empty frame is skipped.
                self.begun = length > 0;
                continue;
            }
            // The frame is consumed even if `each` fails, so that the next one can be read.
            let mut taken = Ok(());
            let progress = self.item.take(&mut chunk, &mut |item| {
                taken = each(item);
                Ok::<_, std::convert::Infallible>(())
            });
            self.begun = progress != Ok(Progress::Done);
            taken?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::{FrameScanner, Item};

    /// The frames of the chunks; `<` and the beginning of those that are too long.
    fn frames(chunks: &[&[u8]], limit: usize) -> Vec<String> {
        let mut scanner = FrameScanner::new(limit);
        let mut frames = Vec::new();
        for chunk in chunks {
            let Ok(()) = scanner.push(chunk, |frame| {
                let (sign, bytes) = match frame {
                    Item::Whole(bytes) => ("", bytes),
                    Item::Cut(bytes) => ("<", bytes),
                };
                let text = String::from_utf8(bytes.to_vec()).unwrap();
                frames.push(format!("{sign}{text}"));
                Ok::<_, Infallible>(())
            });
        }
        frames
    }

    #[test]
    fn frames_do_not_depend_on_the_chunks() {
        let stream =
            b"\0\0\0\x01a\0\0\0\0\0\0\0\x08bcdefghi\0\0\0\x0ajklmnopqrs\0\0\0\x02tu\0\0\0\x01";
        for cut in 0..=stream.len() {
            for second in cut..=stream.len() {
                let (head, rest) = stream.split_at(cut);
                let (middle, tail) = rest.split_at(second - cut);
                assert_eq!(
                    frames(&[head, middle, tail], 8),
                    ["a", "bcdefghi", "<jklmnopq", "tu"],
                    "{cut} {second}"
                );
            }
        }
    }

    #[test]
    fn frame_over_the_limit_is_returned_before_its_end() {
        assert_eq!(frames(&[b"\0\0\x01\0abcdefgh"], 8), ["<abcdefgh"]);
    }
}
