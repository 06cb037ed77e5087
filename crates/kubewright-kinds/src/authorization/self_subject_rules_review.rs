//! SelfSubjectRulesReview: lists the rules of the user of the request.

use crate::groups;
use crate::kind::BuiltinKind;

/// Lists the rules of the user of the request.
pub static SELF_SUBJECT_RULES_REVIEW: BuiltinKind = BuiltinKind::request(
    groups::AUTHORIZATION,
    "SelfSubjectRulesReview",
    "selfsubjectrulesreviews",
);
