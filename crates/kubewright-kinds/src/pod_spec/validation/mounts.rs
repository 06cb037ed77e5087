//! Volume mounts, volume devices, and paths.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::context::PodContext;
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::json::{items, text};

/// `ValidateVolumeMounts`.
pub(super) fn mounts(container: FieldPath<'_>, context: &PodContext<'_>, errors: &mut ErrorList) {
    let at = container.field("volumeMounts");
    let (device_names, device_paths) = names_and_paths(container, "volumeDevices", "devicePath");
    let mut paths = BTreeSet::new();
    for mount in at.items() {
        let (name, path) = (mount.field("name"), mount.field("mountPath"));
        if name.text().is_empty() {
            errors.required(name, "");
        }
        if context.volume(name.text()).is_none() {
            errors.not_found(name, "");
        }
        if path.text().is_empty() {
            errors.required(path, "");
        }
        if !paths.insert(mount.text_of("mountPath")) {
            errors.invalid_text(path, "must be unique");
        }
        if device_names.contains(name.text()) {
            errors.invalid_text(name, "must not already exist in volumeDevices");
        }
        if device_paths.contains(path.text()) {
            errors.invalid_text(path, "must not already exist as a path in volumeDevices");
        }
        // Kubernetes omits the index from these paths.
        let unindexed = |field: &'static str| at.field(field).with(mount.field(field).value());
        if !mount.text_of("subPath").is_empty() {
            descending(unindexed("subPath"), errors);
        }
        if !mount.text_of("subPathExpr").is_empty() {
            if !mount.text_of("subPath").is_empty() {
                let detail = "subPathExpr and subPath are mutually exclusive";
                errors.invalid(mount.field("subPathExpr"), detail);
            }
            descending(unindexed("subPathExpr"), errors);
        }
        propagation(container, unindexed("mountPropagation"), errors);
        recursive(mount, unindexed("recursiveReadOnly"), errors);
    }
}

fn propagation(container: FieldPath<'_>, at: FieldPath<'_>, errors: &mut ErrorList) {
    if !at.is_set() {
        return;
    }
    let known = ["Bidirectional", "HostToContainer", "None"];
    if !known.contains(&at.text()) {
        errors.unsupported(at, &known);
    }
    let is_privileged =
        container.field("securityContext").value()["privileged"] == Value::Bool(true);
    if at.text() == "Bidirectional" && !is_privileged {
        let detail = "Bidirectional mount propagation is available only to privileged containers";
        errors.forbidden(at, detail);
    }
}

fn recursive(mount: FieldPath<'_>, at: FieldPath<'_>, errors: &mut ErrorList) {
    match at.text() {
        "" | "Disabled" => {}
        "Enabled" | "IfPossible" => {
            if !mount.field("readOnly").is_true() {
                errors.forbidden(at, "may only be specified when readOnly is true");
            }
            if !matches!(mount.text_of("mountPropagation"), "" | "None") {
                let detail = "may only be specified when mountPropagation is None or not specified";
                errors.forbidden(at, detail);
            }
        }
        _ => errors.unsupported(at, &["Disabled", "Enabled", "IfPossible"]),
    }
}

/// `ValidateVolumeDevices`.
pub(super) fn devices(container: FieldPath<'_>, context: &PodContext<'_>, errors: &mut ErrorList) {
    let at = container.field("volumeDevices");
    let (mount_names, mount_paths) = names_and_paths(container, "volumeMounts", "mountPath");
    let (mut paths, mut names) = (BTreeSet::new(), BTreeSet::new());
    for device in at.items() {
        let (name, path) = (device.field("name"), device.field("devicePath"));
        let volume = context.volume(name.text());
        let is_claim = |volume: &Value| {
            volume.get("persistentVolumeClaim").is_some() || volume.get("ephemeral").is_some()
        };
        if name.text().is_empty() {
            errors.required(name, "");
        }
        if names.contains(name.text()) {
            errors.invalid_text(name, "must be unique");
        }
        match volume {
            None => errors.not_found(name, ""),
            Some(volume) if !is_claim(volume) => errors.invalid(
                name,
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for block \
                 mode",
            ),
            Some(_) => {}
        }
        if path.text().is_empty() {
            errors.required(path, "");
        }
        if paths.contains(path.text()) {
            errors.invalid_text(path, "must be unique");
        }
        if path.text().split('/').any(|part| part == "..") {
            errors.invalid(path, "can not contain backsteps ('..')");
        } else {
            paths.insert(device.text_of("devicePath"));
        }
        if mount_names.contains(name.text()) {
            errors.invalid_text(name, "must not already exist in volumeMounts");
        }
        if mount_paths.contains(path.text()) {
            errors.invalid_text(path, "must not already exist as a path in volumeMounts");
        }
        names.insert(device.text_of("name"));
    }
}

fn names_and_paths<'a>(
    container: FieldPath<'a>,
    list: &str,
    path: &str,
) -> (BTreeSet<&'a str>, BTreeSet<&'a str>) {
    items(&container.value()[list])
        .map(|entry| (text(&entry["name"]), text(&entry[path])))
        .unzip()
}

/// `validateLocalDescendingPath`.
pub(super) fn descending(at: FieldPath<'_>, errors: &mut ErrorList) {
    if at.text().starts_with('/') {
        errors.invalid(at, "must be a relative path");
    }
    no_backsteps(at, errors);
}

/// `validatePathNoBacksteps`.
pub(super) fn no_backsteps(at: FieldPath<'_>, errors: &mut ErrorList) {
    if at.text().split('/').any(|part| part == "..") {
        errors.invalid(at, "must not contain '..'");
    }
}

/// `ValidateLocalNonReservedPath`.
pub(super) fn unreserved(at: FieldPath<'_>, errors: &mut ErrorList) {
    descending(at, errors);
    if at.text().starts_with("..") && !at.text().starts_with("../") {
        errors.invalid_value(at, &json!(at.text()), "must not start with '..'");
    }
}
