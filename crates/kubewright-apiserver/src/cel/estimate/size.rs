/// How large a text, a list or a map can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Size {
    /// Nothing is known about it.
    pub(super) const UNKNOWN: Self = Self {
        least: 0,
        most: u64::MAX,
    };

    pub(super) const fn exactly(size: u64) -> Self {
        Self {
            least: size,
            most: size,
        }
    }

    pub(super) const fn up_to(most: u64) -> Self {
        Self { least: 0, most }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            least: self.least.saturating_add(other.least),
            most: self.most.saturating_add(other.most),
        }
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self {
            least: self.least.saturating_mul(other.least),
            most: self.most.saturating_mul(other.most),
        }
    }

    /// What covers both.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }

    /// The most that it costs to go over all of it.
    pub(super) fn cost(self, factor: f64) -> u64 {
        scaled(self.most, factor)
    }
}

/// A number times a factor, rounded up, as far as numbers go.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what rounds is what Kubernetes rounds, and casts of floats stop at the bounds"
)]
pub(super) fn scaled(number: u64, factor: f64) -> u64 {
    (number as f64 * factor).ceil() as u64
}

/// How often the shorter fits into the longer, rounded up.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what rounds is what Kubernetes rounds, and casts of floats stop at the bounds"
)]
pub(super) fn parts(longer: u64, shorter: u64) -> u64 {
    (longer as f64 / shorter as f64).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::{Size, parts, scaled};

    #[test]
    fn costs_round_up_and_stop_at_the_largest_number() {
        assert_eq!([0, 1, 10, 71].map(|size| scaled(size, 0.1)), [0, 1, 1, 8]);
        assert_eq!(scaled(u64::MAX, 2.0), u64::MAX);
        assert_eq!(parts(10, 3), 4);
        let huge = Size::UNKNOWN.plus(Size::exactly(1)).times(Size::exactly(3));
        assert_eq!((huge.least, huge.most), (3, u64::MAX));
        let either = Size::exactly(3).or(Size::up_to(2));
        assert_eq!((either.least, either.most), (0, 3));
    }
}
