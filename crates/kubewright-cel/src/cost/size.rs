//! Estimated sizes (`SizeEstimate` of cel-go/checker/cost.go).

/// The possible sizes of a string, list or map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SizeEstimate {
    pub(crate) min: u64,
    pub(crate) max: u64,
}

impl SizeEstimate {
    /// The estimate of a value about which nothing is known.
    pub(crate) const UNKNOWN: Self = Self {
        min: 0,
        max: u64::MAX,
    };

    pub(crate) const fn exactly(size: u64) -> Self {
        Self {
            min: size,
            max: size,
        }
    }

    pub(crate) const fn up_to(max: u64) -> Self {
        Self { min: 0, max }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
        }
    }

    pub(crate) fn times(self, other: Self) -> Self {
        Self {
            min: self.min.saturating_mul(other.min),
            max: self.max.saturating_mul(other.max),
        }
    }

    /// The estimate of a value that has one of two sizes.
    pub(crate) fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// The maximum cost of traversing a value of this size.
    pub(crate) fn cost(self, factor: f64) -> u64 {
        scale(self.max, factor)
    }
}

/// Multiplies and rounds up. Saturates at the bounds of `u64`.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "Kubernetes rounds in the same way, and casts of floats saturate"
)]
pub(crate) fn scale(number: u64, factor: f64) -> u64 {
    (number as f64 * factor).ceil() as u64
}

/// Divides and rounds up. Saturates at the bounds of `u64`.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "Kubernetes rounds in the same way, and casts of floats saturate"
)]
pub(crate) fn ceil_div(dividend: u64, divisor: u64) -> u64 {
    (dividend as f64 / divisor as f64).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::{SizeEstimate, ceil_div, scale};

    #[test]
    fn costs_round_up_and_saturate() {
        assert_eq!([0, 1, 10, 71].map(|size| scale(size, 0.1)), [0, 1, 1, 8]);
        assert_eq!(scale(u64::MAX, 2.0), u64::MAX);
        assert_eq!(ceil_div(10, 3), 4);
        let huge = SizeEstimate::UNKNOWN
            .plus(SizeEstimate::exactly(1))
            .times(SizeEstimate::exactly(3));
        assert_eq!((huge.min, huge.max), (3, u64::MAX));
        let either = SizeEstimate::exactly(3).union(SizeEstimate::up_to(2));
        assert_eq!((either.min, either.max), (0, 3));
    }
}
