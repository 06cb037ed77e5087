//! Names that are reserved for static configuration.

use serde_json::Value;

use crate::field_path::FieldPath;
use crate::warning_list::Warnings;

const STATIC: &str = ".static.k8s.io";

/// `WarningsForStaticSuffix`.
pub(super) fn warn_reserved_name(object: &Value, _old: Option<&Value>, warnings: &mut Warnings) {
    let metadata = FieldPath::new(object, "metadata");
    let name = metadata.field("name");
    if name.text().ends_with(STATIC) {
        let detail = format!(
            "names ending with {STATIC:?} are reserved for static manifest-based configurations \
             and cannot be managed via the API"
        );
        warnings.add_at(name, &detail);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::admissionregistration::VALIDATING_WEBHOOK_CONFIGURATION;

    #[test]
    fn reserved_name_is_warned_about() {
        let hooks = json!({"metadata": {"name": "a.static.k8s.io"}});
        assert_eq!(
            VALIDATING_WEBHOOK_CONFIGURATION.warnings(&hooks, None),
            [
                "metadata.name: names ending with \".static.k8s.io\" are reserved for static \
                 manifest-based configurations and cannot be managed via the API"
            ]
        );
    }
}
