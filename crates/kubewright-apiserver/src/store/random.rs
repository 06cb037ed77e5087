//! Uids, names and other numbers that follow from a seed.

use std::sync::atomic::{AtomicU64, Ordering};

/// The only random numbers of the server: splitmix64 from a seed, so that runs with equal seeds
/// have equal uids and names.
#[derive(Debug)]
pub(crate) struct Random {
    state: AtomicU64,
}

/// `k8s.io/apimachinery/pkg/util/rand`: no vowels, no digits that look like letters.
const SUFFIX_ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH: usize = 5;
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            state: AtomicU64::new(seed),
        }
    }

    /// A generator that continues with the same numbers as this one.
    pub(crate) fn fork(&self) -> Self {
        Self::new(self.state.load(Ordering::Relaxed))
    }

    pub(crate) fn next(&self) -> u64 {
        let mut z = self
            .state
            .fetch_add(STEP, Ordering::Relaxed)
            .wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A version 4 UUID.
    pub(crate) fn uid(&self) -> String {
        let mut bits = (u128::from(self.next()) << 64) | u128::from(self.next());
        // The bits of the version, and those of the variant.
        bits = bits & !(0xF << 76) | (0x4 << 76);
        bits = bits & !(0x3 << 62) | (0x2 << 62);
        let hex = format!("{bits:032x}");
        let mut uid = String::with_capacity(36);
        for (index, digit) in hex.chars().enumerate() {
            if matches!(index, 8 | 12 | 16 | 20) {
                uid.push('-');
            }
            uid.push(digit);
        }
        uid
    }

    /// The suffix of a generated name.
    pub(crate) fn suffix(&self) -> String {
        let mut bits = self.next();
        (0..SUFFIX_LENGTH)
            .map(|_| {
                let index = usize::try_from(bits % 27).unwrap_or_default();
                bits /= 27;
                char::from(SUFFIX_ALPHABET[index])
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn uid_is_a_version_4_uuid() {
        let uid = Random::new(3).uid();
        let lengths: Vec<_> = uid.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert_eq!(uid.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&uid.as_bytes()[19]), "{uid}");
    }

    #[test]
    fn equal_seeds_give_equal_names() {
        let (first, second) = (Random::new(9), Random::new(9));
        assert_eq!(first.suffix(), second.suffix());
        assert_ne!(first.suffix(), first.suffix());
        assert_eq!(first.fork().uid(), first.uid());
    }
}
