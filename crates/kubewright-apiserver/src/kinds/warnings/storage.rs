use serde_json::Value;

use super::amounts::claimed;
use super::node_labels::{Values, deprecated, named, term};
use super::{At, Told};

const CLASS: &str = "volume.beta.kubernetes.io/storage-class";
const USE_CLASS: &str = "deprecated since v1.8; use \"storageClassName\" attribute instead";
const OPTIONS: &str = "volume.beta.kubernetes.io/mount-options";
const USE_OPTIONS: &str = "deprecated since v1.31; use \"mountOptions\" attribute instead";
const TOKENS: &str = "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI \
     driver, set to true to prevent possible logging of tokens in volume attributes";

/// Kinds of volumes that are no more: the field, as Kubernetes spells it here, and since when.
const GONE: [(&str, &str, &str); 6] = [
    (
        "cephfs",
        "cephfs",
        "deprecated in v1.28, non-functional in v1.31+",
    ),
    (
        "photonPersistentDisk",
        "photonPersistentDisk",
        "deprecated in v1.11, non-functional in v1.16+",
    ),
    (
        "scaleIO",
        "scaleIO",
        "deprecated in v1.16, non-functional in v1.22+",
    ),
    (
        "storageos",
        "storageOS",
        "deprecated in v1.22, non-functional in v1.25+",
    ),
    (
        "glusterfs",
        "glusterfs",
        "deprecated in v1.25, non-functional in v1.26+",
    ),
    (
        "rbd",
        "rbd",
        "deprecated in v1.28, non-functional in v1.31+",
    ),
];

/// `GetWarningsForPersistentVolume`.
pub(super) fn volume(object: &Value, _old: Option<&Value>, told: &mut Told) {
    let (metadata, spec) = (At::top(object, "metadata"), At::top(object, "spec"));
    let annotations = metadata.field("annotations");
    for (name, detail) in [(CLASS, USE_CLASS), (OPTIONS, USE_OPTIONS)] {
        if annotations.has(name) {
            told.at(annotations.key(name), detail);
        }
    }
    let policy = spec.field("persistentVolumeReclaimPolicy");
    if policy.text() == "Recycle" {
        let detail = "The Recycle reclaim policy is deprecated. Instead, the recommended approach \
             is to use dynamic provisioning.";
        told.at(policy, detail);
    }
    let affinity = spec.field("nodeAffinity");
    let required = affinity.field("required");
    for one in required.field("nodeSelectorTerms").items() {
        term(one, Values::Any, told);
    }
    for (field, spelled, since) in GONE {
        if spec.has(field) {
            told.at(spec.field(spelled), since);
        }
    }
}

/// `GetWarningsForPersistentVolumeClaim`.
pub(super) fn claim(object: &Value, _old: Option<&Value>, told: &mut Told) {
    let metadata = At::top(object, "metadata");
    let annotations = metadata.field("annotations");
    if annotations.has(CLASS) {
        told.at(annotations.key(CLASS), USE_CLASS);
    }
    claimed(At::top(object, "spec"), told);
}

/// `GetWarningsForStorageClass`.
pub(super) fn class(object: &Value, _old: Option<&Value>, told: &mut Told) {
    for topology in At::top(object, "allowedTopologies").items() {
        for expression in topology.field("matchLabelExpressions").items() {
            let key = expression.field("key");
            if let Some(why) = deprecated(key.text()) {
                told.at(key, why);
            }
        }
    }
}

/// `GetWarningsForCSIStorageCapacity`.
pub(super) fn capacity(object: &Value, _old: Option<&Value>, told: &mut Told) {
    let topology = At::top(object, "nodeTopology");
    for expression in topology.field("matchExpressions").items() {
        named(expression.field("key"), told);
    }
    let labels = topology.field("matchLabels");
    for (label, _) in labels.entries() {
        if let Some(why) = deprecated(label) {
            told.at(labels.field(label), why);
        }
    }
}

