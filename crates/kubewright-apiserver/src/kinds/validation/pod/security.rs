use serde_json::json;

use super::super::formats::user_or_group;
use super::super::{At, Findings};
use super::Around;
use super::mounts::descending;

/// `validatePodSpecSecurityContext`.
pub(super) fn pod_security(spec: At<'_>, findings: &mut Findings) {
    let at = spec.field("securityContext");
    for field in ["fsGroup", "runAsUser", "runAsGroup"] {
        id(at.field(field), findings);
    }
    for group in at.field("supplementalGroups").items() {
        id(group, findings);
    }
    let shares = spec.field("shareProcessNamespace").is_true();
    if shares && spec.field("hostPID").is_true() {
        let place = at
            .field("shareProcessNamespace")
            .with(spec.field("shareProcessNamespace").value());
        findings.invalid(
            place,
            "ShareProcessNamespace and HostPID cannot both be enabled",
        );
    }
    choice(
        at.field("fsGroupChangePolicy"),
        &["Always", "OnRootMismatch"],
        findings,
    );
    seccomp(at.field("seccompProfile"), findings);
    app_armor(at.field("appArmorProfile"), findings);
    choice(
        at.field("supplementalGroupsPolicy"),
        &["Merge", "Strict"],
        findings,
    );
    choice(
        at.field("seLinuxChangePolicy"),
        &["MountOption", "Recursive"],
        findings,
    );
}

/// `ValidateSecurityContext`, on a server that allows no privileged containers, as by default.
pub(super) fn container_security(at: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    if at.field("privileged").is_true() {
        findings.forbidden(at.field("privileged"), "disallowed by cluster policy");
    }
    for field in ["runAsUser", "runAsGroup"] {
        id(at.field(field), findings);
    }
    let proc_mount = at.field("procMount");
    choice(proc_mount, &["Default", "Unmasked"], findings);
    if around.on_host_users && proc_mount.text() == "Unmasked" {
        findings.invalid(proc_mount, "`hostUsers` must be false to use `Unmasked`");
    }
    seccomp(at.field("seccompProfile"), findings);
    app_armor(at.field("appArmorProfile"), findings);
}

fn id(at: At<'_>, findings: &mut Findings) {
    let Some(number) = at.number() else {
        return;
    };
    for problem in user_or_group(number) {
        findings.invalid_value(at, &json!(number), &problem);
    }
}

fn choice(at: At<'_>, known: &[&str], findings: &mut Findings) {
    if at.is_set() && !known.contains(&at.text()) {
        findings.unsupported(at, known);
    }
}

const PROFILES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];

/// `validateSeccompProfileField`.
fn seccomp(at: At<'_>, findings: &mut Findings) {
    if !at.is_set() {
        return;
    }
    let kind = at.field("type");
    match kind.text() {
        "" => findings.required(kind, "type is required when seccompProfile is set"),
        text if PROFILES.contains(&text) => {}
        _ => findings.unsupported(kind, &PROFILES),
    }
    let profile = at.field("localhostProfile");
    match (kind.text(), profile.is_set()) {
        ("Localhost", false) => {
            findings.required(profile, "must be set when seccomp type is Localhost");
        }
        ("Localhost", true) => descending(profile, findings),
        (_, true) => {
            let shown = json!({"Type": kind.text(), "LocalhostProfile": profile.text()});
            let detail = "can only be set when seccomp type is Localhost";
            findings.invalid_value(profile, &shown, detail);
        }
        (_, false) => {}
    }
}

/// `ValidateAppArmorProfileField`.
fn app_armor(at: At<'_>, findings: &mut Findings) {
    if !at.is_set() {
        return;
    }
    let (kind, profile) = (at.field("type"), at.field("localhostProfile"));
    match kind.text() {
        "Localhost" if profile.text().trim().is_empty() => {
            findings.required(profile, "must be set when AppArmor type is Localhost");
        }
        "Localhost" if profile.text().trim() != profile.text() => {
            findings.invalid(profile, "must not be padded with whitespace");
        }
        "RuntimeDefault" | "Unconfined" if profile.is_set() => {
            findings.invalid(profile, "can only be set when AppArmor type is Localhost");
        }
        "Localhost" | "RuntimeDefault" | "Unconfined" => {}
        "" => findings.required(kind, "type is required when appArmorProfile is set"),
        _ => findings.unsupported(kind, &PROFILES),
    }
}
