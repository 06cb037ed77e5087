//! What an object uses of a quota.

use std::collections::BTreeMap;

use kubewright_core::Quantity;

/// How much of each resource an object uses, by the names that quotas count under.
pub type QuotaUsage = BTreeMap<String, Quantity>;

/// Counts the object under a name.
pub(crate) fn add_one(usage: &mut QuotaUsage, name: &str) {
    let one = Quantity::parse("1").unwrap_or_else(Quantity::zero);
    usage.insert(name.to_owned(), one);
}
