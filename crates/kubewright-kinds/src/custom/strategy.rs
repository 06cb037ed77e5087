//! What all custom resources have in common.

use crate::kind::{
    BuiltinKind, FinalizerRule, Generation, Permission, StatusStrategy, StorageEncoding, Validation,
};

/// The strategy of custom resources (`customResourceStrategy` of k8s.io/apiextensions-apiserver).
/// Each has a kind and a schema of its own besides.
pub static CUSTOM_RESOURCE: BuiltinKind = BuiltinKind {
    storage_encoding: StorageEncoding::Json,
    finalizers: FinalizerRule::QualifiedName,
    unconditional_update: Permission::Denied,
    generation: Generation::Content,
    status: StatusStrategy::KEEPS_METADATA,
    validation: Validation::MetadataOnly,
    ..BuiltinKind::new("", "", "")
};
