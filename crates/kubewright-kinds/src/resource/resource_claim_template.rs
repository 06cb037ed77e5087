//! ResourceClaimTemplate: a template for ResourceClaims.

use super::device_requests::default_device_requests;
use crate::columns::NAME_AND_AGE;
use crate::groups;
use crate::kind::{BuiltinKind, DeleteResponse};

/// A template for ResourceClaims.
pub static RESOURCE_CLAIM_TEMPLATE: BuiltinKind = BuiltinKind {
    delete_response: DeleteResponse::Object,
    declared_columns: NAME_AND_AGE,
    defaults: default_device_requests,
    ..BuiltinKind::new(
        groups::RESOURCE,
        "ResourceClaimTemplate",
        "resourceclaimtemplates",
    )
};
