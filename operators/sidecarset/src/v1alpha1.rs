//! The older version of the API: `apps.kruise.io/v1alpha1`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kubewright::prelude::*;

use crate::SidecarSetStatus;
use crate::kind::sidecar_set;
use crate::place::NAME_LABEL;
use crate::revision::CUSTOM_VERSION_LABEL;

sidecar_set!(declare "v1alpha1" {
    /// In which namespace only; it counts more than the selector of namespaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
});

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
    let mut spec = old.spec;
    if let Some(name) = spec.namespace.take().filter(|name| !name.is_empty()) {
        spec.namespace_selector = Some(LabelSelector {
            match_labels: Some(BTreeMap::from([(NAME_LABEL.to_owned(), name)])),
            match_expressions: None,
        });
    }
    crate::SidecarSet {
        metadata,
        spec: sidecar_set!(copy spec to crate::SidecarSetSpec { custom_version }),
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
        spec: sidecar_set!(copy spec to SidecarSetSpec { namespace: None }),
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
