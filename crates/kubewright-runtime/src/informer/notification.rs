//! What a subscriber receives.

use crate::store::ChangeEvent;

/// What a subscriber receives.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Notification {
    /// An object has changed.
    Change(ChangeEvent),
    /// All objects of the initial state were delivered. Sent once.
    Synced,
}
