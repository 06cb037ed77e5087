//! Resources in messages.

use kubewright_core::Resource;

/// A resource in messages: `deployments.apps`, or `pods` in the core group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupResource<'a> {
    /// The group, empty for the core one.
    pub group: &'a str,
    /// The plural name.
    pub plural: &'a str,
}

impl<'a> From<&'a Resource> for GroupResource<'a> {
    fn from(resource: &'a Resource) -> Self {
        Self {
            group: resource.kind.group(),
            plural: &resource.plural,
        }
    }
}

/// From group and plural name.
impl<'a> From<(&'a str, &'a str)> for GroupResource<'a> {
    fn from(pair: (&'a str, &'a str)) -> Self {
        let (group, plural) = pair;
        Self { group, plural }
    }
}

impl GroupResource<'_> {
    pub(super) fn qualified(&self) -> String {
        qualified(self.plural, self.group)
    }
}

pub(super) fn qualified(name: &str, group: &str) -> String {
    match group {
        "" => name.to_owned(),
        group => format!("{name}.{group}"),
    }
}
