//! Validation of a Pod (`ValidatePodCreate`, `ValidatePodUpdate`).

use serde_json::Value;

use super::update::validate_update;
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::pod_spec::{
    PodContext, SpecOwner, validate_annotations, validate_image_whitespace, validate_pod_spec,
};

/// `ValidatePodCreate`, `ValidatePodUpdate`.
pub(super) fn validate(object: &Value, old: Option<&Value>, errors: &mut ErrorList) {
    metadata_and_spec(object, errors);
    if let Some(old) = old {
        validate_update(object, old, errors);
        return;
    }
    let spec = FieldPath::new(object, "spec");
    if !spec.field("ephemeralContainers").is_empty() {
        let containers = spec.field("ephemeralContainers");
        errors.forbidden(containers, "cannot be set on create");
    }
    if !spec.text_of("nodeName").is_empty() && !spec.field("schedulingGates").is_empty() {
        let detail = "cannot be set until all schedulingGates have been cleared";
        errors.forbidden(spec.field("nodeName"), detail);
    }
}

fn metadata_and_spec(object: &Value, errors: &mut ErrorList) {
    let metadata = FieldPath::new(object, "metadata");
    let spec = FieldPath::new(object, "spec");
    validate_annotations(metadata.field("annotations"), spec, errors);
    let context = PodContext::new(spec, SpecOwner::Pod);
    let name = metadata.text_of("name");
    validate_pod_spec(spec, context, Some(name), errors);
    if spec.text_of("serviceAccountName").is_empty() {
        for volume in spec.field("volumes").items() {
            let projected = volume.field("projected");
            for source in projected.field("sources").items() {
                let token = source.field("serviceAccountToken");
                if token.is_set() {
                    let detail = "must not be specified when serviceAccountName is not set";
                    errors.forbidden(token, detail);
                }
            }
        }
    }
    for list in ["containers", "initContainers"] {
        for container in spec.field(list).items() {
            validate_image_whitespace(container.field("image"), errors);
        }
    }
}
