use std::collections::BTreeSet;

use kubewright_wire::schema::Quantity;
use serde_json::json;

use super::super::formats::label;
use super::super::{At, Findings};
use super::Around;
use super::container::PULL_POLICIES;
use super::env::{Reference, amount_reference, field_reference};
use super::mounts::{descending, no_backsteps, unreserved};

/// The sources in the order Kubernetes looks at them; the second word is how the path of a second
/// source is spelled.
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

/// `ValidateVolumes`; for each volume whether nothing is wrong with it.
pub(super) fn volumes(
    at: At<'_>,
    around: &Around<'_>,
    pod_name: Option<&str>,
    findings: &mut Findings,
) -> Vec<bool> {
    let mut names = BTreeSet::new();
    let mut good = Vec::new();
    let made = made_claims(at, pod_name);
    for volume in at.items() {
        let before = findings.count();
        sources(volume, around, findings);
        let name = volume.field("name");
        match name.text() {
            "" => findings.required(name, ""),
            text => findings.problems(name, label(text)),
        }
        if names.contains(name.text()) {
            findings.duplicate_value(name, &json!(name.text()));
        }
        let is_good = findings.count() == before;
        if is_good {
            names.insert(volume.text_of("name"));
        }
        good.push(is_good);
        let claim = volume.field("persistentVolumeClaim");
        if made.contains(claim.text_of("claimName")) {
            let detail = "must not reference a PVC that gets created for an ephemeral volume";
            findings.invalid(claim.field("claimName"), detail);
        }
    }
    good
}

/// The names of the claims that the volumes of a Pod make; no other volume can use them.
fn made_claims(volumes: At<'_>, pod_name: Option<&str>) -> BTreeSet<String> {
    let Some(pod) = pod_name.filter(|pod| !pod.is_empty()) else {
        return BTreeSet::new();
    };
    let ephemeral = volumes.items().filter(|volume| volume.has("ephemeral"));
    ephemeral
        .map(|volume| format!("{pod}-{}", volume.text_of("name")))
        .collect()
}

fn sources(volume: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    let mut is_given = false;
    let image = ("image", "image");
    for (name, spelled) in SOURCES.into_iter().chain([image]) {
        if !volume.has(name) {
            continue;
        }
        if is_given {
            let detail = "may not specify more than 1 volume type";
            findings.forbidden(volume.field(spelled), detail);
            continue;
        }
        is_given = true;
        source(name, volume.field(name), around, findings);
    }
    if !is_given {
        findings.required(volume, "must specify a volume type");
    }
}

fn source(name: &str, at: At<'_>, around: &Around<'_>, findings: &mut Findings) {
    let mut need = |field: &'static str| {
        if at.text_of(field).is_empty() {
            findings.required(at.field(field), "");
        }
    };
    match name {
        "persistentVolumeClaim" => need("claimName"),
        "nfs" => {
            need("server");
            need("path");
            if !at.text_of("path").starts_with('/') {
                findings.invalid_text(at.field("path"), "must be an absolute path");
            }
        }
        "csi" => need("driver"),
        "gitRepo" => {
            need("repository");
            descending(at.field("directory"), findings);
        }
        "secret" => {
            need("secretName");
            mode(at.field("defaultMode"), findings);
            key_paths(at.field("items"), findings);
        }
        "configMap" => {
            need("name");
            mode(at.field("defaultMode"), findings);
            key_paths(at.field("items"), findings);
        }
        "emptyDir" => {
            let size = Quantity::parse(at.text_of("sizeLimit"));
            if size.is_some_and(|size| size.is_negative()) {
                let detail = "SizeLimit field must be a valid resource quantity";
                findings.forbidden(at.field("sizeLimit"), detail);
            }
        }
        "hostPath" => {
            if at.text_of("path").is_empty() {
                return findings.required(at.field("path"), "");
            }
            no_backsteps(at.field("path"), findings);
            if !HOST_PATHS.contains(&at.text_of("type")) {
                findings.unsupported(at.field("type"), &HOST_PATHS);
            }
        }
        "downwardAPI" => {
            mode(at.field("defaultMode"), findings);
            // Kubernetes leaves `items` and the index out of these paths.
            for file in at.field("items").items() {
                downward_file(file, at, findings);
            }
        }
        "projected" => {
            mode(at.field("defaultMode"), findings);
            projections(at, findings);
        }
        "image" => {
            if around.is_pod && at.text_of("reference").is_empty() {
                findings.required(at.field("reference"), "");
            }
            findings.one_of(at.field("pullPolicy"), &PULL_POLICIES);
        }
        _ => {}
    }
}

