//! Random choices that a seed determines.

/// A generator of random numbers that a seed determines: splitmix64.
#[derive(Clone, Debug)]
pub(super) struct Dice {
    state: u64,
}

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn roll(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.roll() % end.max(1)
    }

    /// `true` with a probability of 1 to `times`.
    pub(super) fn is_one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// A random element.
    ///
    /// # Panics
    ///
    /// When the slice is empty.
    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        let count = u64::try_from(all.len()).unwrap_or(u64::MAX);
        let index = usize::try_from(self.below(count)).unwrap_or(0);
        *all.get(index).expect("the slice is not empty")
    }

    /// Some of the elements, in their order.
    pub(super) fn some_of<T: Copy>(&mut self, all: &[T]) -> Vec<T> {
        all.iter().copied().filter(|_| self.is_one_in(2)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Dice;

    #[test]
    fn rolls_depend_on_the_seed_only() {
        let rolls = |seed: u64| -> Vec<u64> {
            let mut dice = Dice::new(seed);
            (0..8).map(|_| dice.below(1000)).collect()
        };
        assert_eq!(rolls(1), rolls(1));
        assert_ne!(rolls(1), rolls(2));
    }

    #[test]
    fn every_element_is_chosen_at_some_time() {
        let mut dice = Dice::new(3);
        let seen: std::collections::BTreeSet<u8> =
            (0..100).map(|_| dice.one_of(&[1, 2, 3])).collect();
        assert_eq!(seen.len(), 3);
        assert!(dice.some_of(&[1; 64]).len() < 64);
    }
}
