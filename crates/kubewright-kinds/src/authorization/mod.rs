//! The kinds of the group authorization.k8s.io.

mod local_subject_access_review;
mod self_subject_access_review;
mod self_subject_rules_review;
mod subject_access_review;

pub use local_subject_access_review::LOCAL_SUBJECT_ACCESS_REVIEW;
pub use self_subject_access_review::SELF_SUBJECT_ACCESS_REVIEW;
pub use self_subject_rules_review::SELF_SUBJECT_RULES_REVIEW;
pub use subject_access_review::SUBJECT_ACCESS_REVIEW;