fn mode(at: At<'_>, findings: &mut Findings) {
    if at.number().is_some_and(|mode| !(0..=0o777).contains(&mode)) {
        findings.invalid(at, MODE);
    }
}

/// `validateKeyToPath`.
fn key_paths(at: At<'_>, findings: &mut Findings) {
    for item in at.items() {
        for field in ["key", "path"] {
            if item.text_of(field).is_empty() {
                findings.required(item.field(field), "");
            }
        }
        unreserved(item.field("path"), findings);
        mode(item.field("mode"), findings);
    }
}

/// `validateDownwardAPIVolumeFile`, told of the place `at`.
fn downward_file(file: At<'_>, at: At<'_>, findings: &mut Findings) {
    let own = |field: &'static str| at.field(field).with(file.field(field).value());
    if file.text_of("path").is_empty() {
        findings.required(own("path"), "");
    }
    unreserved(own("path"), findings);
    match (file.has("fieldRef"), file.has("resourceFieldRef")) {
        (true, both) => {
            field_reference(own("fieldRef"), Reference::Volume, findings);
            if both {
                let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
                findings.invalid_value(at, &json!("resource"), detail);
            }
        }
        (false, true) => {
            amount_reference(own("resourceFieldRef"), Reference::Volume, findings);
        }
        (false, false) => {
            findings.required(at, "one of fieldRef and resourceFieldRef is required");
        }
    }
    mode(own("mode"), findings);
}

/// `validateProjectionSources`.
fn projections(at: At<'_>, findings: &mut Findings) {
    let mut paths: BTreeSet<String> = BTreeSet::new();
    for source in at.field("sources").items() {
        let mut count = 0;
        for kind in ["secret", "configMap"] {
            let own = source.field(kind);
            if !own.is_set() {
                continue;
            }
            count += 1;
            if own.text_of("name").is_empty() {
                findings.required(own.field("name"), "");
            }
            key_paths(own.field("items"), findings);
            for item in own.field("items").items() {
                taken(
                    item.text_of("path"),
                    own.text_of("name"),
                    (at, &mut paths),
                    findings,
                );
            }
        }
        let downward = source.field("downwardAPI");
        if downward.is_set() {
            count += 1;
            for file in downward.field("items").items() {
                downward_file(file, downward, findings);
                let path = file.text_of("path");
                taken(path, path, (at, &mut paths), findings);
            }
        }
        let token = source.field("serviceAccountToken");
        if token.is_set() {
            count += 1;
            service_account_token(token, at, findings);
        }
        count += ["clusterTrustBundle", "podCertificate"]
            .iter()
            .filter(|kind| source.has(kind))
            .count();
        if count > 1 {
            findings.forbidden(source, "may not specify more than 1 volume type per source");
        }
    }
}

fn taken(
    path: &str,
    shown: &str,
    (at, paths): (At<'_>, &mut BTreeSet<String>),
    findings: &mut Findings,
) {
    if !path.is_empty() && !paths.insert(path.to_owned()) {
        findings.invalid_value(at, &json!(shown), "conflicting duplicate paths");
    }
}

fn service_account_token(token: At<'_>, volume: At<'_>, findings: &mut Findings) {
    let seconds = token.field("expirationSeconds");
    match seconds.number().unwrap_or(0) {
        number if number < 600 => {
            let detail = "may not specify a duration less than 10 minutes";
            findings.invalid(seconds, detail);
        }
        number if number > 1 << 32 => {
            let detail = "may not specify a duration larger than 2^32 seconds";
            findings.invalid(seconds, detail);
        }
        _ => {}
    }
    let path = volume.field("path").with(token.field("path").value());
    match path.text() {
        "" => findings.required(path, ""),
        _ => unreserved(path, findings),
    }
}
