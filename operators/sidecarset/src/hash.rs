//! The hashes that identify versions of a set, and the percentiles of workloads.

use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::{SidecarContainer, SidecarSet};

/// Returns the hash that identifies the version of a set's containers. Changes of other fields do
/// not change it.
pub fn spec_hash(set: &SidecarSet) -> String {
    hash(&contents(set, Clone::clone))
}

/// Returns the hash of all that a running Pod cannot take over: the containers without their
/// images.
pub fn spec_hash_without_image(set: &SidecarSet) -> String {
    hash(&contents(set, |sidecar| {
        let mut sidecar = sidecar.clone();
        sidecar.container.image = None;
        sidecar.upgrade_strategy.hot_upgrade_empty_image = None;
        sidecar
    }))
}

/// The containers as JSON. Init containers count only if one of them is a native sidecar, as in
/// OpenKruise.
fn contents(set: &SidecarSet, part: impl Fn(&SidecarContainer) -> SidecarContainer) -> Value {
    let parts = |containers: &[SidecarContainer]| containers.iter().map(&part).collect::<Vec<_>>();
    let spec = &set.spec;
    let mut contents = json!({"containers": parts(&spec.containers)});
    if spec.init_containers.iter().any(SidecarContainer::is_native) {
        contents["initContainers"] = json!(parts(&spec.init_containers));
    }
    contents
}

/// Returns the SHA-256 of the value in the alphabet of generated names.
pub(crate) fn hash(value: &Value) -> String {
    let text = value.to_string();
    let bytes = digest(&SHA256, text.as_bytes());
    let hex: String = bytes
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    safe_encode(&hex)
}

/// Returns a number from 0 to 99 that is the same for the same words.
pub(crate) fn percentile(words: &[&str]) -> u32 {
    let bytes = digest(&SHA256, words.join("/").as_bytes());
    let first = bytes.as_ref().iter().take(4);
    first.fold(0_u32, |number, byte| (number << 8) | u32::from(*byte)) % 100
}

/// Encodes without vowels and look-alikes, so that no words result (`SafeEncodeString` of
/// k8s.io/apimachinery/pkg/util/rand).
fn safe_encode(text: &str) -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let letter = |byte: u8| char::from(LETTERS[usize::from(byte) % LETTERS.len()]);
    text.bytes().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{percentile, spec_hash, spec_hash_without_image};
    use crate::SidecarSet;

    fn set(spec: Value) -> SidecarSet {
        let set = json!({
            "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
            "metadata": {"name": "s"}, "spec": spec,
        });
        serde_json::from_value(set).unwrap()
    }

    /// Whether both hashes, with and without images, differ from those of the base set.
    fn differs(spec: Value) -> (bool, bool) {
        let base = set(json!({"containers": [{"name": "a", "image": "i:1"}]}));
        let other = set(spec);
        (
            spec_hash(&base) != spec_hash(&other),
            spec_hash_without_image(&base) != spec_hash_without_image(&other),
        )
    }

    #[test]
    fn only_changes_of_containers_change_the_hashes() {
        let container = json!({"name": "a", "image": "i:1"});
        for (spec, expected) in [
            (json!({"containers": [container]}), (false, false)),
            (
                json!({"containers": [{"name": "a", "image": "i:2"}]}),
                (true, false),
            ),
            (
                json!({"containers": [{"name": "a", "image": "i:1", "args": ["x"]}]}),
                (true, true),
            ),
            (
                json!({"containers": [container], "selector": {"matchLabels": {"a": "b"}},
                    "volumes": [{"name": "v"}], "imagePullSecrets": [{"name": "s"}],
                    "patchPodMetadata": [{"annotations": {"a": "b"}}]}),
                (false, false),
            ),
            (
                json!({"containers": [container], "initContainers": [{"name": "i"}]}),
                (false, false),
            ),
            (
                json!({"containers": [container],
                    "initContainers": [{"name": "i", "restartPolicy": "Always"}]}),
                (true, true),
            ),
        ] {
            assert_eq!(differs(spec.clone()), expected, "{spec}");
        }
    }

    #[test]
    fn percentiles_are_stable_and_evenly_distributed() {
        assert_eq!(percentile(&["a", "b"]), percentile(&["a", "b"]));
        let below_30 = (0..1000)
            .filter(|n| percentile(&["set", &n.to_string()]) < 30)
            .count();
        assert!((250..350).contains(&below_30), "{below_30}");
    }
}
