//! The older version of the API: `apps.kruise.io/v1alpha1`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kubewright::prelude::*;

use crate::SidecarSetStatus;
use crate::kind::sidecar_set;
use crate::names::{CUSTOM_VERSION_LABEL, NAMESPACE_NAME_LABEL};

sidecar_set!(declare "v1alpha1" {
    /// The only namespace of the Pods; takes precedence over the namespace selector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
});

/// Converts a set to `v1beta1`. The namespace becomes a selector, the label with the custom version
/// a field.
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
            match_labels: Some(BTreeMap::from([(NAMESPACE_NAME_LABEL.to_owned(), name)])),
            match_expressions: None,
        });
    }
    crate::SidecarSet {
        metadata,
        spec: sidecar_set!(copy spec to crate::SidecarSetSpec { custom_version }),
        status: old.status,
    }
}

/// Converts a set from `v1beta1`. A selector for the name of a namespace remains a selector.
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
    use proptest::prelude::prop;
    use proptest::{prop_assert, prop_assert_eq, proptest};
    use serde_json::{Value, json};

    use super::{CUSTOM_VERSION_LABEL, SidecarSet, from_v1beta1, to_v1beta1};

    const EVERY_FIELD: &str = include_str!("../samples/versions/v1alpha1.yaml");

    fn sample() -> SidecarSet {
        serde_saphyr::from_str(EVERY_FIELD).unwrap()
    }

    #[test]
    fn every_field_round_trips_except_that_the_namespace_becomes_a_selector() {
        let mut old = sample();
        let new = to_v1beta1(old.clone());
        let selector = json!({"matchLabels": {"kubernetes.io/metadata.name": "shop"}});
        assert_eq!(json!(new.spec.namespace_selector), selector);
        assert_eq!(new.spec.custom_version.as_deref(), Some("one"));
        let back = from_v1beta1(new.clone());
        old.spec.namespace = None;
        old.spec.namespace_selector = serde_json::from_value(selector).unwrap();
        assert_eq!(json!(back), json!(old));
        assert_eq!(json!(to_v1beta1(back)), json!(new));
    }

    /// Drops fields and items of a value; `keep` decides for one after another.
    fn part(value: &Value, keep: &mut dyn Iterator<Item = bool>) -> Value {
        let mut is_kept = || keep.next().unwrap_or(true);
        match value {
            Value::Object(fields) => {
                let kept: Vec<_> = fields.iter().filter(|_| is_kept()).collect();
                let parts = kept
                    .into_iter()
                    .map(|(key, field)| (key.clone(), part(field, keep)));
                Value::Object(parts.collect())
            }
            Value::Array(items) => {
                let kept: Vec<_> = items.iter().filter(|_| is_kept()).collect();
                kept.into_iter().map(|item| part(item, keep)).collect()
            }
            other => other.clone(),
        }
    }

    proptest! {
        /// A failure prints the smallest case and its seed.
        #[test]
        fn any_set_round_trips_through_the_other_version(
            keep in prop::collection::vec(prop::bool::weighted(0.8), 300),
            version in prop::option::of("[a-z]{1,5}"),
            labels in prop::collection::btree_map("[a-z]{1,3}", "[a-z]{0,3}", 0..3),
        ) {
            let every_field: Value = serde_saphyr::from_str(EVERY_FIELD).unwrap();
            let spec = part(&every_field["spec"], &mut keep.into_iter());
            let status = json!({"matchedPods": 3, "observedGeneration": 2});
            let mut set = json!({"metadata": {"name": "s"}, "spec": spec, "status": status});
            if !labels.is_empty() {
                set["metadata"]["labels"] = json!(labels);
            }

            let mut newer = set.clone();
            newer["apiVersion"] = json!("apps.kruise.io/v1beta1");
            newer["kind"] = json!("SidecarSet");
            newer["spec"].as_object_mut().unwrap().remove("namespace");
            newer["spec"]["customVersion"] = json!(version);
            let newer: crate::SidecarSet = serde_json::from_value(newer).unwrap();
            prop_assert_eq!(json!(to_v1beta1(from_v1beta1(newer.clone()))), json!(newer));

            let mut older = set;
            older["apiVersion"] = json!("apps.kruise.io/v1alpha1");
            older["kind"] = json!("SidecarSet");
            if let Some(version) = version {
                older["metadata"]["labels"][CUSTOM_VERSION_LABEL] = json!(version);
            }
            let mut older: SidecarSet = serde_json::from_value(older).unwrap();
            let back = from_v1beta1(to_v1beta1(older.clone()));
            // The only field that the other version has in another form.
            if older.spec.namespace.take().is_some() {
                older.spec.namespace_selector = back.spec.namespace_selector.clone();
                prop_assert!(older.spec.namespace_selector.is_some());
            }
            prop_assert_eq!(json!(back), json!(older));
        }
    }

    #[test]
    fn sample_has_every_field() {
        let written: Value = serde_saphyr::from_str(EVERY_FIELD).unwrap();
        let schema = json!(<SidecarSet as kube::CustomResourceExt>::crd());
        let fields = schema
            .pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties")
            .and_then(Value::as_object)
            .unwrap();
        for field in fields.keys() {
            assert!(!written["spec"][field].is_null(), "{field} is missing");
        }
        // The types have every field of the sample.
        assert_eq!(json!(sample())["spec"], written["spec"]);
    }
}
