//! The annotations in which Pods record what sets have injected, field for field as OpenKruise.

use std::collections::{BTreeMap, BTreeSet};

use kubewright::prelude::*;
use serde_json::json;

/// The annotation of Pods with a map from sets to [`Injection`]. On a set itself it holds the hash
/// of its containers.
pub const HASH_ANNOTATION: &str = "kruise.io/sidecarset-hash";
/// The annotation like [`HASH_ANNOTATION`] for hashes without images.
pub const HASH_WITHOUT_IMAGE_ANNOTATION: &str = "kruise.io/sidecarset-hash-without-image";
/// The annotation of Pods with the names of the sets that were injected, separated by commas.
pub const INJECTED_LIST_ANNOTATION: &str = "kruise.io/sidecarset-injected-list";
/// The annotation of Pods with the last update in place: a map from sets to [`UpdateState`].
pub const UPDATE_STATE_ANNOTATION: &str = "kruise.io/sidecarset-inplace-update-state";
/// The annotation of Pods with the working one of the two containers of a hot upgrade: a map from
/// sidecars to containers.
pub const WORKING_ANNOTATION: &str = "kruise.io/sidecarset-working-hotupgrade-container";

/// The injection of one set into a Pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, from = "InjectionFormat")]
pub struct Injection {
    /// The time of the last update in place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_timestamp: Option<String>,
    /// The hash of the set's containers when it was injected or updated.
    pub hash: String,
    /// The name of the set.
    #[serde(rename = "sidecarSetName")]
    pub set: String,
    /// The names of the containers.
    pub sidecar_list: Vec<String>,
    /// The ControllerRevision of the containers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller_revision: Option<String>,
}

/// The formats of an [`Injection`]: older versions of OpenKruise wrote only the hash.
#[derive(Deserialize)]
#[serde(untagged)]
enum InjectionFormat {
    Hash(String),
    Full(FullInjection),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FullInjection {
    update_timestamp: Option<String>,
    #[serde(default)]
    hash: String,
    #[serde(rename = "sidecarSetName", default)]
    set: String,
    #[serde(default)]
    sidecar_list: Option<Vec<String>>,
    controller_revision: Option<String>,
}

impl From<InjectionFormat> for Injection {
    fn from(format: InjectionFormat) -> Self {
        match format {
            InjectionFormat::Hash(hash) => Self {
                hash,
                ..Self::default()
            },
            InjectionFormat::Full(full) => Self {
                update_timestamp: full.update_timestamp,
                hash: full.hash,
                set: full.set,
                sidecar_list: full.sidecar_list.unwrap_or_default(),
                controller_revision: full.controller_revision,
            },
        }
    }
}

/// The last update of a Pod in place by one set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UpdateState {
    /// The hash of the new containers.
    pub revision: String,
    /// The time of the update.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_timestamp: Option<String>,
    /// The containers whose image was changed, as they were before.
    pub last_container_statuses: BTreeMap<String, LastStatus>,
}

/// The status of a container before its image was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LastStatus {
    /// The id of the image that was running.
    #[serde(rename = "imageID")]
    pub image_id: String,
}

/// Returns the injections of a Pod, by set. An invalid annotation counts as an empty one.
pub fn injections(pod: &Pod) -> BTreeMap<String, Injection> {
    read(pod, HASH_ANNOTATION)
}

/// Returns the injections of a Pod with the hashes without images, by set.
pub fn injections_without_image(pod: &Pod) -> BTreeMap<String, Injection> {
    read(pod, HASH_WITHOUT_IMAGE_ANNOTATION)
}

/// Returns the names of the sets that were injected into a Pod.
pub fn injected_sets(pod: &Pod) -> BTreeSet<String> {
    let list = pod.annotations().get(INJECTED_LIST_ANNOTATION);
    let names = list.into_iter().flat_map(|list| list.split(','));
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns the last updates of a Pod in place, by set.
pub fn update_states(pod: &Pod) -> BTreeMap<String, UpdateState> {
    read(pod, UPDATE_STATE_ANNOTATION)
}

/// Returns the working container of each sidecar with hot upgrades.
pub fn working_containers(pod: &Pod) -> BTreeMap<String, String> {
    read(pod, WORKING_ANNOTATION)
}

/// Returns the name of the annotation with the version of a container of a hot upgrade.
pub fn version_annotation(container: &str) -> String {
    format!("version.sidecarset.kruise.io/{container}")
}

/// Returns the name of the annotation from which a container of a hot upgrade learns the version of
/// the other one.
pub fn other_version_annotation(container: &str) -> String {
    format!("versionalt.sidecarset.kruise.io/{container}")
}

/// Writes a map into an annotation as JSON.
pub(crate) fn write_json<T: Serialize>(
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

    use super::{HASH_ANNOTATION, INJECTED_LIST_ANNOTATION, injected_sets, injections};

    fn pod(key: &str, text: &str) -> Pod {
        let pod = json!({"metadata": {"annotations": {key: text}}});
        serde_json::from_value(pod).unwrap()
    }

    #[test]
    fn both_formats_are_read_and_an_invalid_annotation_counts_as_empty() {
        let full = json!({"a": {"hash": "h", "sidecarSetName": "a", "sidecarList": ["x"],
            "controllerRevision": "a-1", "updateTimestamp": "2026-01-01T00:00:00Z"}});
        let read = injections(&pod(HASH_ANNOTATION, &full.to_string()));
        assert_eq!(read["a"].hash, "h");
        assert_eq!(read["a"].sidecar_list, ["x"]);
        assert_eq!(read["a"].controller_revision.as_deref(), Some("a-1"));
        assert_eq!(json!(read), full);
        assert_eq!(
            injections(&pod(HASH_ANNOTATION, r#"{"a": "h"}"#))["a"].hash,
            "h"
        );
        let null_list = r#"{"a": {"hash": "h", "sidecarList": null}}"#;
        assert_eq!(injections(&pod(HASH_ANNOTATION, null_list))["a"].hash, "h");
        assert!(injections(&pod(HASH_ANNOTATION, "invalid")).is_empty());
    }

    #[test]
    fn list_of_sets_is_separated_by_commas() {
        let list = injected_sets(&pod(INJECTED_LIST_ANNOTATION, "b,a,"));
        assert_eq!(list.into_iter().collect::<Vec<_>>(), ["a", "b"]);
    }
}
