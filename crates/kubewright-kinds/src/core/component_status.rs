//! ComponentStatus: the health of a control plane component.

use crate::groups;
use crate::kind::BuiltinKind;

/// The health of a control plane component.
pub static COMPONENT_STATUS: BuiltinKind =
    BuiltinKind::request(groups::CORE, "ComponentStatus", "componentstatuses");
