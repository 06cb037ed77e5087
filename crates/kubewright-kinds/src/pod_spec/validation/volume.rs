//! Volumes and their sources.

use std::collections::BTreeSet;

use kubewright_core::Quantity;
use kubewright_core::format::label;
use serde_json::json;

use super::context::PodContext;
use super::env::{Reference, field_reference, resource_reference};
use super::mounts::{descending, no_backsteps, unreserved};
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::pod_spec::image::PULL_POLICIES;
use crate::pod_spec::owner::SpecOwner;

/// The sources in the order of Kubernetes, each with its name in the error of a second source.
const SOURCES: [(&str, &str); 29] = [
    ("emptyDir", "emptyDir"),
    ("hostPath", "hostPath"),
    ("gitRepo", "gitRepo"),
    ("gcePersistentDisk", "gcePersistentDisk"),
    ("awsElasticBlockStore", "awsElasticBlockStore"),
    ("secret", "secret"),
    ("nfs", "nfs"),
    ("iscsi", "iscsi"),
    ("glusterfs", "glusterfs"),
    ("flocker", "flocker"),
    ("persistentVolumeClaim", "persistentVolumeClaim"),
    ("rbd", "rbd"),
    ("cinder", "cinder"),
    ("cephfs", "cephFS"),
    ("quobyte", "quobyte"),
    ("downwardAPI", "downwarAPI"),
    ("fc", "fc"),
    ("flexVolume", "flexVolume"),
    ("configMap", "configMap"),
    ("azureFile", "azureFile"),
    ("vsphereVolume", "vsphereVolume"),
    ("photonPersistentDisk", "photonPersistentDisk"),
    ("portworxVolume", "portworxVolume"),
    ("azureDisk", "azureDisk"),
    ("storageos", "storageos"),
    ("projected", "projected"),
    ("scaleIO", "scaleIO"),
    ("csi", "csi"),
    ("ephemeral", "ephemeral"),
];

const MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";

const CONFLICTING: &str = "conflicting duplicate paths";
const HOST_PATHS: [&str; 8] = [
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
];

/// `ValidateVolumes`. Returns for each volume whether it is valid.
pub(super) fn volumes(
    at: FieldPath<'_>,
    context: &PodContext<'_>,
    pod_name: Option<&str>,
    errors: &mut ErrorList,
) -> Vec<bool> {
    let mut names = BTreeSet::new();
    let mut valid = Vec::new();
    let generated = generated_claims(at, pod_name);
    for volume in at.items() {
        let before = errors.count();
        sources(volume, context, errors);
        let name = volume.field("name");
        match name.text() {
            "" => errors.required(name, ""),
            text => errors.problems(name, label(text)),
        }
        if names.contains(name.text()) {
            errors.duplicate_value(name, &json!(name.text()));
        }
        let is_valid = errors.count() == before;
        if is_valid {
            names.insert(volume.text_of("name"));
        }
        valid.push(is_valid);
        let claim = volume.field("persistentVolumeClaim");
        if generated.contains(claim.text_of("claimName")) {
            let detail = "must not reference a PVC that gets created for an ephemeral volume";
            errors.invalid(claim.field("claimName"), detail);
        }
    }
    valid
}

/// The names of the claims that ephemeral volumes create, which other volumes cannot use.
fn generated_claims(volumes: FieldPath<'_>, pod_name: Option<&str>) -> BTreeSet<String> {
    let Some(pod) = pod_name.filter(|pod| !pod.is_empty()) else {
        return BTreeSet::new();
    };
    let ephemeral = volumes.items().filter(|volume| volume.has("ephemeral"));
    ephemeral
        .map(|volume| format!("{pod}-{}", volume.text_of("name")))
        .collect()
}

fn sources(volume: FieldPath<'_>, context: &PodContext<'_>, errors: &mut ErrorList) {
    let mut is_given = false;
    let image = ("image", "image");
    for (name, name_in_error) in SOURCES.into_iter().chain([image]) {
        if !volume.has(name) {
            continue;
        }
        if is_given {
            let detail = "may not specify more than 1 volume type";
            errors.forbidden(volume.field(name_in_error), detail);
            continue;
        }
        is_given = true;
        source(name, volume.field(name), context, errors);
    }
    if !is_given {
        errors.required(volume, "must specify a volume type");
    }
}

