//! How the `status` subresource of a kind is written.

use serde_json::{Map, Value};

use crate::error_list::ErrorList;
use crate::warning_list::Warnings;

/// The strategy of a kind's `status` subresource.
#[derive(Debug)]
pub struct StatusStrategy {
    /// What a create does with a status in the request.
    pub on_create: StatusOnCreate,
    /// The paths besides `spec` that a status write cannot own (`GetResetFields` of the status
    /// strategies in k8s.io/kubernetes/pkg/registry and k8s.io/kube-aggregator).
    pub reset_fields: &'static [&'static [&'static str]],
    /// The metadata that a status write does not change.
    pub kept_metadata: KeptMetadata,
    /// Copies from the stored object what a status write does not change (`PrepareForUpdate`).
    pub(crate) prepare: fn(&Value, &mut Map<String, Value>),
    /// Validates the new object against the stored one.
    pub(crate) validate: fn(&Value, &Value, &mut ErrorList),
    pub(crate) warnings: fn(&Value, &mut Warnings),
}

/// What a create does with a status in the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusOnCreate {
    /// It is removed.
    Reset,
    /// It is stored.
    Keep,
}

/// The metadata that a status write does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptMetadata {
    /// These fields.
    Fields(&'static [&'static str]),
    /// All of it but `managedFields`.
    All,
}

impl StatusStrategy {
    /// The strategy of most kinds.
    pub(crate) const DEFAULT: Self = Self {
        on_create: StatusOnCreate::Reset,
        reset_fields: &[],
        kept_metadata: KeptMetadata::Fields(&[]),
        prepare: |_, _| {},
        validate: |_, _, _| {},
        warnings: |_, _| {},
    };

    /// The strategy of kinds that reset the metadata by `ResetObjectMetaForStatus` of
    /// k8s.io/apimachinery/pkg/apis/meta/v1.
    pub(crate) const RESETS_METADATA: Self = Self {
        reset_fields: &[&["metadata"]],
        kept_metadata: KeptMetadata::Fields(&[
            "deletionTimestamp",
            "generation",
            "labels",
            "annotations",
            "finalizers",
            "ownerReferences",
        ]),
        ..Self::DEFAULT
    };

    /// The strategy of kinds whose status write keeps all metadata.
    pub(crate) const KEEPS_METADATA: Self = Self {
        reset_fields: &[&["metadata"]],
        kept_metadata: KeptMetadata::All,
        ..Self::DEFAULT
    };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::KeptMetadata;
    use crate::admissionregistration::VALIDATING_ADMISSION_POLICY;
    use crate::apiregistration::API_SERVICE;
    use crate::flowcontrol::{FLOW_SCHEMA, PRIORITY_LEVEL_CONFIGURATION};
    use crate::networking::SERVICE_CIDR;
    use crate::resource::RESOURCE_CLAIM;
    use crate::storage::VOLUME_ATTACHMENT;

    #[test]
    fn status_write_of_some_kinds_keeps_the_metadata_that_clients_set() {
        let old = json!({"metadata": {"labels": {"a": "1"}, "generation": 3}});
        let new = || {
            json!({"metadata": {
                "name": "x", "labels": {"a": "2"}, "annotations": {"b": "3"},
                "finalizers": ["ex.io/f"], "ownerReferences": [{"name": "o"}], "generation": 4,
                "deletionTimestamp": "2026-01-01T00:00:00Z", "managedFields": [],
            }})
        };
        for kind in [
            &VALIDATING_ADMISSION_POLICY,
            &SERVICE_CIDR,
            &RESOURCE_CLAIM,
            &VOLUME_ATTACHMENT,
        ] {
            let mut written = new();
            kind.prepare_status_update(&old, written.as_object_mut().unwrap());
            assert_eq!(
                written,
                json!({"metadata": {
                    "name": "x", "labels": {"a": "1"}, "generation": 3, "managedFields": [],
                }}),
                "{}",
                kind.kind
            );
            assert_eq!(kind.status.reset_fields, [["metadata"]]);
        }
        let mut written = new();
        API_SERVICE.prepare_status_update(&old, written.as_object_mut().unwrap());
        assert_eq!(
            written,
            json!({"metadata": {
                "name": "x", "labels": {"a": "1"}, "generation": 4,
                "deletionTimestamp": "2026-01-01T00:00:00Z", "managedFields": [],
            }})
        );
        assert_eq!(API_SERVICE.status.reset_fields, [["metadata"]]);
    }

    #[test]
    fn status_write_of_flow_control_keeps_all_metadata() {
        for kind in [&FLOW_SCHEMA, &PRIORITY_LEVEL_CONFIGURATION] {
            assert_eq!(kind.status.kept_metadata, KeptMetadata::All);
            assert_eq!(kind.status.reset_fields, [["metadata"]]);
        }
    }
}
