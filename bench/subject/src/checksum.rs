//! The checksum of the Pod fields that every subject reads.

use k8s_openapi::api::core::v1::Pod;

/// Checksums have 53 bits, because JSON parsers may read numbers as doubles.
pub const CHECKSUM_MASK: u64 = (1 << 53) - 1;

/// Returns the FNV-1a hash of the fields, each followed by a zero byte.
///
/// The sum over all objects does not depend on their order. The subjects in Rust and in Go are
/// tested with the cases in `bench/checksum.json`, so that all of them read the same fields.
pub fn checksum<'a>(fields: impl IntoIterator<Item = &'a str>) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mut hash = OFFSET;
    for field in fields {
        for byte in field.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(PRIME);
        }
    }
    hash & CHECKSUM_MASK
}

/// Returns the checksum of the seven Pod fields that every subject reads.
pub fn pod_checksum(pod: &Pod) -> u64 {
    let metadata = &pod.metadata;
    let spec = pod.spec.as_ref();
    let image = spec
        .and_then(|spec| spec.containers.first())
        .and_then(|container| container.image.as_deref());
    let app = metadata
        .labels
        .as_ref()
        .and_then(|labels| labels.get("app"));
    checksum(
        [
            metadata.namespace.as_deref(),
            metadata.name.as_deref(),
            metadata.uid.as_deref(),
            spec.and_then(|spec| spec.scheduler_name.as_deref()),
            image,
            app.map(String::as_str),
            pod.status
                .as_ref()
                .and_then(|status| status.phase.as_deref()),
        ]
        .map(Option::unwrap_or_default),
    )
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;
    use serde::Deserialize;
    use serde_json::json;

    use super::{checksum, pod_checksum};

    #[derive(Deserialize)]
    struct Case {
        fields: Vec<String>,
        checksum: u64,
    }

    fn shared_cases() -> Vec<Case> {
        serde_json::from_str(include_str!("../../checksum.json")).unwrap()
    }

    #[test]
    fn checksum_matches_the_cases_shared_with_the_go_subjects() {
        let cases = shared_cases();
        assert!(!cases.is_empty());
        for case in cases {
            let fields = case.fields.iter().map(String::as_str);
            assert_eq!(checksum(fields), case.checksum, "{:?}", case.fields);
        }
    }

    #[test]
    fn pod_checksum_covers_seven_fields_in_the_shared_order() {
        let case = shared_cases()
            .into_iter()
            .find(|case| case.fields.contains(&"web-0".to_owned()))
            .unwrap();
        let [namespace, name, uid, scheduler, image, app, phase] = case.fields.try_into().unwrap();
        let pod: Pod = serde_json::from_value(json!({
            "metadata": {"namespace": namespace, "name": name, "uid": uid, "labels": {"app": app}},
            "spec": {"schedulerName": scheduler, "containers": [{"name": "main", "image": image}, {"name": "side", "image": "other"}]},
            "status": {"phase": phase},
        }))
        .unwrap();
        assert_eq!(pod_checksum(&pod), case.checksum);
    }

    #[test]
    fn empty_pod_has_the_checksum_of_seven_empty_fields() {
        assert_eq!(pod_checksum(&Pod::default()), checksum([""; 7]));
    }
}
