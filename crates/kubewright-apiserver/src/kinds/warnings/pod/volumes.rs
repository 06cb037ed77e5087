use super::super::amounts::claimed;
use super::super::{At, Told};

/// A kind of volume that is no more: the field, as Kubernetes spells it here, and since when.
type Gone = (&'static str, &'static str, &'static str);

const BEFORE_CLAIMS: [Gone; 7] = [
    (
        "photonPersistentDisk",
        "photonPersistentDisk",
        "deprecated in v1.11, non-functional in v1.16+",
    ),
    (
        "gitRepo",
        "gitRepo",
        "deprecated in v1.11, and disabled by default in v1.33+",
    ),
    (
        "scaleIO",
        "scaleIO",
        "deprecated in v1.16, non-functional in v1.22+",
    ),
    (
        "flocker",
        "flocker",
        "deprecated in v1.22, non-functional in v1.25+",
    ),
    (
        "storageos",
        "storageOS",
        "deprecated in v1.22, non-functional in v1.25+",
    ),
    (
        "quobyte",
        "quobyte",
        "deprecated in v1.22, non-functional in v1.25+",
    ),
    (
        "glusterfs",
        "glusterfs",
        "deprecated in v1.25, non-functional in v1.26+",
    ),
];
const AFTER_CLAIMS: [Gone; 2] = [
    (
        "cephfs",
        "cephfs",
        "deprecated in v1.28, non-functional in v1.31+",
    ),
    (
        "rbd",
        "rbd",
        "deprecated in v1.28, non-functional in v1.31+",
    ),
];

/// Kinds of volumes that are no more, and the claims that volumes make.
pub(super) fn volumes(at: At<'_>, told: &mut Told) {
    for volume in at.items() {
        gone(volume, &BEFORE_CLAIMS, told);
        let ephemeral = volume.field("ephemeral");
        let claim = ephemeral.field("volumeClaimTemplate");
        claimed(claim.field("spec"), told);
        gone(volume, &AFTER_CLAIMS, told);
    }
}

fn gone(volume: At<'_>, kinds: &[Gone], told: &mut Told) {
    for (field, spelled, since) in kinds {
        if volume.has(field) {
            told.at(volume.field(spelled), since);
        }
    }
}
