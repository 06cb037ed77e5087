//! The status subresource.

use kubewright_core::format::subdomain;
use serde_json::Value;

use crate::addresses::{is_ip, known_ips, validate_new_ip};
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;

/// `ValidateServiceStatusUpdate`.
pub(super) fn validate(object: &Value, old: &Value, errors: &mut ErrorList) {
    let status = FieldPath::new(object, "status");
    let balancer = status.field("loadBalancer");
    let ingress = balancer.field("ingress");
    if object["spec"]["type"] != "LoadBalancer" {
        if !ingress.is_empty() {
            let detail = "may only be used when `spec.type` is 'LoadBalancer'";
            errors.forbidden(ingress, detail);
        }
        return;
    }
    let before = &old["status"]["loadBalancer"]["ingress"];
    for entry in ingress.items() {
        let (address, mode) = (entry.field("ip"), entry.field("ipMode"));
        validate_new_ip(address, &known_ips(before), errors);
        match (mode.is_set(), address.text().is_empty()) {
            (false, false) => errors.required(mode, "must be specified when `ip` is set"),
            (true, true) => errors.forbidden(mode, "may not be specified when `ip` is not set"),
            (true, false) if !matches!(mode.text(), "Proxy" | "VIP") => {
                errors.unsupported(mode, &["Proxy", "VIP"]);
            }
            _ => {}
        }
        let host = entry.field("hostname");
        if !host.text().is_empty() {
            errors.problems(host, subdomain(host.text()));
            if is_ip(host.text()) {
                errors.invalid(host, "must be a DNS name, not an IP address");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::core::SERVICE;

    #[test]
    fn only_load_balancers_have_ingress_points() {
        let plain = json!({"spec": {"type": "ClusterIP"},
            "status": {"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}]}}});
        assert_eq!(
            SERVICE.status_errors(&plain, &json!({})),
            [
                "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is \
                 'LoadBalancer'"
            ]
        );
    }

    #[test]
    fn ingress_points_are_addresses_with_a_mode_or_host_names() {
        let balanced = json!({"spec": {"type": "LoadBalancer"}, "status": {"loadBalancer": {
            "ingress": [{"ip": "no"}, {"hostname": "10.0.0.1"}]}}});
        assert_eq!(
            SERVICE.status_errors(&balanced, &json!({})),
            [
                "status.loadBalancer.ingress[0].ip: Invalid value: \"no\": must be a valid IP \
                 address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
                "status.loadBalancer.ingress[0].ipMode: Required value: must be specified when \
                 `ip` is set",
                "status.loadBalancer.ingress[1].hostname: Invalid value: \"10.0.0.1\": must be a \
                 DNS name, not an IP address",
            ]
        );
    }
}
