//! An index for which `Option` needs no additional space.

use std::num::NonZeroU32;

/// An index into a list, stored plus one so that `Option<Index>` has the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Index(NonZeroU32);

impl Index {
    pub(super) fn new(index: u32) -> Self {
        let number = NonZeroU32::MIN.checked_add(index);
        Self(number.expect("fewer keys than fit into memory"))
    }

    pub(super) fn get(self) -> u32 {
        self.0.get() - 1
    }
}
