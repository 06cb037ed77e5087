//! Each container by itself.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::field_path::FieldPath;
use crate::pod_spec::owner::SpecOwner;
use crate::resource_list::warn_fractional_bytes;
use crate::warning_list::Warnings;

const LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

const SECCOMP: &str = "container.seccomp.security.alpha.kubernetes.io/";

const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

/// Calls a function with each container of all lists.
pub(crate) fn each_container(spec: FieldPath<'_>, mut visit: impl FnMut(FieldPath<'_>)) {
    for list in LISTS {
        for container in spec.field(list).items() {
            visit(container);
        }
    }
}

/// Warns about each container by itself.
pub(super) fn containers(
    metadata: FieldPath<'_>,
    spec: FieldPath<'_>,
    owner: SpecOwner,
    warnings: &mut Warnings,
) {
    each_container(spec, |container| {
        seccomp(metadata, container, warnings);
        if owner == SpecOwner::Template {
            warn_app_armor(metadata, spec, container, warnings);
        }
        let resources = container.field("resources");
        for resource in ["memory", "ephemeral-storage"] {
            for list in ["limits", "requests"] {
                warn_fractional_bytes(resources.field(list).key(resource), warnings);
            }
        }
        variables(container.field("env"), warnings);
    });
}

fn seccomp(metadata: FieldPath<'_>, container: FieldPath<'_>, warnings: &mut Warnings) {
    if container.field("securityContext").has("seccompProfile") {
        return;
    }
    let name = format!("{SECCOMP}{}", container.text_of("name"));
    let annotations = metadata.field("annotations");
    if annotations.has(&name) {
        let detail = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
        warnings.add_at(annotations.key(&name), detail);
    }
}

/// Warns about an annotation, unless a field has the same profile.
pub(crate) fn warn_app_armor(
    metadata: FieldPath<'_>,
    spec: FieldPath<'_>,
    container: FieldPath<'_>,
    warnings: &mut Warnings,
) {
    if container.field("securityContext").has("appArmorProfile") {
        return;
    }
    let name = format!("{APP_ARMOR}{}", container.text_of("name"));
    let annotations = metadata.field("annotations");
    let annotation = annotations.key(&name);
    if !annotation.is_set() {
        return;
    }
    let security = spec.field("securityContext");
    let of_pod = security.field("appArmorProfile");
    if profile(annotation.text()).as_ref() != Some(of_pod.value()) {
        let detail = "deprecated since v1.30; use the \"appArmorProfile\" field instead";
        warnings.add_at(annotation, detail);
    }
}

/// The field that corresponds to an annotation (`ApparmorFieldForAnnotation`).
fn profile(annotation: &str) -> Option<Value> {
    match annotation {
        "unconfined" => Some(json!({"type": "Unconfined"})),
        "runtime/default" => Some(json!({"type": "RuntimeDefault"})),
        _ => {
            let name = annotation.strip_prefix("localhost/")?;
            let profile = json!({"type": "Localhost", "localhostProfile": name});
            Some(profile).filter(|_| !name.is_empty())
        }
    }
}

/// Warns about a variable that is redefined without a reference to its previous value.
fn variables(at: FieldPath<'_>, warnings: &mut Warnings) {
    let mut seen = BTreeSet::new();
    for variable in at.items() {
        let (name, value) = (variable.text_of("name"), variable.text_of("value"));
        if seen.insert(name) {
            continue;
        }
        let reference = format!("$({name})");
        let extends_previous = value != reference && value.contains(&reference);
        if !extends_previous || variable.has("valueFrom") {
            let detail = format!(
                "hides previous definition of {name:?}, which may be dropped when using apply"
            );
            warnings.add_at(variable, &detail);
        }
    }
}
