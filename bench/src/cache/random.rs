//! A deterministic generator of random numbers.

/// SplitMix64, which generates the same numbers in every run.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, which is not zero.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// Returns one of the words. There is at least one.
    pub(super) fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        let count = u64::try_from(words.len()).unwrap_or(u64::MAX);
        let index = usize::try_from(self.below(count)).unwrap_or_default();
        words.get(index).copied().unwrap_or_default()
    }

    /// Returns a text of `length` letters and digits.
    pub(super) fn text(&mut self, length: u64) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        let letter = |random: &mut Self| {
            let index = usize::try_from(random.next() % 27).unwrap_or_default();
            LETTERS.get(index).copied().map_or('x', char::from)
        };
        (0..length).map(|_| letter(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn numbers_are_those_of_splitmix64() {
        let mut random = Random::new(1_234_567);
        let numbers = [random.next(), random.next(), random.next()];
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }
}