/// A driver that asks for tokens, and does not say how it gets them.
pub(super) fn driver(object: &Value, old: Option<&Value>, told: &mut Told) {
    let spec = At::top(object, "spec");
    let asked = spec.field("tokenRequests");
    let is_new = |old: &Value| old.pointer("/spec/tokenRequests") != Some(asked.value());
    if !asked.is_empty() && !spec.has("serviceAccountTokenInSecrets") && old.is_none_or(is_new) {
        told.say(TOKENS);
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::Kind;
    use serde_json::json;

    use super::TOKENS;
    use crate::kinds::warnings;

    #[test]
    fn volumes_are_told_what_is_no_more() {
        let volume = json!({
            "metadata": {"annotations": {
                "volume.beta.kubernetes.io/mount-options": "ro",
                "volume.beta.kubernetes.io/storage-class": "a",
            }},
            "spec": {
                "persistentVolumeReclaimPolicy": "Recycle",
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                    {"key": "a", "operator": "Exists"},
                    {"key": "app.kubernetes.io/created-by", "operator": "Exists"},
                ]}]}},
                "storageos": {}, "cephfs": {"monitors": ["a"]},
            },
        });
        assert_eq!(
            warnings(
                &Kind::new("", "v1", "PersistentVolume"),
                &volume,
                Some(&volume)
            ),
            [
                "metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since \
                 v1.8; use \"storageClassName\" attribute instead",
                "metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since \
                 v1.31; use \"mountOptions\" attribute instead",
                "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. \
                 Instead, the recommended approach is to use dynamic provisioning.",
                "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[1].key: \
                 app.kubernetes.io/created-by is deprecated since v1.9",
                "spec.cephfs: deprecated in v1.28, non-functional in v1.31+",
                "spec.storageOS: deprecated in v1.22, non-functional in v1.25+",
            ]
        );
    }

    #[test]
    fn claims_ask_for_whole_bytes() {
        let claim = json!({
            "metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "a"}},
            "spec": {"resources": {
                "limits": {"storage": "0.1Gi"}, "requests": {"storage": "1Gi"},
            }},
        });
        assert_eq!(
            warnings(&Kind::new("", "v1", "PersistentVolumeClaim"), &claim, None),
            [
                "metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since \
                 v1.8; use \"storageClassName\" attribute instead",
                "spec.resources.limits[storage]: fractional byte value \"107374182400m\" is \
                 invalid, must be an integer",
            ]
        );
    }

    #[test]
    fn topologies_name_labels_that_are_set() {
        let class = json!({"allowedTopologies": [{"matchLabelExpressions": [
            {"key": "failure-domain.beta.kubernetes.io/zone", "values": ["a"]},
        ]}]});
        let zone = "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead";
        assert_eq!(
            warnings(
                &Kind::new("storage.k8s.io", "v1", "StorageClass"),
                &class,
                None
            ),
            [format!(
                "allowedTopologies[0].matchLabelExpressions[0].key: {zone}"
            )]
        );
        let capacity = json!({"nodeTopology": {
            "matchExpressions": [
                {"key": "failure-domain.beta.kubernetes.io/zone", "operator": "Exists"},
            ],
            "matchLabels": {"failure-domain.beta.kubernetes.io/zone": "a"},
        }});
        let kind = Kind::new("storage.k8s.io", "v1", "CSIStorageCapacity");
        assert_eq!(
            warnings(&kind, &capacity, None),
            [
                format!(
                    "nodeTopology.matchExpressions[0].key: failure-domain.beta.kubernetes.io/zone \
                     is {zone}"
                ),
                format!("nodeTopology.matchLabels.failure-domain.beta.kubernetes.io/zone: {zone}"),
            ]
        );
    }

    #[test]
    fn a_driver_that_asks_for_tokens_says_where_it_wants_them() {
        let kind = Kind::new("storage.k8s.io", "v1", "CSIDriver");
        let asks = json!({"spec": {"tokenRequests": [{"audience": "a"}]}});
        assert_eq!(warnings(&kind, &asks, None), [TOKENS]);
        assert!(warnings(&kind, &asks, Some(&asks)).is_empty());
        assert_eq!(warnings(&kind, &asks, Some(&json!({}))), [TOKENS]);
        let said = json!({"spec": {
            "tokenRequests": [{"audience": "a"}], "serviceAccountTokenInSecrets": false,
        }});
        assert!(warnings(&kind, &said, None).is_empty());
    }
}
