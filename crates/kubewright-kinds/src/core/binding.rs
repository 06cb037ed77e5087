//! Binding: assigns a Pod to a node.

use crate::groups;
use crate::kind::BuiltinKind;

/// Assigns a Pod to a node.
pub static BINDING: BuiltinKind = BuiltinKind::request(groups::CORE, "Binding", "bindings");
