//! SelfSubjectReview: returns the user of the request.

use crate::groups;
use crate::kind::BuiltinKind;

/// Returns the user of the request.
pub static SELF_SUBJECT_REVIEW: BuiltinKind = BuiltinKind::request(
    groups::AUTHENTICATION,
    "SelfSubjectReview",
    "selfsubjectreviews",
);
