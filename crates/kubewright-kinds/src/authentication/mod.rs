//! The kinds of the group authentication.k8s.io.

mod self_subject_review;
mod token_request;
mod token_review;

pub use self_subject_review::SELF_SUBJECT_REVIEW;
pub use token_request::TOKEN_REQUEST;
pub use token_review::TOKEN_REVIEW;
