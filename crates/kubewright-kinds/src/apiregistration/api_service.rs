//! APIService: another API server that serves a group and version.

use crate::groups;
use crate::kind::{BuiltinKind, FinalizerRule, KeptMetadata, StatusStrategy};

/// Another API server that serves a group and version.
pub static API_SERVICE: BuiltinKind = BuiltinKind {
    finalizers: FinalizerRule::QualifiedName,
    status: StatusStrategy {
        reset_fields: &[&["metadata"]],
        kept_metadata: KeptMetadata::Fields(&[
            "labels",
            "annotations",
            "finalizers",
            "ownerReferences",
        ]),
        ..StatusStrategy::DEFAULT
    },
    unsupported: |_| {
        Some(
            "aggregation of other API servers is not implemented yet: APIService would never act"
                .to_owned(),
        )
    },
    ..BuiltinKind::new(groups::API_REGISTRATION, "APIService", "apiservices")
};

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::API_SERVICE;

    #[test]
    fn every_api_service_is_unsupported() {
        assert_eq!(
            API_SERVICE.unsupported(&json!({})).as_deref(),
            Some(
                "aggregation of other API servers is not implemented yet: APIService would never \
                 act"
            )
        );
    }
}
