use serde_json::Value;

use super::addresses::{address, range};
use super::{At, Told};

const CLASS: &str = "kubernetes.io/ingress.class";

/// A new Ingress.
pub(super) fn ingress(object: &Value, old: Option<&Value>, told: &mut Told) {
    let (metadata, spec) = (At::top(object, "metadata"), At::top(object, "spec"));
    let is_annotated = metadata.field("annotations").has(CLASS);
    if old.is_none() && is_annotated && !spec.has("ingressClassName") {
        told.say(&format!(
            "annotation {CLASS:?} is deprecated, please use 'spec.ingressClassName' instead"
        ));
    }
}

pub(super) fn network_policy(object: &Value, _old: Option<&Value>, told: &mut Told) {
    let spec = At::top(object, "spec");
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.field(rules).items() {
            for peer in rule.field(peers).items() {
                let block = peer.field("ipBlock");
                range(block.field("cidr"), told);
                for except in block.field("except").items() {
                    range(except, told);
                }
            }
        }
    }
}

/// The controller of Endpoints writes addresses as they should be.
pub(super) fn endpoints(object: &Value, _old: Option<&Value>, told: &mut Told) {
    if label(object, "endpoints.kubernetes.io/managed-by") == "endpoint-controller" {
        return;
    }
    for subset in At::top(object, "subsets").items() {
        for list in ["addresses", "notReadyAddresses"] {
            for one in subset.field(list).items() {
                address(one.field("ip"), told);
            }
        }
    }
}

pub(super) fn endpoint_slice(object: &Value, old: Option<&Value>, told: &mut Told) {
    if old.is_none() && object["addressType"] == "FQDN" {
        told.say("spec.addressType: FQDN endpoints are deprecated");
    }
    // These write addresses as they should be.
    if matches!(
        label(object, "endpointslice.kubernetes.io/managed-by"),
        "endpointslice-controller.k8s.io" | "endpointslicemirroring-controller.k8s.io"
    ) {
        return;
    }
    for endpoint in At::top(object, "endpoints").items() {
        for one in endpoint.field("addresses").items() {
            address(one, told);
        }
    }
}

/// The addresses in the status of a Service or an Ingress.
pub(super) fn balancer(object: &Value, told: &mut Told) {
    let status = At::top(object, "status");
    let balancer = status.field("loadBalancer");
    for one in balancer.field("ingress").items() {
        address(one.with(one.field("ip").value()), told);
    }
}

fn label<'a>(object: &'a Value, name: &str) -> &'a str {
    let labels = object.pointer("/metadata/labels");
    let label = labels.and_then(|labels| labels.get(name)?.as_str());
    label.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use kubewright_core::Kind;
    use serde_json::json;

    use crate::kinds::warnings;

    #[test]
    fn an_ingress_names_its_class_in_its_field() {
        let kind = Kind::new("networking.k8s.io", "v1", "Ingress");
        let annotations = json!({"kubernetes.io/ingress.class": "a"});
        let mut ingress = json!({"metadata": {"annotations": annotations}, "spec": {}});
        assert_eq!(
            warnings(&kind, &ingress, None),
            [
                "annotation \"kubernetes.io/ingress.class\" is deprecated, please use \
                 'spec.ingressClassName' instead"
            ]
        );
        assert!(warnings(&kind, &ingress, Some(&ingress)).is_empty());
        ingress["spec"]["ingressClassName"] = json!("a");
        assert!(warnings(&kind, &ingress, None).is_empty());
    }

    #[test]
    fn blocks_of_policies_are_ranges() {
        let block = json!([{"ipBlock": {"cidr": "FD00::/8", "except": ["FD01::/16"]}}]);
        let policy = json!({"spec": {
            "egress": [{"to": block}], "ingress": [{"from": [{"podSelector": {}}]}],
        }});
        let kind = Kind::new("networking.k8s.io", "v1", "NetworkPolicy");
        assert_eq!(
            warnings(&kind, &policy, None),
            [
                "spec.egress[0].to[0].ipBlock.cidr: IPv6 CIDR value \"FD00::/8\" should be in RFC \
                 5952 canonical format (\"fd00::/8\")",
                "spec.egress[0].to[0].ipBlock.except[0]: IPv6 CIDR value \"FD01::/16\" should be \
                 in RFC 5952 canonical format (\"fd01::/16\")",
            ]
        );
    }

    #[test]
    fn endpoints_are_looked_at_unless_a_controller_wrote_them() {
        let detail =
            "IPv6 address \"FD00::1\" should be in RFC 5952 canonical format (\"fd00::1\")";
        let kind = Kind::new("", "v1", "Endpoints");
        let mut endpoints = json!({"metadata": {}, "subsets": [
            {"addresses": [{"ip": "10.0.0.1"}], "notReadyAddresses": [{"ip": "FD00::1"}]},
        ]});
        assert_eq!(
            warnings(&kind, &endpoints, None),
            [format!("subsets[0].notReadyAddresses[0].ip: {detail}")]
        );
        let labels = json!({"endpoints.kubernetes.io/managed-by": "endpoint-controller"});
        endpoints["metadata"]["labels"] = labels;
        assert!(warnings(&kind, &endpoints, None).is_empty());

        let kind = Kind::new("discovery.k8s.io", "v1", "EndpointSlice");
        let mut slice = json!({
            "metadata": {}, "addressType": "IPv6", "endpoints": [{"addresses": ["FD00::1"]}],
        });
        assert_eq!(
            warnings(&kind, &slice, Some(&slice)),
            [format!("endpoints[0].addresses[0]: {detail}")]
        );
        let manager = "endpointslice-controller.k8s.io";
        slice["metadata"]["labels"] = json!({"endpointslice.kubernetes.io/managed-by": manager});
        slice["addressType"] = json!("FQDN");
        assert_eq!(
            warnings(&kind, &slice, None),
            ["spec.addressType: FQDN endpoints are deprecated"]
        );
        assert!(warnings(&kind, &slice, Some(&slice)).is_empty());
    }
}
