//! Admission reviews.

use std::collections::BTreeMap;

use kubewright_core::{Kind, Operation, Resource};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::patch::PatchBytes;
use crate::status::Status;

/// The API server's call of an admission webhook, or the webhook's response.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdmissionReview {
    /// `admission.k8s.io/v1`, or an older version that both sides support.
    pub api_version: String,
    /// `AdmissionReview`.
    pub kind: String,
    /// The request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<AdmissionRequest>,
    /// The response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<AdmissionResponse>,
}

/// The request that a webhook admits or denies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdmissionRequest {
    /// Identifies this call; the response repeats it.
    pub uid: String,
    /// The kind of `object`.
    pub kind: GroupVersionKind,
    /// The resource, in a version that the webhook's rules match.
    pub resource: GroupVersionResource,
    /// The subresource, such as `status`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sub_resource: String,
    /// The kind of the original request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_kind: Option<GroupVersionKind>,
    /// The resource of the original request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_resource: Option<GroupVersionResource>,
    /// The subresource of the original request.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub request_sub_resource: String,
    /// The object's name; empty before it is generated, and for collections.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The object's namespace; a Namespace is in its own.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The operation.
    pub operation: Operation,
    /// The user that sent the request.
    pub user_info: UserInfo,
    /// The new object; null for a delete.
    pub object: Value,
    /// The current object; null for a create.
    pub old_object: Value,
    /// Whether the request is a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// The options of the request.
    pub options: Value,
}

impl AdmissionRequest {
    /// Whether the request is a dry run, so that nothing is stored.
    pub fn is_dry_run(&self) -> bool {
        self.dry_run == Some(true)
    }
}

/// A webhook's response.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdmissionResponse {
    /// The uid of the request.
    pub uid: String,
    /// Whether the request is admitted.
    pub allowed: bool,
    /// The error for the client of a denied request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The changes of the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<PatchBytes>,
    /// `JSONPatch`, if there is a patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch_type: Option<String>,
    /// Annotations for the audit log.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub audit_annotations: BTreeMap<String, String>,
    /// Warnings for the client.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl AdmissionResponse {
    /// Admits the request.
    pub fn allowed() -> Self {
        Self {
            allowed: true,
            ..Self::default()
        }
    }

    /// Denies the request; the client gets the status.
    pub fn denied(status: Status) -> Self {
        Self {
            status: Some(status),
            ..Self::default()
        }
    }
}

impl AdmissionReview {
    /// The version that this library uses.
    pub const VERSION: &'static str = "admission.k8s.io/v1";
    /// The kind of these reviews.
    pub const KIND: &'static str = "AdmissionReview";

    /// A review with a request.
    pub fn with_request(request: AdmissionRequest) -> Self {
        Self {
            api_version: Self::VERSION.to_owned(),
            kind: Self::KIND.to_owned(),
            request: Some(request),
            response: None,
        }
    }

    /// A review with a response.
    pub fn with_response(response: AdmissionResponse) -> Self {
        Self {
            api_version: Self::VERSION.to_owned(),
            kind: Self::KIND.to_owned(),
            request: None,
            response: Some(response),
        }
    }
}

/// A kind, as reviews spell it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupVersionKind {
    /// The group; empty for the core one.
    pub group: String,
    /// The version.
    pub version: String,
    /// The name.
    pub kind: String,
}

impl From<&Kind> for GroupVersionKind {
    fn from(kind: &Kind) -> Self {
        Self {
            group: kind.group().to_owned(),
            version: kind.version().to_owned(),
            kind: kind.kind.clone(),
        }
    }
}

/// A resource, as reviews spell it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupVersionResource {
    /// The group; empty for the core one.
    pub group: String,
    /// The version.
    pub version: String,
    /// The plural name.
    pub resource: String,
}

impl From<&Resource> for GroupVersionResource {
    fn from(resource: &Resource) -> Self {
        Self {
            group: resource.kind.group().to_owned(),
            version: resource.kind.version().to_owned(),
            resource: resource.plural.clone(),
        }
    }
}

/// The user that sent a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserInfo {
    /// The name that role bindings use.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub username: String,
    /// Distinguishes users that had the same name at different times.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The groups that role bindings use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Further attributes from the authentication.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, Vec<String>>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{AdmissionRequest, AdmissionResponse, AdmissionReview};

    #[test]
    fn request_has_null_objects_and_response_omits_them() {
        let review = AdmissionReview::with_request(AdmissionRequest {
            uid: "u".to_owned(),
            dry_run: Some(false),
            ..AdmissionRequest::default()
        });
        let value = serde_json::to_value(&review).unwrap();
        assert_eq!(value["request"]["object"], json!(null));
        assert!(
            value["request"]
                .as_object()
                .unwrap()
                .contains_key("oldObject")
        );
        assert_eq!(value["request"]["operation"], "CREATE");
        assert_eq!(value["request"]["dryRun"], false);
        let response = AdmissionReview::with_response(AdmissionResponse::allowed());
        assert_eq!(
            serde_json::to_value(response).unwrap(),
            json!({
                "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                "response": {"uid": "", "allowed": true},
            })
        );
    }
}
