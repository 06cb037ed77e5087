use std::num::NonZeroU32;

/// A place in a list; having none takes no room of its own.
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
