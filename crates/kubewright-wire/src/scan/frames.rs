use super::Item;
use super::sized::{Progress, SizedItem};

/// Splits a watch in protobuf into its frames: four bytes of length, the highest first, then so
/// many bytes (`k8s.io/apimachinery/pkg/util/framer`).
#[derive(Debug)]
pub struct FrameScanner {
    /// The length of the next frame, as far as it has come.
    head: Vec<u8>,
    /// Whether its length is known.
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

    /// Takes the next chunk and calls `each` for every frame that is whole, and for every frame
    /// that is found to be too long.
    pub fn push<E>(
        &mut self,
        mut chunk: &[u8],
        mut each: impl FnMut(Item<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some((&byte, rest)) = chunk.split_first() {
            if !self.begun {
                chunk = rest;
                self.head.push(byte);
                let Ok(length) = <[u8; 4]>::try_from(self.head.as_slice()) else {
                    continue;
                };
                self.head.clear();
                let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
                self.item.begin(length);
                // There is nothing in an empty frame.
                self.begun = length > 0;
                continue;
            }
            // The next frame is whole even if this one cannot be read.
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

    /// The frames of the chunks; of those that are too long, `<` and the beginning.
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
    fn frames_are_the_same_wherever_the_stream_is_cut() {
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
    fn a_frame_over_the_limit_is_told_before_its_end() {
        assert_eq!(frames(&[b"\0\0\x01\0abcdefgh"], 8), ["<abcdefgh"]);
    }
}
