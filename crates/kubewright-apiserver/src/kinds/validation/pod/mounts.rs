use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::{At, Findings};
use super::Around;

/// `ValidateVolumeMounts`.
pub(super) fn mounts(container: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    let at = container.field("volumeMounts");
    let (device_names, device_paths) = names_and_paths(container, "volumeDevices", "devicePath");
    let mut paths = BTreeSet::new();
    for mount in at.items() {
        let (name, path) = (mount.field("name"), mount.field("mountPath"));
        if name.text().is_empty() {
            findings.required(name, "");
        }
        if around.volume(name.text()).is_none() {
            findings.not_found(name, "");
        }
        if path.text().is_empty() {
            findings.required(path, "");
        }
        if !paths.insert(mount.text_of("mountPath")) {
            findings.invalid_text(path, "must be unique");
        }
        if device_names.contains(name.text()) {
            findings.invalid_text(name, "must not already exist in volumeDevices");
        }
        if device_paths.contains(path.text()) {
            findings.invalid_text(path, "must not already exist as a path in volumeDevices");
        }
        // Kubernetes leaves the index out of these paths.
        let loose = |field: &'static str| at.field(field).with(mount.field(field).value());
        if !mount.text_of("subPath").is_empty() {
            descending(loose("subPath"), findings);
        }
        if !mount.text_of("subPathExpr").is_empty() {
            if !mount.text_of("subPath").is_empty() {
                let detail = "subPathExpr and subPath are mutually exclusive";
                findings.invalid(mount.field("subPathExpr"), detail);
            }
            descending(loose("subPathExpr"), findings);
        }
        propagation(container, loose("mountPropagation"), findings);
        recursive(mount, loose("recursiveReadOnly"), findings);
    }
}

fn propagation(container: At<'_>, at: At<'_>, findings: &mut Findings) {
    if !at.is_set() {
        return;
    }
    let known = ["Bidirectional", "HostToContainer", "None"];
    if !known.contains(&at.text()) {
        findings.unsupported(at, &known);
    }
    let is_privileged =
        container.field("securityContext").value()["privileged"] == Value::Bool(true);
    if at.text() == "Bidirectional" && !is_privileged {
        let detail = "Bidirectional mount propagation is available only to privileged containers";
        findings.forbidden(at, detail);
    }
}

fn recursive(mount: At<'_>, at: At<'_>, findings: &mut Findings) {
    match at.text() {
        "" | "Disabled" => {}
        "Enabled" | "IfPossible" => {
            if !mount.field("readOnly").is_true() {
                findings.forbidden(at, "may only be specified when readOnly is true");
            }
            if !matches!(mount.text_of("mountPropagation"), "" | "None") {
                let detail = "may only be specified when mountPropagation is None or not specified";
                findings.forbidden(at, detail);
            }
        }
        _ => findings.unsupported(at, &["Disabled", "Enabled", "IfPossible"]),
    }
}

/// `ValidateVolumeDevices`.
pub(super) fn devices(container: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    let at = container.field("volumeDevices");
    let (mount_names, mount_paths) = names_and_paths(container, "volumeMounts", "mountPath");
    let (mut paths, mut names) = (BTreeSet::new(), BTreeSet::new());
    for device in at.items() {
        let (name, path) = (device.field("name"), device.field("devicePath"));
        let volume = around.volume(name.text());
        let is_claim = |volume: &Value| {
            volume.get("persistentVolumeClaim").is_some() || volume.get("ephemeral").is_some()
        };
        if name.text().is_empty() {
            findings.required(name, "");
        }
        if names.contains(name.text()) {
            findings.invalid_text(name, "must be unique");
        }
        match volume {
            None => findings.not_found(name, ""),
            Some(volume) if !is_claim(volume) => findings.invalid(
                name,
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for block \
                 mode",
            ),
            Some(_) => {}
        }
        if path.text().is_empty() {
            findings.required(path, "");
        }
        if paths.contains(path.text()) {
            findings.invalid_text(path, "must be unique");
        }
        if path.text().split('/').any(|part| part == "..") {
            findings.invalid(path, "can not contain backsteps ('..')");
        } else {
            paths.insert(device.text_of("devicePath"));
        }
        if mount_names.contains(name.text()) {
            findings.invalid_text(name, "must not already exist in volumeMounts");
        }
        if mount_paths.contains(path.text()) {
            findings.invalid_text(path, "must not already exist as a path in volumeMounts");
        }
        names.insert(device.text_of("name"));
    }
}

fn names_and_paths<'a>(
    container: At<'a>,
    list: &str,
    path: &str,
) -> (BTreeSet<&'a str>, BTreeSet<&'a str>) {
    let list = container.value()[list].as_array().into_iter().flatten();
    let text = |value: &'a Value| value.as_str().unwrap_or_default();
    list.map(|entry| (text(&entry["name"]), text(&entry[path])))
        .unzip()
}

/// `validateLocalDescendingPath`.
pub(super) fn descending(at: At<'_>, findings: &mut Findings) {
    if at.text().starts_with('/') {
        findings.invalid(at, "must be a relative path");
    }
    no_backsteps(at, findings);
}

/// `validatePathNoBacksteps`.
pub(super) fn no_backsteps(at: At<'_>, findings: &mut Findings) {
    if at.text().split('/').any(|part| part == "..") {
        findings.invalid(at, "must not contain '..'");
    }
}

/// `ValidateLocalNonReservedPath`.
pub(super) fn unreserved(at: At<'_>, findings: &mut Findings) {
    descending(at, findings);
    if at.text().starts_with("..") && !at.text().starts_with("../") {
        findings.invalid_value(at, &json!(at.text()), "must not start with '..'");
    }
}
