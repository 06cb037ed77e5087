//! Eviction: deletes a Pod unless a budget forbids it.

use crate::groups;
use crate::kind::BuiltinKind;

/// Deletes a Pod unless a budget forbids it.
pub static EVICTION: BuiltinKind = BuiltinKind::subresource(groups::POLICY, "Eviction", "eviction");
