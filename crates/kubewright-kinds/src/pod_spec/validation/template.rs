//! `PodTemplateSpec`.

use kubewright_core::format::qualified_name;
use serde_json::Value;

use super::annotations::validate_annotations;
use super::context::PodContext;
use super::spec::validate_pod_spec;
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::label_selector::validate_labels;
use crate::pod_spec::owner::SpecOwner;

/// `ValidatePodTemplateSpec`.
pub(crate) fn validate_template(template: FieldPath<'_>, errors: &mut ErrorList) {
    let metadata = template.field("metadata");
    // Kubernetes omits `metadata` from these paths.
    let own = |name: &'static str| template.field(name).with(metadata.field(name).value());
    validate_labels(own("labels"), errors);
    for (key, _) in own("annotations").entries() {
        for problem in qualified_name(&key.to_lowercase()) {
            errors.invalid_value(own("annotations"), &Value::from(key), &problem);
        }
    }
    let spec = template.field("spec");
    validate_annotations(own("annotations"), spec, errors);
    validate_pod_spec(
        spec,
        PodContext::new(spec, SpecOwner::Template),
        None,
        errors,
    );
    if !spec.field("ephemeralContainers").is_empty() {
        let detail = "ephemeral containers not allowed in pod template";
        errors.forbidden(spec.field("ephemeralContainers"), detail);
    }
}
