use kubewright_wire::schema::Quantity;
use serde_json::Value;

use super::addresses::range;
use super::node_labels::deprecated;
use super::{At, Told};

const MOUNTABLE: &str = "kubernetes.io/enforce-mountable-secrets";
const STATIC: &str = ".static.k8s.io";

/// An account that is now told to mount listed secrets only.
pub(super) fn service_account(object: &Value, old: Option<&Value>, told: &mut Told) {
    let has = |account: &Value| account["metadata"]["annotations"].get(MOUNTABLE).is_some();
    if has(object) && !old.is_some_and(has) {
        told.say(&format!(
            "metadata.annotations[{MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces \
             to isolate access to mounted secrets"
        ));
    }
}

/// A new quota that allows more to be asked for than to be used.
pub(super) fn resource_quota(object: &Value, old: Option<&Value>, told: &mut Told) {
    if old.is_some() {
        return;
    }
    let spec = At::top(object, "spec");
    let hard = spec.field("hard");
    for name in ["cpu", "memory", "storage", "ephemeral-storage"] {
        let (requests, limits) = (format!("requests.{name}"), format!("limits.{name}"));
        let requests = match name {
            "cpu" | "memory" if !hard.has(&requests) => name,
            _ => requests.as_str(),
        };
        let request = Quantity::parse(hard.text_of(requests));
        let limit = Quantity::parse(hard.text_of(&limits));
        if let (Some(request), Some(limit)) = (request, limit)
            && request.cmp_amount(&limit).is_gt()
        {
            told.say(&format!(
                "ResourceQuota {requests} ({request}) should be less than {limits} ({limit})"
            ));
        }
    }
}

pub(super) fn node(object: &Value, old: Option<&Value>, told: &mut Told) {
    let spec = At::top(object, "spec");
    // A node that had none does not get one.
    let had_source = old.is_some_and(|old| old["spec"]["configSource"].is_object());
    if had_source && spec.has("configSource") {
        told.say("spec.configSource: the feature is removed");
    }
    if !spec.text_of("externalID").is_empty() {
        told.say("spec.externalID: this field is deprecated, and is unused by Kubernetes");
    }
    for one in spec.field("podCIDRs").items() {
        range(one, told);
    }
}

/// `GetWarningsForRuntimeClass`.
pub(super) fn runtime_class(object: &Value, _old: Option<&Value>, told: &mut Told) {
    let scheduling = At::top(object, "scheduling");
    let selector = scheduling.field("nodeSelector");
    for (label, _) in selector.entries() {
        if let Some(why) = deprecated(label) {
            told.at(selector, why);
        }
    }
}

pub(super) fn resource_slice(object: &Value, _old: Option<&Value>, told: &mut Told) {
    let spec = At::top(object, "spec");
    let driver = spec.field("driver");
    let name = driver.text();
    if name != name.to_lowercase() {
        let detail =
            format!("driver names should be lowercase; {name:?} contains uppercase characters");
        told.at(driver, &detail);
    }
}

/// Webhooks and policies (`WarningsForStaticSuffix`).
pub(super) fn admission(object: &Value, _old: Option<&Value>, told: &mut Told) {
    let metadata = At::top(object, "metadata");
    let name = metadata.field("name");
    if name.text().ends_with(STATIC) {
        let detail = format!(
            "names ending with {STATIC:?} are reserved for static manifest-based configurations \
             and cannot be managed via the API"
        );
        told.at(name, &detail);
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::Kind;
    use serde_json::{Value, json};

    use crate::kinds::warnings;

    fn in_core(kind: &str, object: &Value, old: Option<&Value>) -> Vec<String> {
        warnings(&Kind::new("", "v1", kind), object, old)
    }

    #[test]
    fn an_account_is_told_once_that_it_enforces_its_secrets() {
        let plain = json!({"metadata": {"name": "a"}});
        let annotations = json!({"kubernetes.io/enforce-mountable-secrets": "true"});
        let enforcing = json!({"metadata": {"annotations": annotations}});
        let wanted = "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated \
             in v1.32+; prefer separate namespaces to isolate access to mounted secrets";
        assert_eq!(in_core("ServiceAccount", &enforcing, None), [wanted]);
        assert_eq!(
            in_core("ServiceAccount", &enforcing, Some(&plain)),
            [wanted]
        );
        assert!(in_core("ServiceAccount", &enforcing, Some(&enforcing)).is_empty());
        assert!(in_core("ServiceAccount", &plain, None).is_empty());
    }

    #[test]
    fn a_quota_allows_no_more_requests_than_limits() {
        let hard = json!({
            "cpu": "2", "limits.cpu": "1500m",
            "memory": "4Gi", "requests.memory": "1Gi", "limits.memory": "2Gi",
            "requests.ephemeral-storage": "2Gi", "limits.ephemeral-storage": "1024Mi",
        });
        let quota = json!({"spec": {"hard": hard}});
        assert_eq!(
            in_core("ResourceQuota", &quota, None),
            [
                "ResourceQuota cpu (2) should be less than limits.cpu (1500m)",
                "ResourceQuota requests.ephemeral-storage (2Gi) should be less than \
                 limits.ephemeral-storage (1Gi)",
            ]
        );
        assert!(in_core("ResourceQuota", &quota, Some(&quota)).is_empty());
    }

    #[test]
    fn nodes_are_told_what_is_no_more() {
        let node = json!({"spec": {
            "configSource": {"configMap": {}}, "externalID": "a", "podCIDRs": ["FD00::/64"],
        }});
        let always = [
            "spec.externalID: this field is deprecated, and is unused by Kubernetes",
            "spec.podCIDRs[0]: IPv6 CIDR value \"FD00::/64\" should be in RFC 5952 canonical \
             format (\"fd00::/64\")",
        ];
        assert_eq!(in_core("Node", &node, None), always);
        let told = in_core("Node", &node, Some(&node));
        assert_eq!(told[0], "spec.configSource: the feature is removed");
        assert_eq!(told[1..], always);
    }

    #[test]
    fn names_and_labels_of_small_kinds_are_looked_at() {
        let class = json!({"scheduling": {"nodeSelector": {"beta.kubernetes.io/os": "linux"}}});
        assert_eq!(
            warnings(
                &Kind::new("node.k8s.io", "v1", "RuntimeClass"),
                &class,
                None
            ),
            ["scheduling.nodeSelector: deprecated since v1.14; use \"kubernetes.io/os\" instead"]
        );
        let slice = json!({"spec": {"driver": "Gpu.example.com"}});
        assert_eq!(
            warnings(
                &Kind::new("resource.k8s.io", "v1", "ResourceSlice"),
                &slice,
                None
            ),
            [
                "spec.driver: driver names should be lowercase; \"Gpu.example.com\" contains \
                 uppercase characters"
            ]
        );
        let group = "admissionregistration.k8s.io";
        let kind = Kind::new(group, "v1", "ValidatingWebhookConfiguration");
        let hooks = json!({"metadata": {"name": "a.static.k8s.io"}});
        assert_eq!(
            warnings(&kind, &hooks, None),
            [
                "metadata.name: names ending with \".static.k8s.io\" are reserved for static \
                 manifest-based configurations and cannot be managed via the API"
            ]
        );
    }
}
