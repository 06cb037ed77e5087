use serde_json::Value;

use super::addresses::{address, range};
use super::{At, Told};

const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
const MODE: &str = "service.kubernetes.io/topology-mode";

/// `GetWarningsForService`.
pub(super) fn service(object: &Value, _old: Option<&Value>, told: &mut Told) {
    let (metadata, spec) = (At::top(object, "metadata"), At::top(object, "spec"));
    if metadata.field("annotations").has(HINTS) {
        told.say(&format!(
            "annotation {HINTS} is deprecated, please use {MODE} instead"
        ));
    }
    let (kind, own) = (spec.text_of("type"), spec.text_of("clusterIP"));
    let is_headless = kind == "ClusterIP" && own == "None";
    let is_named = kind == "ExternalName";
    if !own.is_empty() && own != "None" {
        for one in spec.field("clusterIPs").items() {
            address(one, told);
        }
    }
    if is_headless {
        headless(spec, told);
    }
    let external = spec.field("externalIPs");
    for one in external.items() {
        address(one, told);
    }
    if !external.is_empty() && !is_headless && !is_named {
        told.say(
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
        );
    }
    address(spec.field("loadBalancerIP"), told);
    for one in spec.field("loadBalancerSourceRanges").items() {
        range(one, told);
    }
    if is_named && !external.is_empty() {
        told.say("spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    }
    if !is_named && !spec.text_of("externalName").is_empty() {
        told.say("spec.externalName is ignored when spec.type is not \"ExternalName\"");
    }
    if spec.text_of("trafficDistribution") == "PreferClose" {
        told.say("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
    }
}

/// What means nothing without an address.
fn headless(spec: At<'_>, told: &mut Told) {
    if !spec.text_of("loadBalancerIP").is_empty() {
        told.say("spec.loadBalancerIP is ignored for headless services");
    }
    if !spec.field("externalIPs").is_empty() {
        told.say("spec.externalIPs is ignored for headless services");
    }
    if !matches!(spec.text_of("sessionAffinity"), "" | "None") {
        told.say("spec.SessionAffinity is ignored for headless services");
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::Kind;
    use serde_json::{Value, json};

    use crate::kinds::warnings;

    fn told(service: &Value) -> Vec<String> {
        warnings(&Kind::new("", "v1", "Service"), service, None)
    }

    #[test]
    fn a_plain_service_is_told_nothing() {
        let plain = json!({"spec": {
            "type": "ClusterIP", "clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1", "fd00::1"],
            "sessionAffinity": "None",
        }});
        assert!(told(&plain).is_empty());
    }

    #[test]
    fn services_are_told_what_is_ignored_or_deprecated() {
        let headless = json!({
            "metadata": {"annotations": {"service.kubernetes.io/topology-aware-hints": "auto"}},
            "spec": {
                "type": "ClusterIP", "clusterIP": "None", "clusterIPs": ["None"],
                "loadBalancerIP": "10.0.0.1", "externalIPs": ["FD00::1"],
                "sessionAffinity": "ClientIP", "externalName": "a",
                "trafficDistribution": "PreferClose",
            },
        });
        assert_eq!(
            told(&headless),
            [
                "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use \
                 service.kubernetes.io/topology-mode instead",
                "spec.loadBalancerIP is ignored for headless services",
                "spec.externalIPs is ignored for headless services",
                "spec.SessionAffinity is ignored for headless services",
                "spec.externalIPs[0]: IPv6 address \"FD00::1\" should be in RFC 5952 canonical \
                 format (\"fd00::1\")",
                "spec.externalName is ignored when spec.type is not \"ExternalName\"",
                "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"",
            ]
        );
        let named = json!({"spec": {"type": "ExternalName", "externalName": "a",
            "externalIPs": ["10.0.0.1"]}});
        assert_eq!(
            told(&named),
            ["spec.externalIPs is ignored when spec.type is \"ExternalName\""]
        );
    }

    #[test]
    fn addresses_of_services_are_looked_at() {
        let balanced = json!({"spec": {
            "type": "LoadBalancer", "clusterIP": "FD00::1", "clusterIPs": ["FD00::1"],
            "externalIPs": ["10.0.0.1"], "loadBalancerIP": "010.0.0.1",
            "loadBalancerSourceRanges": ["10.0.0.1/8"],
        }});
        assert_eq!(
            told(&balanced),
            [
                "spec.clusterIPs[0]: IPv6 address \"FD00::1\" should be in RFC 5952 canonical \
                 format (\"fd00::1\")",
                "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
                "spec.loadBalancerIP: non-standard IP address \"010.0.0.1\" is invalid: use \
                 \"10.0.0.1\"",
                "spec.loadBalancerSourceRanges[0]: CIDR value \"10.0.0.1/8\" is ambiguous in this \
                 context (should be \"10.0.0.0/8\" or \"10.0.0.1/32\"?)",
            ]
        );
    }
}
