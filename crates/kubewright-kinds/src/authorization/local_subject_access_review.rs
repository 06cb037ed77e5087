//! LocalSubjectAccessReview: authorizes a user in one namespace.

use crate::groups;
use crate::kind::BuiltinKind;

/// Authorizes a user in one namespace.
pub static LOCAL_SUBJECT_ACCESS_REVIEW: BuiltinKind = BuiltinKind::request(
    groups::AUTHORIZATION,
    "LocalSubjectAccessReview",
    "localsubjectaccessreviews",
);
