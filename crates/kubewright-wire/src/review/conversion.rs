use serde::{Deserialize, Deserializer, Serialize};
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
    #[serde(deserialize_with = "listed")]
    pub objects: Vec<Value>,
}

/// The objects in the version asked for, as many and in the same order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConversionResponse {
    /// The uid of the question.
    pub uid: String,
    /// The converted objects.
    #[serde(deserialize_with = "listed")]
    pub converted_objects: Vec<Value>,
    /// Whether it worked.
    pub result: Status,
}

/// Go writes null for an empty list; the API server's questions have an empty answer with one.
fn listed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Value>, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ConversionReview;

    #[test]
    fn a_question_of_the_api_server_brings_an_empty_answer() {
        let review: ConversionReview = serde_json::from_value(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
            "request": {"uid": "u", "desiredAPIVersion": "ex.io/v2", "objects": [{}]},
            "response": {"uid": "", "convertedObjects": null, "result": {"metadata": {}}},
        }))
        .unwrap();
        assert_eq!(review.request.unwrap().objects.len(), 1);
        assert!(review.response.unwrap().converted_objects.is_empty());
    }
}
