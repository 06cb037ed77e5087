//! The result of a write that depends on the object's current state.

/// What a write did to the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteResult {
    /// The object already had the desired state: nothing was written.
    Unchanged,
    /// The object did not exist and was created.
    Created,
    /// The object existed, and the differences were written.
    Patched,
}
