use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Whether a user may do something: question and answer in one object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SubjectAccessReview {
    /// `authorization.k8s.io/v1`.
    pub api_version: String,
    /// `SubjectAccessReview`.
    pub kind: String,
    /// Mostly empty.
    pub metadata: BTreeMap<String, Value>,
    /// The question.
    pub spec: SubjectAccessReviewSpec,
    /// The answer.
    pub status: SubjectAccessReviewStatus,
}

/// Who wants to do what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SubjectAccessReviewSpec {
    /// What is to be done to objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_attributes: Option<ResourceAttributes>,
    /// What is to be done outside the API of objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub non_resource_attributes: Option<NonResourceAttributes>,
    /// The user's name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub user: String,
    /// The user's groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// What else is known of the user.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, Vec<String>>,
    /// Tells apart users that had the same name at different times.
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
    /// The part of the object.
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

/// The answer: allowed, denied, or neither, which leaves it to the next authorizer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SubjectAccessReviewStatus {
    /// Whether the user may.
    pub allowed: bool,
    /// Whether nobody else may allow it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub denied: bool,
    /// Why.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What went wrong while deciding.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub evaluation_error: String,
}
