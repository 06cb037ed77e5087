//! SelfSubjectAccessReview: authorizes the user of the request.

use crate::groups;
use crate::kind::BuiltinKind;

/// Authorizes the user of the request.
pub static SELF_SUBJECT_ACCESS_REVIEW: BuiltinKind = BuiltinKind::request(
    groups::AUTHORIZATION,
    "SelfSubjectAccessReview",
    "selfsubjectaccessreviews",
);
