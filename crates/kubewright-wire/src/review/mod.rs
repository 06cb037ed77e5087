//! Reviews: the requests of the API server to its webhooks, and their responses.
//!
//! The types read both forms of a patch, base64 and an array of numbers, and write base64.

mod access;
mod admission;
mod conversion;
mod patch;

pub use access::{
    NonResourceAttributes, ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
    SubjectAccessReviewStatus,
};
pub use admission::{
    AdmissionRequest, AdmissionResponse, AdmissionReview, GroupVersionKind, GroupVersionResource,
    UserInfo,
};
pub use conversion::{ConversionRequest, ConversionResponse, ConversionReview};
pub use patch::PatchBytes;
