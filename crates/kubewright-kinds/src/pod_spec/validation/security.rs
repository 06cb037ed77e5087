//! Security contexts.

use kubewright_core::format::user_or_group;
use serde_json::json;

use super::context::PodContext;
use super::mounts::descending;
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;

const PROFILES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];

/// `validatePodSpecSecurityContext`.
pub(super) fn pod_security(spec: FieldPath<'_>, errors: &mut ErrorList) {
    let at = spec.field("securityContext");
    for field in ["fsGroup", "runAsUser", "runAsGroup"] {
        id(at.field(field), errors);
    }
    for group in at.field("supplementalGroups").items() {
        id(group, errors);
    }
    let shares = spec.field("shareProcessNamespace").is_true();
    if shares && spec.field("hostPID").is_true() {
        let shared = at
            .field("shareProcessNamespace")
            .with(spec.field("shareProcessNamespace").value());
        errors.invalid(
            shared,
            "ShareProcessNamespace and HostPID cannot both be enabled",
        );
    }
    choice(
        at.field("fsGroupChangePolicy"),
        &["Always", "OnRootMismatch"],
        errors,
    );
    seccomp(at.field("seccompProfile"), errors);
    app_armor(at.field("appArmorProfile"), errors);
    choice(
        at.field("supplementalGroupsPolicy"),
        &["Merge", "Strict"],
        errors,
    );
    choice(
        at.field("seLinuxChangePolicy"),
        &["MountOption", "Recursive"],
        errors,
    );
}

/// `ValidateSecurityContext`. As by default, the server allows no privileged containers.
pub(super) fn container_security(
    at: FieldPath<'_>,
    context: &PodContext<'_>,
    errors: &mut ErrorList,
) {
    if at.field("privileged").is_true() {
        errors.forbidden(at.field("privileged"), "disallowed by cluster policy");
    }
    for field in ["runAsUser", "runAsGroup"] {
        id(at.field(field), errors);
    }
    let proc_mount = at.field("procMount");
    choice(proc_mount, &["Default", "Unmasked"], errors);
    if context.on_host_users && proc_mount.text() == "Unmasked" {
        errors.invalid(proc_mount, "`hostUsers` must be false to use `Unmasked`");
    }
    seccomp(at.field("seccompProfile"), errors);
    app_armor(at.field("appArmorProfile"), errors);
}

fn id(at: FieldPath<'_>, errors: &mut ErrorList) {
    let Some(number) = at.number() else {
        return;
    };
    for problem in user_or_group(number) {
        errors.invalid_value(at, &json!(number), &problem);
    }
}

fn choice(at: FieldPath<'_>, known: &[&str], errors: &mut ErrorList) {
    if at.is_set() && !known.contains(&at.text()) {
        errors.unsupported(at, known);
    }
}

/// `validateSeccompProfileField`.
fn seccomp(at: FieldPath<'_>, errors: &mut ErrorList) {
    if !at.is_set() {
        return;
    }
    let kind = at.field("type");
    match kind.text() {
        "" => errors.required(kind, "type is required when seccompProfile is set"),
        text if PROFILES.contains(&text) => {}
        _ => errors.unsupported(kind, &PROFILES),
    }
    let profile = at.field("localhostProfile");
    match (kind.text(), profile.is_set()) {
        ("Localhost", false) => {
            errors.required(profile, "must be set when seccomp type is Localhost");
        }
        ("Localhost", true) => descending(profile, errors),
        (_, true) => {
            let shown = json!({"Type": kind.text(), "LocalhostProfile": profile.text()});
            let detail = "can only be set when seccomp type is Localhost";
            errors.invalid_value(profile, &shown, detail);
        }
        (_, false) => {}
    }
}

/// `ValidateAppArmorProfileField`.
fn app_armor(at: FieldPath<'_>, errors: &mut ErrorList) {
    if !at.is_set() {
        return;
    }
    let (kind, profile) = (at.field("type"), at.field("localhostProfile"));
    match kind.text() {
        "Localhost" if profile.text().trim().is_empty() => {
            errors.required(profile, "must be set when AppArmor type is Localhost");
        }
        "Localhost" if profile.text().trim() != profile.text() => {
            errors.invalid(profile, "must not be padded with whitespace");
        }
        "RuntimeDefault" | "Unconfined" if profile.is_set() => {
            errors.invalid(profile, "can only be set when AppArmor type is Localhost");
        }
        "Localhost" | "RuntimeDefault" | "Unconfined" => {}
        "" => errors.required(kind, "type is required when appArmorProfile is set"),
        _ => errors.unsupported(kind, &PROFILES),
    }
}
