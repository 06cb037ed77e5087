//! The strategies of a set: for the injection into new Pods and for the update of running ones.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright::prelude::*;

use super::SidecarSet;

/// How running Pods are updated to a changed set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct UpdateStrategy {
    /// Whether running Pods are updated; the default is a rolling update.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub update_type: Option<UpdateType>,
    /// Whether the roll-out is paused.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// Only these Pods are updated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "super::selector")]
    pub selector: Option<LabelSelector>,
    /// How many Pods keep the old version, as a number or as a percentage that is rounded up.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "kubewright::schema::int_or_string")]
    pub partition: Option<IntOrString>,
    /// How many updated Pods may be not ready at once, as a number or as a percentage that is rounded
    /// up; the default is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "kubewright::schema::int_or_string")]
    pub max_unavailable: Option<IntOrString>,
    /// Which Pods are updated first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_strategy: Option<PriorityStrategy>,
    /// Which Pods are not updated one after another.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scatter_strategy: Vec<ScatterTerm>,
}

/// Whether running Pods are updated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum UpdateType {
    /// They are updated, a few at a time.
    #[default]
    RollingUpdate,
    /// Only new Pods get the new version.
    NotUpdate,
}

/// Which Pods are updated first: by weights, or by a number in a label.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PriorityStrategy {
    /// The weights of all terms that match a Pod are added; the largest sum comes first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weight_priority: Vec<WeightTerm>,
    /// The largest number at the end of a label's value comes first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order_priority: Vec<OrderTerm>,
}

/// The weight of Pods with these labels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct WeightTerm {
    /// From 1 to 100.
    pub weight: i32,
    /// Selects the Pods.
    #[schemars(schema_with = "super::selector")]
    pub match_selector: LabelSelector,
}

/// A label whose value ends with a number, by which Pods are ordered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct OrderTerm {
    /// The key of the label.
    pub ordered_key: String,
}

/// Pods with this label are spread evenly over the roll-out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ScatterTerm {
    /// The key of the label.
    pub key: String,
    /// The value of the label; `*` spreads the Pods of each value.
    pub value: String,
}

/// What is injected into new Pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct InjectionStrategy {
    /// Whether the injection is paused.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// The version to inject, if it is not the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<InjectRevision>,
}

/// A version of a set, by its `customVersion` or by the name of its ControllerRevision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct InjectRevision {
    /// The `customVersion` of the set in that version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_version: Option<String>,
    /// The name of the ControllerRevision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision_name: Option<String>,
    /// Which Pods get this version; the default is all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<RevisionPolicy>,
}

impl InjectRevision {
    /// Whether it names the current version of the set.
    pub fn is_current_version_of(&self, set: &SidecarSet) -> bool {
        let version = self.custom_version.as_ref();
        self.revision_name.is_none()
            && version.is_some()
            && version == set.spec.custom_version.as_ref()
    }
}

/// Which new Pods get the named version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RevisionPolicy {
    /// All Pods.
    #[default]
    Always,
    /// As many as the update strategy keeps at the old version.
    Partial,
}

/// Annotations that are added to the Pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PatchPodMetadata {
    /// The annotations.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// What happens to an annotation that the Pod has already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch_policy: Option<PatchPolicy>,
}

/// What happens to an annotation that a Pod has already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PatchPolicy {
    /// It is kept.
    #[default]
    Retain,
    /// It is replaced.
    Overwrite,
    /// The new value is merged into it; both are JSON (RFC 7386).
    MergePatchJson,
}
