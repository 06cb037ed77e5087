//! A pseudo-random number generator.

use std::hash::{BuildHasher as _, RandomState};

/// SplitMix64. For jitter and identities, not for cryptography.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// A generator with this seed, or with a random one.
    pub(crate) fn new(seed: Option<u64>) -> Self {
        Self(seed.unwrap_or_else(|| RandomState::new().hash_one(0)))
    }

    /// A number from 0 to 1, 1 excluded.
    pub(crate) fn fraction(&mut self) -> f64 {
        let bits = u32::try_from(self.bits() >> 32).expect("32 bits remain");
        f64::from(bits) / 2_f64.powi(32)
    }

    /// A number with 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
