use serde_json::Value;

/// Whether the object makes the API server call the operator: a webhook configuration, or the
/// definition of a kind that the operator converts.
pub(crate) fn calls_webhooks(object: &Value) -> bool {
    let kind = object["kind"].as_str();
    kind.is_some_and(|kind| kind.ends_with("WebhookConfiguration")) || is_converted(object)
}

/// Whether the object defines a kind that the operator converts.
pub(crate) fn is_converted(object: &Value) -> bool {
    object["spec"]["conversion"]["strategy"] == "Webhook"
}

/// Whether a definition has more than one version.
pub(crate) fn has_several_versions(definition: &Value) -> bool {
    let versions = definition["spec"]["versions"].as_array();
    versions.is_some_and(|versions| versions.len() > 1)
}

/// A version of a kind that a cluster does without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AbsentVersion {
    api_version: String,
    kind: String,
}

impl AbsentVersion {
    /// Whether the object is in this version.
    pub(crate) fn is_of(&self, object: &Value) -> bool {
        object["apiVersion"] == self.api_version.as_str() && object["kind"] == self.kind.as_str()
    }
}

/// The versions that [`without_webhooks`] takes from a definition.
pub(crate) fn absent_versions(definition: &Value) -> Vec<AbsentVersion> {
    if !is_converted(definition) {
        return Vec::new();
    }
    let spec = &definition["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let versions = spec["versions"].as_array().into_iter().flatten();
    let absent = versions.filter(|version| version["storage"] != true);
    absent
        .map(|version| AbsentVersion {
            api_version: format!("{}/{}", text(&spec["group"]), text(&version["name"])),
            kind: text(&spec["names"]["kind"]),
        })
        .collect()
}

/// The objects for a cluster that cannot call the operator: without configurations, and of
/// converted kinds the stored version alone, because nobody would convert the others.
pub(crate) fn without_webhooks(objects: Vec<Value>) -> Vec<Value> {
    let kept = objects.into_iter().filter_map(|mut object| {
        if !is_converted(&object) {
            return (!calls_webhooks(&object)).then_some(object);
        }
        if let Some(spec) = object["spec"].as_object_mut() {
            spec.remove("conversion");
        }
        if let Some(versions) = object["spec"]["versions"].as_array_mut() {
            versions.retain(|version| version["storage"] == true);
        }
        Some(object)
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{absent_versions, calls_webhooks, has_several_versions, without_webhooks};

    #[test]
    fn a_cluster_that_cannot_call_gets_the_stored_version_of_a_converted_kind() {
        let converted = json!({"kind": "CustomResourceDefinition", "spec": {
            "conversion": {"strategy": "Webhook"},
            "versions": [{"name": "v1", "storage": true}, {"name": "v2", "storage": false}],
        }});
        let plain = json!({"kind": "CustomResourceDefinition", "spec": {
            "versions": [{"name": "v1", "storage": true}, {"name": "v2", "storage": false}],
        }});
        let hook = json!({"kind": "ValidatingWebhookConfiguration"});
        assert!(calls_webhooks(&converted) && calls_webhooks(&hook));
        assert!(!calls_webhooks(&plain));
        let stored = json!({"kind": "CustomResourceDefinition", "spec": {
            "versions": [{"name": "v1", "storage": true}],
        }});
        assert_eq!(
            without_webhooks(vec![converted, hook, plain.clone()]),
            [stored, plain]
        );
    }

    #[test]
    fn versions_that_a_definition_loses_are_known_by_their_objects() {
        let converted = json!({"spec": {
            "group": "ex.io", "names": {"kind": "Site"}, "conversion": {"strategy": "Webhook"},
            "versions": [{"name": "v1", "storage": true}, {"name": "v2", "storage": false}],
        }});
        assert!(has_several_versions(&converted));
        let absent = absent_versions(&converted);
        assert_eq!(absent.len(), 1);
        let is_absent = |version: &str, kind: &str| {
            let object = json!({"apiVersion": format!("ex.io/{version}"), "kind": kind});
            absent.iter().any(|one| one.is_of(&object))
        };
        assert!(is_absent("v2", "Site"));
        assert!(!is_absent("v1", "Site") && !is_absent("v2", "Page"));
        let mut plain = converted.clone();
        plain["spec"]["conversion"] = json!({"strategy": "None"});
        assert!(absent_versions(&plain).is_empty());
    }
}
