use kubewright_wire::status::Cause;
use serde_json::Value;

use super::super::formats::qualified_name;
use super::super::labels::labels;
use super::super::{At, Findings};
use super::spec::spec;
use super::{Around, update};

const MIRROR: &str = "kubernetes.io/config.mirror";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// `ValidatePodCreate`, `ValidatePodUpdate`.
pub(in super::super) fn pod(object: &Value, old: Option<&Value>, findings: &mut Findings) {
    metadata_and_spec(object, findings);
    if let Some(old) = old {
        update::update(object, old, findings);
        return;
    }
    let spec = At::top(object, "spec");
    if !spec.field("ephemeralContainers").is_empty() {
        let containers = spec.field("ephemeralContainers");
        findings.forbidden(containers, "cannot be set on create");
    }
    if !spec.text_of("nodeName").is_empty() && !spec.field("schedulingGates").is_empty() {
        let detail = "cannot be set until all schedulingGates have been cleared";
        findings.forbidden(spec.field("nodeName"), detail);
    }
}

fn metadata_and_spec(object: &Value, findings: &mut Findings) {
    let metadata = At::top(object, "metadata");
    let place = At::top(object, "spec");
    annotations(metadata.field("annotations"), place, findings);
    let around = Around::new(place, true);
    let name = metadata.text_of("name");
    spec(place, around, Some(name), findings);
    if place.text_of("serviceAccountName").is_empty() {
        for volume in place.field("volumes").items() {
            let projected = volume.field("projected");
            for source in projected.field("sources").items() {
                let token = source.field("serviceAccountToken");
                if token.is_set() {
                    let detail = "must not be specified when serviceAccountName is not set";
                    findings.forbidden(token, detail);
                }
            }
        }
    }
    for list in ["containers", "initContainers"] {
        for container in place.field(list).items() {
            image_edges(container.field("image"), findings);
        }
    }
}

pub(super) fn image_edges(image: At<'_>, findings: &mut Findings) {
    if image.text().trim() != image.text() {
        findings.invalid(image, "must not have leading or trailing whitespace");
    }
}

/// `ValidatePodTemplate`.
pub(in super::super) fn pod_template(object: &Value, _: Option<&Value>, findings: &mut Findings) {
    template(At::top(object, "template"), findings);
}

/// `ValidatePodTemplateSpec`.
pub(in super::super) fn template(template: At<'_>, findings: &mut Findings) {
    let metadata = template.field("metadata");
    // Kubernetes leaves `metadata` out of these paths.
    let own = |name: &'static str| template.field(name).with(metadata.field(name).value());
    labels(own("labels"), findings);
    for (key, _) in own("annotations").entries() {
        for problem in qualified_name(&key.to_lowercase()) {
            findings.invalid_value(own("annotations"), &Value::from(key), &problem);
        }
    }
    let place = template.field("spec");
    annotations(own("annotations"), place, findings);
    spec(place, Around::new(place, false), None, findings);
    if !place.field("ephemeralContainers").is_empty() {
        let detail = "ephemeral containers not allowed in pod template";
        findings.forbidden(place.field("ephemeralContainers"), detail);
    }
}

/// `ValidatePodSpecificAnnotations`.
pub(super) fn annotations(at: At<'_>, spec: At<'_>, findings: &mut Findings) {
    if at.has(MIRROR) && spec.text_of("nodeName").is_empty() {
        let detail = "must set spec.nodeName if mirror pod annotation is set";
        findings.invalid(at.key(MIRROR), detail);
    }
    let cost = at.text_of(DELETION_COST);
    let is_plain = !cost.starts_with('+') && (cost.len() == 1 || !cost.starts_with('0'));
    if !cost.is_empty() && (cost.parse::<i32>().is_err() || !is_plain) {
        findings.invalid(at.key(DELETION_COST), "must be a 32bit integer");
    }
}

/// What may not be changed of annotations (`ValidatePodSpecificAnnotationUpdates`).
pub(super) fn annotations_update(object: &Value, old: &Value, findings: &mut Findings) {
    let mirror = |pod: &Value| pod["metadata"]["annotations"][MIRROR].clone();
    let path = format!("metadata.annotations[{MIRROR}]");
    match (mirror(old), mirror(object)) {
        (before, after) if before == after => {}
        (Value::Null, _) => {
            findings.add(Cause::forbidden(&path, "may not add mirror pod annotation"));
        }
        _ => {
            let detail = "may not remove or update mirror pod annotation";
            findings.add(Cause::forbidden(&path, detail));
        }
    }
    let metadata = At::top(object, "metadata");
    let spec = At::top(object, "spec");
    annotations(metadata.field("annotations"), spec, findings);
}
