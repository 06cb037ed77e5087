use k8s_openapi::api::core::v1::Pod;

/// Sums are cut to the 53 bits that every JSON reader keeps exactly.
pub const CHECKSUM_MASK: u64 = (1 << 53) - 1;

/// FNV-1a over the fields, each followed by a zero byte.
///
/// Sums over all objects do not depend on their order, and `bench/checksum.json` holds the cases
/// that subjects in every language must meet: nobody wins by reading less.
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

/// The checksum of the seven fields that every subject reads of a Pod.
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
    fn checksum_meets_the_cases_shared_with_the_go_peers() {
        let cases = shared_cases();
        assert!(!cases.is_empty());
        for case in cases {
            let fields = case.fields.iter().map(String::as_str);
            assert_eq!(checksum(fields), case.checksum, "{:?}", case.fields);
        }
    }

    #[test]
    fn a_pod_is_summed_over_its_seven_fields_in_the_shared_order() {
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
    fn an_empty_pod_sums_like_seven_empty_fields() {
        assert_eq!(pod_checksum(&Pod::default()), checksum([""; 7]));
    }
}
