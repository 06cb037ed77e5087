use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::amounts::whole_bytes;
use super::super::{At, Told};

const LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];
const SECCOMP: &str = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

/// Where the specification of a Pod stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Alone,
    InTemplate,
}

/// Visits the containers of all lists.
pub(super) fn each_container(spec: At<'_>, mut visit: impl FnMut(At<'_>)) {
    for list in LISTS {
        for container in spec.field(list).items() {
            visit(container);
        }
    }
}

/// What is said of each container by itself.
pub(super) fn containers(metadata: At<'_>, spec: At<'_>, standing: Standing, told: &mut Told) {
    each_container(spec, |container| {
        seccomp(metadata, container, told);
        if standing == Standing::InTemplate {
            app_armor(metadata, spec, container, told);
        }
        let resources = container.field("resources");
        for resource in ["memory", "ephemeral-storage"] {
            for list in ["limits", "requests"] {
                whole_bytes(resources.field(list).key(resource), told);
            }
        }
        variables(container.field("env"), told);
    });
}

fn seccomp(metadata: At<'_>, container: At<'_>, told: &mut Told) {
    if container.field("securityContext").has("seccompProfile") {
        return;
    }
    let name = format!("{SECCOMP}{}", container.text_of("name"));
    let annotations = metadata.field("annotations");
    if annotations.has(&name) {
        let detail = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
        told.at(annotations.key(&name), detail);
    }
}

/// An annotation is told of unless a field says the same.
pub(super) fn app_armor(metadata: At<'_>, spec: At<'_>, container: At<'_>, told: &mut Told) {
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
        told.at(annotation, detail);
    }
}

/// The field that says what an annotation does (`ApparmorFieldForAnnotation`).
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

/// A variable may be defined anew only by building on what it was.
fn variables(at: At<'_>, told: &mut Told) {
    let mut seen = BTreeSet::new();
    for variable in at.items() {
        let (name, value) = (variable.text_of("name"), variable.text_of("value"));
        if seen.insert(name) {
            continue;
        }
        let reference = format!("$({name})");
        let builds_on_it = value != reference && value.contains(&reference);
        if !builds_on_it || variable.has("valueFrom") {
            let detail = format!(
                "hides previous definition of {name:?}, which may be dropped when using apply"
            );
            told.at(variable, &detail);
        }
    }
}
