use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::status::Status;

/// Objects to be written in another version, or the answer with them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConversionReview {
    /// `apiextensions.k8s.io/v1`.
    pub api_version: String,
    /// `ConversionReview`.
    pub kind: String,
    /// The question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<ConversionRequest>,
    /// The answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<ConversionResponse>,
}

impl ConversionReview {
    /// The version that this library speaks.
    pub const VERSION: &'static str = "apiextensions.k8s.io/v1";
    /// The kind of these reviews.
    pub const KIND: &'static str = "ConversionReview";
}

/// Which objects, to which version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConversionRequest {
    /// Names this question; the answer repeats it.
    pub uid: String,
    /// The `apiVersion` that the objects shall have.
    #[serde(rename = "desiredAPIVersion")]
    pub desired_api_version: String,
    /// The objects.
    pub objects: Vec<Value>,
}

/// The objects in the version asked for, as many and in the same order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConversionResponse {
    /// The uid of the question.
    pub uid: String,
    /// The converted objects.
    pub converted_objects: Vec<Value>,
    /// Whether it worked.
    pub result: Status,
}
