use std::collections::{BTreeMap, BTreeSet};

use kubewright::prelude::*;
use serde_json::json;

/// Where a Pod carries what was put into it: a map from sets to [`Injected`]. A set carries the
/// hash of its own containers there.
pub const HASH_ANNOTATION: &str = "kruise.io/sidecarset-hash";
/// The same for the hash that images do not count for.
pub const HASH_WITHOUT_IMAGE_ANNOTATION: &str = "kruise.io/sidecarset-hash-without-image";
/// Where a Pod names the sets that put something into it.
pub const INJECTED_LIST_ANNOTATION: &str = "kruise.io/sidecarset-injected-list";
/// Where a Pod carries what ran before the last update: a map from sets to [`UpdateState`].
pub const UPDATE_STATE_ANNOTATION: &str = "kruise.io/sidecarset-inplace-update-state";
/// Where a Pod says which of two containers does the work: a map from sidecars to containers.
pub const WORKING_ANNOTATION: &str = "kruise.io/sidecarset-working-hotupgrade-container";

/// What one set put into a Pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, from = "Form")]
pub struct Injected {
    /// When the containers were last updated in place; not given before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_timestamp: Option<String>,
    /// The hash of the set's containers at that time.
    pub hash: String,
    /// The set's name.
    #[serde(rename = "sidecarSetName")]
    pub set: String,
    /// The names of the containers.
    pub sidecar_list: Vec<String>,
    /// The ControllerRevision that they are of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller_revision: Option<String>,
}

/// Once only the hash was written.
#[derive(Deserialize)]
#[serde(untagged)]
enum Form {
    Hash(String),
    Full(Full),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Full {
    update_timestamp: Option<String>,
    #[serde(default)]
    hash: String,
    #[serde(rename = "sidecarSetName", default)]
    set: String,
    #[serde(default)]
    sidecar_list: Option<Vec<String>>,
    controller_revision: Option<String>,
}

impl From<Form> for Injected {
    fn from(form: Form) -> Self {
        match form {
            Form::Hash(hash) => Self {
                hash,
                ..Self::default()
            },
            Form::Full(full) => Self {
                update_timestamp: full.update_timestamp,
                hash: full.hash,
                set: full.set,
                sidecar_list: full.sidecar_list.unwrap_or_default(),
                controller_revision: full.controller_revision,
            },
        }
    }
}

/// What ran before a set's last update of a Pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UpdateState {
    /// The hash of the containers that the update brought.
    pub revision: String,
    /// When it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_timestamp: Option<String>,
    /// The containers whose image changed, as they were.
    pub last_container_statuses: BTreeMap<String, LastStatus>,
}

/// A container before its image changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LastStatus {
    /// The image that ran.
    #[serde(rename = "imageID")]
    pub image_id: String,
}

/// What was put into a Pod, by set; an annotation that somebody broke counts for nothing.
pub fn injected(pod: &Pod) -> BTreeMap<String, Injected> {
    read(pod, HASH_ANNOTATION)
}

/// The same for the hashes that images do not count for.
pub fn injected_without_image(pod: &Pod) -> BTreeMap<String, Injected> {
    read(pod, HASH_WITHOUT_IMAGE_ANNOTATION)
}

/// The sets that put something into a Pod.
pub fn injected_list(pod: &Pod) -> BTreeSet<String> {
    let list = pod.annotations().get(INJECTED_LIST_ANNOTATION);
    let names = list.into_iter().flat_map(|list| list.split(','));
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// What ran before the last update, by set.
pub fn update_states(pod: &Pod) -> BTreeMap<String, UpdateState> {
    read(pod, UPDATE_STATE_ANNOTATION)
}

/// Which container does the work, by sidecar.
pub fn working(pod: &Pod) -> BTreeMap<String, String> {
    read(pod, WORKING_ANNOTATION)
}

/// The annotation that tells a container of a hot upgrade which version it is.
pub fn version_annotation(container: &str) -> String {
    format!("version.sidecarset.kruise.io/{container}")
}

/// The annotation that tells it which version the other one is.
pub fn other_version_annotation(container: &str) -> String {
    format!("versionalt.sidecarset.kruise.io/{container}")
}

/// Writes a map into an annotation.
pub(crate) fn note<T: Serialize>(
    annotations: &mut BTreeMap<String, String>,
    key: &str,
    map: &BTreeMap<String, T>,
) {
    annotations.insert(key.to_owned(), json!(map).to_string());
}

fn read<T: serde::de::DeserializeOwned>(pod: &Pod, key: &str) -> BTreeMap<String, T> {
    let text = pod.annotations().get(key);
    text.and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use kubewright::prelude::*;
    use serde_json::json;

    use super::{HASH_ANNOTATION, INJECTED_LIST_ANNOTATION, injected, injected_list};

    fn pod(key: &str, text: &str) -> Pod {
        let pod = json!({"metadata": {"annotations": {key: text}}});
        serde_json::from_value(pod).unwrap()
    }

    #[test]
    fn both_forms_are_read_and_what_is_broken_counts_for_nothing() {
        let full = json!({"a": {"hash": "h", "sidecarSetName": "a", "sidecarList": ["x"],
            "controllerRevision": "a-1", "updateTimestamp": "2026-01-01T00:00:00Z"}});
        let read = injected(&pod(HASH_ANNOTATION, &full.to_string()));
        assert_eq!(read["a"].hash, "h");
        assert_eq!(read["a"].sidecar_list, ["x"]);
        assert_eq!(read["a"].controller_revision.as_deref(), Some("a-1"));
        assert_eq!(json!(read), full);
        assert_eq!(
            injected(&pod(HASH_ANNOTATION, r#"{"a": "h"}"#))["a"].hash,
            "h"
        );
        let odd = r#"{"a": {"hash": "h", "sidecarList": null}}"#;
        assert_eq!(injected(&pod(HASH_ANNOTATION, odd))["a"].hash, "h");
        assert!(injected(&pod(HASH_ANNOTATION, "broken")).is_empty());
    }

    #[test]
    fn a_list_is_names_between_commas() {
        let list = injected_list(&pod(INJECTED_LIST_ANNOTATION, "b,a,"));
        assert_eq!(list.into_iter().collect::<Vec<_>>(), ["a", "b"]);
    }
}
