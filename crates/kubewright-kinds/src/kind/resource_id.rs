//! The name of a resource in the store.

use std::fmt;

const CAPACITY: usize = 80;

/// `pods` or `deployments.apps`, joined from plural name and group when it is compiled.
#[derive(Clone, Copy)]
pub(crate) struct ResourceId {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl ResourceId {
    pub(super) const fn new(group: &str, plural: &str) -> Self {
        let id = Self {
            bytes: [0; CAPACITY],
            length: 0,
        };
        let id = id.with(plural.as_bytes());
        if group.is_empty() {
            id
        } else {
            id.with(b".").with(group.as_bytes())
        }
    }

    const fn with(mut self, text: &[u8]) -> Self {
        let mut index = 0;
        while index < text.len() {
            self.bytes[self.length] = text[index];
            self.length += 1;
            index += 1;
        }
        self
    }

    pub(super) fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..self.length).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

impl fmt::Debug for ResourceId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(formatter)
    }
}
