//! Versions of a definition that need a conversion webhook.

use kubewright_manifest::is_converted;
use serde_json::Value;

use super::text::text;

/// Whether a definition has more than one version.
pub(crate) fn has_several_versions(definition: &Value) -> bool {
    let versions = definition["spec"]["versions"].as_array();
    versions.is_some_and(|versions| versions.len() > 1)
}

/// A version of a kind that a cluster does not get, because nothing converts it.
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

/// Returns the versions that [`without_webhooks`](kubewright_manifest::without_webhooks) removes from
/// a definition.
pub(crate) fn absent_versions(definition: &Value) -> Vec<AbsentVersion> {
    if !is_converted(definition) {
        return Vec::new();
    }
    let spec = &definition["spec"];
    let versions = spec["versions"].as_array().into_iter().flatten();
    let absent = versions.filter(|version| version["storage"] != true);
    absent
        .map(|version| AbsentVersion {
            api_version: format!("{}/{}", text(&spec["group"]), text(&version["name"])),
            kind: text(&spec["names"]["kind"]).to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{absent_versions, has_several_versions};

    #[test]
    fn objects_in_a_version_without_conversion_are_recognized() {
        let converted = json!({"spec": {
            "group": "ex.io", "names": {"kind": "Site"}, "conversion": {"strategy": "Webhook"},
            "versions": [{"name": "v1", "storage": true}, {"name": "v2", "storage": false}],
        }});
        assert!(has_several_versions(&converted));
        let absent = absent_versions(&converted);
        assert_eq!(absent.len(), 1);
        let is_absent = |version: &str, kind: &str| {
            let object = json!({"apiVersion": format!("ex.io/{version}"), "kind": kind});
            absent.iter().any(|version| version.is_of(&object))
        };
        assert!(is_absent("v2", "Site"));
        assert!(!is_absent("v1", "Site") && !is_absent("v2", "Page"));
        let mut plain = converted.clone();
        plain["spec"]["conversion"] = json!({"strategy": "None"});
        assert!(absent_versions(&plain).is_empty());
    }
}
