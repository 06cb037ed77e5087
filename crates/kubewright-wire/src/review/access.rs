//! Subject access reviews.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Whether a user may do something: request and response in one object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SubjectAccessReview {
    /// `authorization.k8s.io/v1`.
    pub api_version: String,
    /// `SubjectAccessReview`.
    pub kind: String,
    /// The metadata, usually empty.
    pub metadata: BTreeMap<String, Value>,
    /// The request.
    pub spec: SubjectAccessReviewSpec,
    /// The response.
    pub status: SubjectAccessReviewStatus,
}

/// A user and an action.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SubjectAccessReviewSpec {
    /// An action on objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_attributes: Option<ResourceAttributes>,
    /// An action on a path outside the API of objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub non_resource_attributes: Option<NonResourceAttributes>,
    /// The user's name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub user: String,
    /// The user's groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Further attributes of the user.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, Vec<String>>,
    /// Distinguishes users that had the same name at different times.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
}

/// A verb on objects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceAttributes {
    /// The namespace; empty for all or none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The verb, as roles spell it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub verb: String,
    /// The group; empty for the core one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The plural name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource: String,
    /// The subresource.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subresource: String,
    /// The object's name; empty for all.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The fields that a list or watch is restricted to.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub field_selector: Value,
    /// The labels that a list or watch is restricted to.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub label_selector: Value,
}

/// A verb on a path outside the API of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NonResourceAttributes {
    /// The path.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The method in lower case.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub verb: String,
}

/// The decision: allowed, denied, or neither, so that the next authorizer decides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SubjectAccessReviewStatus {
    /// Whether the action is allowed.
    pub allowed: bool,
    /// Whether the action is denied, whatever other authorizers decide.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub denied: bool,
    /// The reason of the decision.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// An error of the evaluation.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub evaluation_error: String,
}
