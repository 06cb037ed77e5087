use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright::prelude::*;

use super::SidecarSet;

/// How Pods that have the containers of a set get newer ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct UpdateStrategy {
    /// Whether they do; they do unless said otherwise.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub update_type: Option<UpdateType>,
    /// Not for now.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// Only these Pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "super::selector")]
    pub selector: Option<LabelSelector>,
    /// So many Pods keep the older version, a number or a percentage that is rounded up.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "kubewright::schema::int_or_string")]
    pub partition: Option<IntOrString>,
    /// So many updated Pods may be unready at once, a number or a percentage that is rounded up; 1
    /// unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "kubewright::schema::int_or_string")]
    pub max_unavailable: Option<IntOrString>,
    /// Which Pods come first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_strategy: Option<PriorityStrategy>,
    /// Which Pods do not come one after another.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scatter_strategy: Vec<ScatterTerm>,
}

/// Whether Pods that exist are updated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum UpdateType {
    /// A few at a time.
    #[default]
    RollingUpdate,
    /// Only new Pods get new containers.
    NotUpdate,
}

/// Which Pods come first: by weights, or by a number in a label.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PriorityStrategy {
    /// The weights of all terms that a Pod matches are summed up; the largest sum comes first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weight_priority: Vec<WeightTerm>,
    /// The largest number at the end of a label's value comes first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order_priority: Vec<OrderTerm>,
}

/// What Pods with these labels weigh.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct WeightTerm {
    /// From 1 to 100.
    pub weight: i32,
    /// The Pods.
    #[schemars(schema_with = "super::selector")]
    pub match_selector: LabelSelector,
}

/// A label whose value ends with a number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct OrderTerm {
    /// The label.
    pub ordered_key: String,
}

/// Pods with this label are spread over the whole roll-out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ScatterTerm {
    /// The label.
    pub key: String,
    /// Its value; `*` means each value for itself.
    pub value: String,
}

/// What new Pods get.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct InjectionStrategy {
    /// Nothing, for now.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// An older version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<InjectRevision>,
}

/// An older version of a set, by the user's name for it or by that of its ControllerRevision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct InjectRevision {
    /// The `customVersion` that the set had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_version: Option<String>,
    /// The name of the ControllerRevision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision_name: Option<String>,
    /// Which Pods get it; all unless said otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<RevisionPolicy>,
}

impl InjectRevision {
    /// Whether it names the version that the set has now.
    pub fn is_present_of(&self, set: &SidecarSet) -> bool {
        let version = self.custom_version.as_ref();
        self.revision_name.is_none()
            && version.is_some()
            && version == set.spec.custom_version.as_ref()
    }
}

/// Which new Pods get the older version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RevisionPolicy {
    /// All.
    #[default]
    Always,
    /// Those that the roll-out leaves with the older one.
    Partial,
}

/// Annotations for the Pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PatchPodMetadata {
    /// The annotations.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// What becomes of one that the Pod has already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch_policy: Option<PatchPolicy>,
}

/// What becomes of an annotation that a Pod has already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PatchPolicy {
    /// It stays.
    #[default]
    Retain,
    /// It is replaced.
    Overwrite,
    /// Both are JSON, and the new one is merged into the old one (RFC 7386).
    MergePatchJson,
}
