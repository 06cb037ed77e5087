//! Warnings about Services (`GetWarningsForService`).

use serde_json::Value;

use crate::addresses::{warn_cidr, warn_ip};
use crate::field_path::FieldPath;
use crate::warning_list::Warnings;

const HINTS: &str = "service.kubernetes.io/topology-aware-hints";

const MODE: &str = "service.kubernetes.io/topology-mode";

/// `GetWarningsForService`.
pub(super) fn warn(object: &Value, _old: Option<&Value>, warnings: &mut Warnings) {
    let (metadata, spec) = (
        FieldPath::new(object, "metadata"),
        FieldPath::new(object, "spec"),
    );
    if metadata.field("annotations").has(HINTS) {
        warnings.add(&format!(
            "annotation {HINTS} is deprecated, please use {MODE} instead"
        ));
    }
    let (kind, address) = (spec.text_of("type"), spec.text_of("clusterIP"));
    let is_headless = kind == "ClusterIP" && address == "None";
    let is_external_name = kind == "ExternalName";
    if !address.is_empty() && address != "None" {
        for address in spec.field("clusterIPs").items() {
            warn_ip(address, warnings);
        }
    }
    if is_headless {
        warn_headless(spec, warnings);
    }
    let external = spec.field("externalIPs");
    for address in external.items() {
        warn_ip(address, warnings);
    }
    if !external.is_empty() && !is_headless && !is_external_name {
        warnings.add(
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
        );
    }
    warn_ip(spec.field("loadBalancerIP"), warnings);
    for range in spec.field("loadBalancerSourceRanges").items() {
        warn_cidr(range, warnings);
    }
    if is_external_name && !external.is_empty() {
        warnings.add("spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    }
    if !is_external_name && !spec.text_of("externalName").is_empty() {
        warnings.add("spec.externalName is ignored when spec.type is not \"ExternalName\"");
    }
    if spec.text_of("trafficDistribution") == "PreferClose" {
        warnings
            .add("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
    }
}

/// Warns about fields that have no effect without an address.
fn warn_headless(spec: FieldPath<'_>, warnings: &mut Warnings) {
    if !spec.text_of("loadBalancerIP").is_empty() {
        warnings.add("spec.loadBalancerIP is ignored for headless services");
    }
    if !spec.field("externalIPs").is_empty() {
        warnings.add("spec.externalIPs is ignored for headless services");
    }
    if !matches!(spec.text_of("sessionAffinity"), "" | "None") {
        warnings.add("spec.SessionAffinity is ignored for headless services");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::core::SERVICE;

    fn warnings_of(service: &Value) -> Vec<String> {
        SERVICE.warnings(service, None)
    }

    #[test]
    fn plain_service_has_no_warnings() {
        let plain = json!({"spec": {
            "type": "ClusterIP", "clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1", "fd00::1"],
            "sessionAffinity": "None",
        }});
        assert!(warnings_of(&plain).is_empty());
    }

    #[test]
    fn ignored_and_deprecated_fields_are_warned_about() {
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
            warnings_of(&headless),
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
            warnings_of(&named),
            ["spec.externalIPs is ignored when spec.type is \"ExternalName\""]
        );
    }

    #[test]
    fn noncanonical_addresses_are_warned_about() {
        let balanced = json!({"spec": {
            "type": "LoadBalancer", "clusterIP": "FD00::1", "clusterIPs": ["FD00::1"],
            "externalIPs": ["10.0.0.1"], "loadBalancerIP": "010.0.0.1",
            "loadBalancerSourceRanges": ["10.0.0.1/8"],
        }});
        assert_eq!(
            warnings_of(&balanced),
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
