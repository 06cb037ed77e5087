//! ServiceAccount: an identity for Pods.

use serde_json::Value;

use crate::columns::NAME_AND_AGE;
use crate::groups;
use crate::kind::{BuiltinKind, DeleteResponse, Validation};
use crate::warning_list::Warnings;

/// An identity for Pods.
pub static SERVICE_ACCOUNT: BuiltinKind = BuiltinKind {
    delete_response: DeleteResponse::Object,
    declared_columns: NAME_AND_AGE,
    validation: Validation::MetadataOnly,
    warnings: warn,
    ..BuiltinKind::new(groups::CORE, "ServiceAccount", "serviceaccounts")
};

const MOUNTABLE: &str = "kubernetes.io/enforce-mountable-secrets";

/// Warns about a new annotation that restricts the secrets which Pods may mount.
fn warn(object: &Value, old: Option<&Value>, warnings: &mut Warnings) {
    let has = |account: &Value| account["metadata"]["annotations"].get(MOUNTABLE).is_some();
    if has(object) && !old.is_some_and(has) {
        warnings.add(&format!(
            "metadata.annotations[{MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces \
             to isolate access to mounted secrets"
        ));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::SERVICE_ACCOUNT;

    #[test]
    fn new_annotation_for_mountable_secrets_is_warned_about() {
        let plain = json!({"metadata": {"name": "a"}});
        let annotations = json!({"kubernetes.io/enforce-mountable-secrets": "true"});
        let enforcing = json!({"metadata": {"annotations": annotations}});
        let warning = "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated \
             in v1.32+; prefer separate namespaces to isolate access to mounted secrets";
        assert_eq!(SERVICE_ACCOUNT.warnings(&enforcing, None), [warning]);
        assert_eq!(
            SERVICE_ACCOUNT.warnings(&enforcing, Some(&plain)),
            [warning]
        );
        assert!(
            SERVICE_ACCOUNT
                .warnings(&enforcing, Some(&enforcing))
                .is_empty()
        );
        assert!(SERVICE_ACCOUNT.warnings(&plain, None).is_empty());
    }
}