fn source(name: &str, at: FieldPath<'_>, context: &PodContext<'_>, errors: &mut ErrorList) {
    let mut require = |field: &'static str| {
        if at.text_of(field).is_empty() {
            errors.required(at.field(field), "");
        }
    };
    match name {
        "persistentVolumeClaim" => require("claimName"),
        "nfs" => {
            require("server");
            require("path");
            if !at.text_of("path").starts_with('/') {
                errors.invalid_text(at.field("path"), "must be an absolute path");
            }
        }
        "csi" => require("driver"),
        "gitRepo" => {
            require("repository");
            descending(at.field("directory"), errors);
        }
        "secret" => {
            require("secretName");
            mode(at.field("defaultMode"), errors);
            key_paths(at.field("items"), errors);
        }
        "configMap" => {
            require("name");
            mode(at.field("defaultMode"), errors);
            key_paths(at.field("items"), errors);
        }
        "emptyDir" => {
            let size = Quantity::parse(at.text_of("sizeLimit"));
            if size.is_some_and(|size| size.is_negative()) {
                let detail = "SizeLimit field must be a valid resource quantity";
                errors.forbidden(at.field("sizeLimit"), detail);
            }
        }
        "hostPath" => {
            if at.text_of("path").is_empty() {
                return errors.required(at.field("path"), "");
            }
            no_backsteps(at.field("path"), errors);
            if !HOST_PATHS.contains(&at.text_of("type")) {
                errors.unsupported(at.field("type"), &HOST_PATHS);
            }
        }
        "downwardAPI" => {
            mode(at.field("defaultMode"), errors);
            // Kubernetes omits `items` and the index from these paths.
            for file in at.field("items").items() {
                downward_file(file, at, errors);
            }
        }
        "projected" => {
            mode(at.field("defaultMode"), errors);
            projections(at, errors);
        }
        "image" => {
            if context.owner == SpecOwner::Pod && at.text_of("reference").is_empty() {
                errors.required(at.field("reference"), "");
            }
            errors.one_of(at.field("pullPolicy"), &PULL_POLICIES);
        }
        _ => {}
    }
}

fn mode(at: FieldPath<'_>, errors: &mut ErrorList) {
    if at.number().is_some_and(|mode| !(0..=0o777).contains(&mode)) {
        errors.invalid(at, MODE);
    }
}

/// `validateKeyToPath`.
fn key_paths(at: FieldPath<'_>, errors: &mut ErrorList) {
    for item in at.items() {
        for field in ["key", "path"] {
            if item.text_of(field).is_empty() {
                errors.required(item.field(field), "");
            }
        }
        unreserved(item.field("path"), errors);
        mode(item.field("mode"), errors);
    }
}

/// `validateDownwardAPIVolumeFile`. Errors have the path `at`.
fn downward_file(file: FieldPath<'_>, at: FieldPath<'_>, errors: &mut ErrorList) {
    let own = |field: &'static str| at.field(field).with(file.field(field).value());
    if file.text_of("path").is_empty() {
        errors.required(own("path"), "");
    }
    unreserved(own("path"), errors);
    match (file.has("fieldRef"), file.has("resourceFieldRef")) {
        (true, both) => {
            field_reference(own("fieldRef"), Reference::Volume, errors);
            if both {
                let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
                errors.invalid_value(at, &json!("resource"), detail);
            }
        }
        (false, true) => {
            resource_reference(own("resourceFieldRef"), Reference::Volume, errors);
        }
        (false, false) => {
            errors.required(at, "one of fieldRef and resourceFieldRef is required");
        }
    }
    mode(own("mode"), errors);
}

/// `validateProjectionSources`.
fn projections(at: FieldPath<'_>, errors: &mut ErrorList) {
    let mut paths = Paths::default();
    for source in at.field("sources").items() {
        let mut count = 0;
        for kind in ["secret", "configMap"] {
            let own = source.field(kind);
            if !own.is_set() {
                continue;
            }
            count += 1;
            if own.text_of("name").is_empty() {
                errors.required(own.field("name"), "");
            }
            key_paths(own.field("items"), errors);
            for item in own.field("items").items() {
                if !paths.add(item.text_of("path")) {
                    errors.invalid_value(at, &json!(own.text_of("name")), CONFLICTING);
                }
            }
        }
        let downward = source.field("downwardAPI");
        if downward.is_set() {
            count += 1;
            for file in downward.field("items").items() {
                downward_file(file, downward, errors);
                let path = file.text_of("path");
                if !paths.add(path) {
                    errors.invalid_value(at, &json!(path), CONFLICTING);
                }
            }
        }
        let token = source.field("serviceAccountToken");
        if token.is_set() {
            count += 1;
            service_account_token(token, at, errors);
        }
        count += ["clusterTrustBundle", "podCertificate"]
            .iter()
            .filter(|kind| source.has(kind))
            .count();
        if count > 1 {
            errors.forbidden(source, "may not specify more than 1 volume type per source");
        }
    }
}

/// The paths of the files in a projected volume.
#[derive(Debug, Default)]
struct Paths(BTreeSet<String>);

impl Paths {
    /// Returns whether no other file has the path. Empty paths are reported elsewhere.
    fn add(&mut self, path: &str) -> bool {
        path.is_empty() || self.0.insert(path.to_owned())
    }
}

fn service_account_token(token: FieldPath<'_>, volume: FieldPath<'_>, errors: &mut ErrorList) {
    let seconds = token.field("expirationSeconds");
    match seconds.number().unwrap_or(0) {
        number if number < 600 => {
            let detail = "may not specify a duration less than 10 minutes";
            errors.invalid(seconds, detail);
        }
        number if number > 1 << 32 => {
            let detail = "may not specify a duration larger than 2^32 seconds";
            errors.invalid(seconds, detail);
        }
        _ => {}
    }
    let path = volume.field("path").with(token.field("path").value());
    match path.text() {
        "" => errors.required(path, ""),
        _ => unreserved(path, errors),
    }
}
