//! The rounds of mutating admission.

/// Mutating policies and webhooks see an object once, and once more after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    First,
    Second,
}
