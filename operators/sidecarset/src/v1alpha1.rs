//! The older version of the API: `apps.kruise.io/v1alpha1`.

#![expect(
    clippy::duplicated_attributes,
    reason = "each column of the table names its type"
)]

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{LocalObjectReference, Volume};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kubewright::prelude::*;

use crate::kind::is_default;
use crate::place::NAME_LABEL;
use crate::revision::CUSTOM_VERSION_LABEL;
use crate::{
    InjectionStrategy, PatchPodMetadata, SidecarContainer, SidecarSetStatus, UpdateStrategy,
};

/// Containers that are put into each Pod that the set selects.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[kube(
    group = "apps.kruise.io",
    version = "v1alpha1",
    kind = "SidecarSet",
    status = "SidecarSetStatus",
    printcolumn(
        name = "MATCHED",
        type_ = "integer",
        description = "Pods that have the containers of the set",
        json_path = ".status.matchedPods"
    ),
    printcolumn(
        name = "UPDATED",
        type_ = "integer",
        description = "Pods with the present containers of the set",
        json_path = ".status.updatedPods"
    ),
    printcolumn(
        name = "READY",
        type_ = "integer",
        description = "Pods that are ready",
        json_path = ".status.readyPods"
    ),
    printcolumn(
        name = "AGE",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
pub struct SidecarSetSpec {
    /// Which Pods get the containers; it must not be empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "crate::kind::selector")]
    pub selector: Option<LabelSelector>,
    /// In which namespace only; it counts more than the selector of namespaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// In which namespaces; in all unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "crate::kind::selector")]
    pub namespace_selector: Option<LabelSelector>,
    /// Containers that run before the others, or beside them with `restartPolicy: Always`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "crate::kind::containers")]
    pub init_containers: Vec<SidecarContainer>,
    /// The containers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "crate::kind::containers")]
    pub containers: Vec<SidecarContainer>,
    /// Volumes that the containers mount; those that none mounts are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "crate::kind::volumes")]
    pub volumes: Vec<Volume>,
    /// How Pods that have the containers get newer ones.
    #[serde(skip_serializing_if = "is_default")]
    pub update_strategy: UpdateStrategy,
    /// What new Pods get.
    #[serde(skip_serializing_if = "is_default")]
    pub injection_strategy: InjectionStrategy,
    /// Secrets for the images of the containers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "kubewright::schema::core::<Vec<LocalObjectReference>>")]
    pub image_pull_secrets: Vec<LocalObjectReference>,
    /// How many versions are kept to go back to; 10 unless given, at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision_history_limit: Option<i32>,
    /// Annotations for the Pods.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patch_pod_metadata: Vec<PatchPodMetadata>,
}

/// The set as the newer version says it. A namespace becomes a selector of its name, the label for
/// the user's name of the version a field.
pub fn to_v1beta1(old: SidecarSet) -> crate::SidecarSet {
    let mut metadata = old.metadata;
    let custom_version = metadata
        .labels
        .as_mut()
        .and_then(|labels| labels.remove(CUSTOM_VERSION_LABEL));
    if metadata.labels.as_ref().is_some_and(BTreeMap::is_empty) {
        metadata.labels = None;
    }
    let spec = old.spec;
    let named = spec.namespace.filter(|name| !name.is_empty());
    let named = named.map(|name| LabelSelector {
        match_labels: Some(BTreeMap::from([(NAME_LABEL.to_owned(), name)])),
        match_expressions: None,
    });
    crate::SidecarSet {
        metadata,
        spec: crate::SidecarSetSpec {
            selector: spec.selector,
            namespace_selector: named.or(spec.namespace_selector),
            init_containers: spec.init_containers,
            containers: spec.containers,
            volumes: spec.volumes,
            update_strategy: spec.update_strategy,
            injection_strategy: spec.injection_strategy,
            image_pull_secrets: spec.image_pull_secrets,
            revision_history_limit: spec.revision_history_limit,
            patch_pod_metadata: spec.patch_pod_metadata,
            custom_version,
        },
        status: old.status,
    }
}

/// The set as the older version says it; a selector of a namespace's name stays one.
pub fn from_v1beta1(new: crate::SidecarSet) -> SidecarSet {
    let mut metadata = new.metadata;
    let spec = new.spec;
    if let Some(version) = spec.custom_version {
        let labels = metadata.labels.get_or_insert_default();
        labels.insert(CUSTOM_VERSION_LABEL.to_owned(), version);
    }
    SidecarSet {
        metadata,
        spec: SidecarSetSpec {
            selector: spec.selector,
            namespace: None,
            namespace_selector: spec.namespace_selector,
            init_containers: spec.init_containers,
            containers: spec.containers,
            volumes: spec.volumes,
            update_strategy: spec.update_strategy,
            injection_strategy: spec.injection_strategy,
            image_pull_secrets: spec.image_pull_secrets,
            revision_history_limit: spec.revision_history_limit,
            patch_pod_metadata: spec.patch_pod_metadata,
        },
        status: new.status,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{SidecarSet, from_v1beta1, to_v1beta1};

    const EVERY_FIELD: &str = include_str!("../samples/versions/v1alpha1.yaml");

    fn sample() -> SidecarSet {
        serde_saphyr::from_str(EVERY_FIELD).unwrap()
    }

    #[test]
    fn every_field_comes_back_but_for_the_namespace_which_is_a_selector_then() {
        let mut old = sample();
        let new = to_v1beta1(old.clone());
        let wanted = json!({"matchLabels": {"kubernetes.io/metadata.name": "shop"}});
        assert_eq!(json!(new.spec.namespace_selector), wanted);
        assert_eq!(new.spec.custom_version.as_deref(), Some("one"));
        let back = from_v1beta1(new.clone());
        old.spec.namespace = None;
        old.spec.namespace_selector = serde_json::from_value(wanted).unwrap();
        assert_eq!(json!(back), json!(old));
        assert_eq!(json!(to_v1beta1(back)), json!(new));
    }

    #[test]
    fn the_sample_says_something_in_every_field() {
        let written: Value = serde_saphyr::from_str(EVERY_FIELD).unwrap();
        let schema = json!(<SidecarSet as kube::CustomResourceExt>::crd());
        let fields = schema
            .pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties")
            .and_then(Value::as_object)
            .unwrap();
        for field in fields.keys() {
            assert!(!written["spec"][field].is_null(), "{field} is missing");
        }
        // Nothing is lost on the way in.
        assert_eq!(json!(sample())["spec"], written["spec"]);
    }
}
