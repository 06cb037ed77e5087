//! Pod: containers that run together on a node.

use super::{columns, create, defaults, delete, quota, status, validation, warnings};
use crate::groups;
use crate::kind::{
    BuiltinKind, DeleteResponse, Generation, KeptMetadata, SelectableField, StatusStrategy,
    Validation,
};

/// Containers that run together on a node.
pub static POD: BuiltinKind = BuiltinKind {
    generation: Generation::Content,
    delete_response: DeleteResponse::Object,
    grace_period: Some(delete::grace_period),
    selectable_fields: &[
        SelectableField::new("spec.nodeName"),
        SelectableField::new("spec.host").at("spec.nodeName"),
        SelectableField::new("spec.restartPolicy"),
        SelectableField::new("spec.schedulerName"),
        SelectableField::new("spec.serviceAccountName"),
        SelectableField::new("spec.hostNetwork").or("false"),
        SelectableField::new("status.phase"),
        SelectableField::new("status.podIP"),
        SelectableField::new("status.podIPs").at("status.podIP"),
        SelectableField::new("status.nominatedNodeName"),
    ],
    pod_spec: Some(&["spec"]),
    declared_columns: columns::COLUMNS,
    defaults: defaults::apply_defaults,
    prepare_create: create::prepare_create,
    status: StatusStrategy {
        reset_fields: &[
            &["metadata", "deletionTimestamp"],
            &["metadata", "ownerReferences"],
        ],
        kept_metadata: KeptMetadata::Fields(&["deletionTimestamp", "ownerReferences"]),
        prepare: status::prepare,
        validate: status::validate,
        warnings: warnings::warn_status,
        ..StatusStrategy::DEFAULT
    },
    validation: Validation::Rules(validation::validate),
    warnings: warnings::warn,
    quota_usage: quota::add_usage,
    row_conditions: columns::row_conditions,
    ..BuiltinKind::new(groups::CORE, "Pod", "pods")
};
