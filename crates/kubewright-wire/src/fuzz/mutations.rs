/// What gets further into a reader than noise does.
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
/// The most that one change adds.
const LONGEST: usize = 16;

/// Inputs that differ a little from given ones: the same for the same seed, so that one that
/// fails is found again.
#[derive(Clone, Debug)]
pub struct Mutations<'a> {
    inputs: &'a [Vec<u8>],
    state: u64,
}

impl<'a> Mutations<'a> {
    /// Changes of the inputs, which may not be none.
    ///
    /// # Panics
    ///
    /// When there are no inputs.
    pub fn new(inputs: &'a [Vec<u8>], seed: u64) -> Self {
        assert!(!inputs.is_empty(), "there is something to change");
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

    /// One of `0..end`, 0 when there is none.
    fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next_number() % end).unwrap_or_default()
    }

    /// Two places of an input, in order and not far apart.
    fn part(&mut self, input: &[u8]) -> std::ops::Range<usize> {
        let start = self.below(input.len() + 1);
        let length = 1 + self.below(LONGEST);
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

/// Never ends.
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
    fn the_same_seed_gives_the_same_changes_and_few_change_nothing() {
        let inputs = [b"{\"a\": [1, 2]}".to_vec(), b"b: c".to_vec()];
        let some = |seed| -> Vec<_> { Mutations::new(&inputs, seed).take(200).collect() };
        assert_eq!(some(7), some(7));
        assert_ne!(some(7), some(8));
        let unchanged = some(7).iter().filter(|one| inputs.contains(one)).count();
        assert!(unchanged < 20, "{unchanged}");
    }
}
