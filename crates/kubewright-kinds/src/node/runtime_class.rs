//! RuntimeClass: the container runtime of Pods.

use serde_json::Value;

use crate::columns::{AGE, Cell, Column, NAME};
use crate::field_path::FieldPath;
use crate::groups;
use crate::kind::{BuiltinKind, ControllerSupport, FinalizerRule, Permission};
use crate::node_labels::deprecation;
use crate::warning_list::Warnings;

/// The container runtime of Pods.
pub static RUNTIME_CLASS: BuiltinKind = BuiltinKind {
    finalizers: FinalizerRule::QualifiedName,
    create_on_update: Permission::Allowed,
    unconditional_update: Permission::Denied,
    declared_columns: COLUMNS,
    controller: ControllerSupport::Missing,
    warnings: warn,
    ..BuiltinKind::new(groups::NODE, "RuntimeClass", "runtimeclasses")
};

const COLUMNS: &[Column] = &[NAME, Column::text("Handler", Cell::Text("/handler")), AGE];

/// `GetWarningsForRuntimeClass`.
fn warn(object: &Value, _old: Option<&Value>, warnings: &mut Warnings) {
    let scheduling = FieldPath::new(object, "scheduling");
    let selector = scheduling.field("nodeSelector");
    for (label, _) in selector.entries() {
        if let Some(why) = deprecation(label) {
            warnings.add_at(selector, why);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::RUNTIME_CLASS;

    #[test]
    fn deprecated_node_labels_are_warned_about() {
        let class = json!({"scheduling": {"nodeSelector": {"beta.kubernetes.io/os": "linux"}}});
        assert_eq!(
            RUNTIME_CLASS.warnings(&class, None),
            ["scheduling.nodeSelector: deprecated since v1.14; use \"kubernetes.io/os\" instead"]
        );
    }
}
