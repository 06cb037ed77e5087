use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::{SidecarContainer, SidecarSet};

/// What tells one version of a set's containers from another: changes of anything else do not
/// count.
pub fn spec_hash(set: &SidecarSet) -> String {
    hash(&contents(set, Clone::clone))
}

/// What tells versions apart that differ in more than images: a running Pod can take no other.
pub fn spec_hash_without_image(set: &SidecarSet) -> String {
    hash(&contents(set, |sidecar| {
        let mut sidecar = sidecar.clone();
        sidecar.container.image = None;
        sidecar.upgrade_strategy.hot_upgrade_empty_image = None;
        sidecar
    }))
}

/// Those that run first count as soon as one of them runs on.
fn contents(set: &SidecarSet, part: impl Fn(&SidecarContainer) -> SidecarContainer) -> Value {
    let parts = |all: &[SidecarContainer]| all.iter().map(&part).collect::<Vec<_>>();
    let spec = &set.spec;
    let mut contents = json!({"containers": parts(&spec.containers)});
    if spec.init_containers.iter().any(SidecarContainer::is_native) {
        contents["initContainers"] = json!(parts(&spec.init_containers));
    }
    contents
}

pub(crate) fn hash(value: &Value) -> String {
    let text = value.to_string();
    let bytes = digest(&SHA256, text.as_bytes());
    let hex: String = bytes
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    safe(&hex)
}

/// A number from 0 to 99 that is the same for the same words.
pub(crate) fn percentile(words: &[&str]) -> u32 {
    let bytes = digest(&SHA256, words.join("/").as_bytes());
    let number = bytes.as_ref().iter().take(4);
    let number = number.fold(0_u32, |sum, byte| (sum << 8) | u32::from(*byte));
    number % 100
}

/// Without vowels and look-alikes, as `SafeEncodeString` of k8s.io/apimachinery/pkg/util/rand
/// writes: no words come of it.
fn safe(text: &str) -> String {
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

    /// Whether the hash, and the one without images, tell a set from the plain one.
    fn differs(spec: Value) -> (bool, bool) {
        let plain = set(json!({"containers": [{"name": "a", "image": "i:1"}]}));
        let other = set(spec);
        (
            spec_hash(&plain) != spec_hash(&other),
            spec_hash_without_image(&plain) != spec_hash_without_image(&other),
        )
    }

    #[test]
    fn containers_count_and_nothing_else_does() {
        let container = json!({"name": "a", "image": "i:1"});
        for (spec, wanted) in [
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
            assert_eq!(differs(spec.clone()), wanted, "{spec}");
        }
    }

    #[test]
    fn percentiles_are_stable_and_spread() {
        assert_eq!(percentile(&["a", "b"]), percentile(&["a", "b"]));
        let low = (0..1000).filter(|n| percentile(&["set", &n.to_string()]) < 30);
        let low = low.count();
        assert!((250..350).contains(&low), "{low}");
    }
}
