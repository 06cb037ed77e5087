use std::collections::BTreeMap;

use kubewright_core::{Kind, Operation, Resource};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::PatchBytes;
use crate::status::Status;

/// A question of the API server about one request, or the answer to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdmissionReview {
    /// `admission.k8s.io/v1`, or an older version where both sides know it.
    pub api_version: String,
    /// `AdmissionReview`.
    pub kind: String,
    /// The question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<AdmissionRequest>,
    /// The answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<AdmissionResponse>,
}

/// The request that a webhook is asked about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdmissionRequest {
    /// Names this question; the answer repeats it.
    pub uid: String,
    /// The kind of `object`.
    pub kind: GroupVersionKind,
    /// The resource in the version that the webhook asked for.
    pub resource: GroupVersionResource,
    /// The part of the object that is written, such as `status`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sub_resource: String,
    /// The kind as the client sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_kind: Option<GroupVersionKind>,
    /// The resource as the client asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_resource: Option<GroupVersionResource>,
    /// The part as the client asked for it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub request_sub_resource: String,
    /// The object's name; empty while it is still to be generated, and for collections.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The object's namespace; a Namespace is in its own.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// What is done.
    pub operation: Operation,
    /// Who asks for it.
    pub user_info: UserInfo,
    /// The object as it would be; null for a delete.
    pub object: Value,
    /// The object as it is; null for a create.
    pub old_object: Value,
    /// Whether nothing will be stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// The options of the request.
    pub options: Value,
}

impl AdmissionRequest {
    /// Whether nothing will be stored.
    pub fn is_dry_run(&self) -> bool {
        self.dry_run == Some(true)
    }
}

/// A webhook's answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdmissionResponse {
    /// The uid of the question.
    pub uid: String,
    /// Whether the request may go on.
    pub allowed: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// How the object is to be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<PatchBytes>,
    /// `JSONPatch`, with a patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch_type: Option<String>,
    /// For the audit log.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub audit_annotations: BTreeMap<String, String>,
    /// What the client is told besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl AdmissionResponse {
    /// The request may go on.
    pub fn allowed() -> Self {
        Self {
            allowed: true,
            ..Self::default()
        }
    }

    /// The request is refused; the client sees the status.
    pub fn denied(status: Status) -> Self {
        Self {
            status: Some(status),
            ..Self::default()
        }
    }
}

impl AdmissionReview {
    /// The version that this library speaks.
    pub const VERSION: &'static str = "admission.k8s.io/v1";
    /// The kind of these reviews.
    pub const KIND: &'static str = "AdmissionReview";

    /// A question.
    pub fn ask(request: AdmissionRequest) -> Self {
        Self {
            api_version: Self::VERSION.to_owned(),
            kind: Self::KIND.to_owned(),
            request: Some(request),
            response: None,
        }
    }

    /// An answer.
    pub fn answer(response: AdmissionResponse) -> Self {
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

/// Who sends a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserInfo {
    /// The name that role bindings use.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub username: String,
    /// Tells apart users that had the same name at different times.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The groups that role bindings use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// What else the authentication found out.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, Vec<String>>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{AdmissionRequest, AdmissionResponse, AdmissionReview};

    #[test]
    fn a_question_has_null_objects_and_an_answer_has_none() {
        let review = AdmissionReview::ask(AdmissionRequest {
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
        let answer = AdmissionReview::answer(AdmissionResponse::allowed());
        assert_eq!(
            serde_json::to_value(answer).unwrap(),
            json!({
                "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                "response": {"uid": "", "allowed": true},
            })
        );
    }
}
