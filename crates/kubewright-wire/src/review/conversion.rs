//! Conversion reviews.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::status::Status;

/// The API server's call of a conversion webhook, or the webhook's response.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConversionReview {
    /// `apiextensions.k8s.io/v1`.
    pub api_version: String,
    /// `ConversionReview`.
    pub kind: String,
    /// The request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<ConversionRequest>,
    /// The response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<ConversionResponse>,
}

impl ConversionReview {
    /// The version that this library uses.
    pub const VERSION: &'static str = "apiextensions.k8s.io/v1";
    /// The kind of these reviews.
    pub const KIND: &'static str = "ConversionReview";
}

/// The objects to convert, and the version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConversionRequest {
    /// Identifies this call; the response repeats it.
    pub uid: String,
    /// The `apiVersion` to convert to.
    #[serde(rename = "desiredAPIVersion")]
    pub desired_api_version: String,
    /// The objects.
    #[serde(deserialize_with = "listed")]
    pub objects: Vec<Value>,
}

/// The converted objects, in the order of the request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConversionResponse {
    /// The uid of the request.
    pub uid: String,
    /// The converted objects.
    #[serde(deserialize_with = "listed")]
    pub converted_objects: Vec<Value>,
    /// Whether the conversion succeeded.
    pub result: Status,
}

/// Go writes null for an empty list; the API server sends requests with such an empty response.
fn listed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Value>, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ConversionReview;

    #[test]
    fn request_of_the_api_server_has_an_empty_response() {
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
