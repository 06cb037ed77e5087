//! Seeded changes of inputs.

/// Tokens that get further into a parser than random bytes.
const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    ": ",
    "\"",
    "'",
    "\\",
    "\\u",
    "null",
    "true",
    "-1",
    "1e999",
    "9223372036854775808",
    "$patch",
    "/-",
    "~1",
    "\n",
    "\n  ",
    "- ",
    "&a ",
    "*a",
    "..",
    "=",
    "!",
    " in ",
    "\u{e9}",
    "\0",
    "a",
];
/// The maximum length of the part that a change affects.
const MAX_LENGTH: usize = 16;

/// Inputs that differ a little from given ones. The same seed has the same inputs, so that a failure
/// can be reproduced.
#[derive(Clone, Debug)]
pub struct Mutations<'a> {
    inputs: &'a [Vec<u8>],
    state: u64,
}

impl<'a> Mutations<'a> {
    /// Changes of the inputs.
    ///
    /// # Panics
    ///
    /// When there are no inputs.
    pub fn new(inputs: &'a [Vec<u8>], seed: u64) -> Self {
        assert!(!inputs.is_empty(), "there are inputs");
        Self {
            inputs,
            state: seed,
        }
    }

    /// The next number (SplitMix64).
    fn next_number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number of `0..end`, or 0 if the range is empty.
    fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next_number() % end).unwrap_or_default()
    }

    /// A random part of an input.
    fn part(&mut self, input: &[u8]) -> std::ops::Range<usize> {
        let start = self.below(input.len() + 1);
        let length = 1 + self.below(MAX_LENGTH);
        start..input.len().min(start + length)
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let part = self.part(input);
        match self.below(5) {
            0 => {
                if let Some(byte) = input.get_mut(part.start) {
                    *byte ^= 1 << (self.state % 8);
                }
            }
            1 => drop(input.drain(part)),
            2 => {
                let again = input.get(part.clone()).unwrap_or_default().to_vec();
                input.splice(part.start..part.start, again);
            }
            3 => {
                let other = self.below(self.inputs.len());
                let other = self.inputs.get(other).map_or(&[][..], Vec::as_slice);
                let from = self.part(other);
                let bytes = other.get(from).unwrap_or_default().to_vec();
                input.splice(part, bytes);
            }
            _ => {
                let word = self.below(WORDS.len());
                let word = WORDS.get(word).copied().unwrap_or_default();
                input.splice(part.start..part.start, word.bytes());
            }
        }
    }
}

/// Infinite.
impl Iterator for Mutations<'_> {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let start = self.below(self.inputs.len());
        let mut input = self.inputs.get(start)?.clone();
        for _ in 0..=self.below(4) {
            self.change(&mut input);
        }
        Some(input)
    }
}

#[cfg(test)]
mod tests {
    use super::Mutations;

    #[test]
    fn changes_depend_on_the_seed_and_few_are_empty() {
        let inputs = [b"{\"a\": [1, 2]}".to_vec(), b"b: c".to_vec()];
        let mutations = |seed| -> Vec<_> { Mutations::new(&inputs, seed).take(200).collect() };
        assert_eq!(mutations(7), mutations(7));
        assert_ne!(mutations(7), mutations(8));
        let unchanged = mutations(7)
            .iter()
            .filter(|input| inputs.contains(input))
            .count();
        assert!(unchanged < 20, "{unchanged}");
    }
}
