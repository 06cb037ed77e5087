use std::collections::BTreeMap;

use kubewright::prelude::*;
use ring::digest::{SHA256, digest};
use serde_json::json;

use crate::SidecarSet;

/// Where a Pod carries what was put into it: a map from sets to [`Injected`].
pub const HASH_ANNOTATION: &str = "kruise.io/sidecarset-hash";

/// What one set put into a Pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Injected {
    /// The hash of the set's containers at that time.
    pub hash: String,
    /// The set's name.
    #[serde(rename = "sidecarSetName")]
    pub set: String,
    /// The names of the containers.
    pub sidecar_list: Vec<String>,
}

/// What tells one version of a set's containers from another: changes of anything else do not
/// count.
pub fn spec_hash(set: &SidecarSet) -> String {
    let text = json!({"containers": set.spec.containers}).to_string();
    let bytes = digest(&SHA256, text.as_bytes());
    let bytes = bytes.as_ref().iter().take(16);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// What was put into a Pod, by set; an annotation that somebody broke counts for nothing.
pub fn injected(pod: &Pod) -> BTreeMap<String, Injected> {
    let text = pod.annotations().get(HASH_ANNOTATION);
    text.and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}
