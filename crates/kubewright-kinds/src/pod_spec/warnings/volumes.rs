//! Volume types that no longer work, and the claims of ephemeral volumes.

use crate::claim_spec::warn_claim_spec;
use crate::field_path::FieldPath;
use crate::warning_list::Warnings;

/// A volume type that no longer works: the field, its name in warnings, the warning.
type Removed = (&'static str, &'static str, &'static str);

const BEFORE_CLAIMS: [Removed; 7] = [
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

const AFTER_CLAIMS: [Removed; 2] = [
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

/// Warns about removed volume types and the claims of ephemeral volumes.
pub(super) fn volumes(at: FieldPath<'_>, warnings: &mut Warnings) {
    for volume in at.items() {
        warn_removed(volume, &BEFORE_CLAIMS, warnings);
        let ephemeral = volume.field("ephemeral");
        let claim = ephemeral.field("volumeClaimTemplate");
        warn_claim_spec(claim.field("spec"), warnings);
        warn_removed(volume, &AFTER_CLAIMS, warnings);
    }
}

fn warn_removed(volume: FieldPath<'_>, kinds: &[Removed], warnings: &mut Warnings) {
    for (field, name, warning) in kinds {
        if volume.has(field) {
            warnings.add_at(volume.field(name), warning);
        }
    }
}
