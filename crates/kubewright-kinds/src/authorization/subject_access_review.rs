//! SubjectAccessReview: authorizes a user.

use crate::groups;
use crate::kind::BuiltinKind;

/// Authorizes a user.
pub static SUBJECT_ACCESS_REVIEW: BuiltinKind = BuiltinKind::request(
    groups::AUTHORIZATION,
    "SubjectAccessReview",
    "subjectaccessreviews",
);
