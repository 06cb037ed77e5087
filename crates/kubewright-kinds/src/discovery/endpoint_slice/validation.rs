//! Validation of an EndpointSlice.

use std::collections::BTreeSet;
use std::net::IpAddr;

use kubewright_core::format::{label, label_value, qualified_name, subdomain};
use serde_json::{Value, json};

use crate::addresses::parse_sloppy;
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;

const FAMILIES: [&str; 3] = ["FQDN", "IPv4", "IPv6"];

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

const MOST_PORTS: usize = 20_000;

const MOST_ENDPOINTS: usize = 1000;

const MOST_ADDRESSES: usize = 100;

const MOST_HINTS: usize = 8;

/// `ValidateEndpointSliceCreate`, `ValidateEndpointSliceUpdate`. Their rules of topology are for
/// versions that are no longer served.
pub(super) fn validate(object: &Value, old: Option<&Value>, errors: &mut ErrorList) {
    let family = FieldPath::new(object, "addressType");
    errors.one_of(family, &FAMILIES);
    validate_ports(FieldPath::new(object, "ports"), errors);
    let all = FieldPath::new(object, "endpoints");
    // Stored endpoints are not validated again.
    if old.is_none_or(|old| old["endpoints"] != *all.value()) {
        validate_endpoints(all, family.text(), errors);
    }
    if old.is_some_and(|old| old["addressType"] != family.text()) {
        errors.invalid_text(family, "field is immutable");
    }
}

fn validate_ports(at: FieldPath<'_>, errors: &mut ErrorList) {
    if at.len() > MOST_PORTS {
        errors.too_many(at, MOST_PORTS);
        return;
    }
    let mut names = BTreeSet::new();
    for port in at.items() {
        let name = port.field("name");
        if !name.text().is_empty() {
            errors.problems(name, label(name.text()));
        }
        if !names.insert(port.text_of("name")) {
            errors.duplicate_value(name, &json!(name.text()));
        }
        let protocol = port.field("protocol");
        if !protocol.is_set() {
            errors.required(protocol, "");
        } else if !PROTOCOLS.contains(&protocol.text()) {
            errors.unsupported(protocol, &PROTOCOLS);
        }
        let application = port.field("appProtocol");
        if application.is_set() {
            errors.problems(application, qualified_name(application.text()));
        }
    }
}

fn validate_endpoints(at: FieldPath<'_>, family: &str, errors: &mut ErrorList) {
    if at.len() > MOST_ENDPOINTS {
        errors.too_many(at, MOST_ENDPOINTS);
        return;
    }
    for endpoint in at.items() {
        let all = endpoint.field("addresses");
        match all.len() {
            0 => errors.required(all, "must contain at least 1 address"),
            count if count > MOST_ADDRESSES => errors.too_many(all, MOST_ADDRESSES),
            _ => {}
        }
        for address in all.items() {
            match family {
                "IPv4" | "IPv6" => validate_address(all, address, family, errors),
                "FQDN" => validate_domain(address, errors),
                _ => {}
            }
        }
        let node = endpoint.field("nodeName");
        if node.is_set() {
            errors.problems(node, subdomain(node.text()));
        }
        let host = endpoint.field("hostname");
        if host.is_set() {
            errors.problems(host, label(host.text()));
        }
        validate_hints(endpoint.field("hints"), errors);
    }
}

/// Requires an address of the family that is not special.
fn validate_address(all: FieldPath<'_>, at: FieldPath<'_>, family: &str, errors: &mut ErrorList) {
    let Some(address) = parse_address(at, errors) else {
        return;
    };
    let shown = address.to_string();
    if family == "IPv6" && shown != at.text() {
        errors.invalid_text(at, &format!("must be in canonical form ({shown:?})"));
        return;
    }
    if address.is_ipv4() != (family == "IPv4") {
        let detail = format!("must be an {family} address");
        errors.invalid_value(all, &json!(at.text()), &detail);
    }
    validate_special_address(at, address, errors);
}

/// `IsValidIPForLegacyField`: leading zeros and IPv4-mapped addresses are ambiguous.
fn parse_address(at: FieldPath<'_>, errors: &mut ErrorList) -> Option<IpAddr> {
    if parse_sloppy(at.text()).is_none() {
        let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
        errors.invalid_text(at, detail);
        return None;
    }
    let Ok(address) = at.text().parse::<IpAddr>() else {
        errors.invalid_text(at, "must not have leading 0s");
        return None;
    };
    if address.to_canonical() != address {
        errors.invalid_text(at, "must not be an IPv4-mapped IPv6 address");
        return None;
    }
    Some(address)
}

/// `ValidateEndpointIP`, except for loopback: in an embedded cluster, webhooks listen there.
fn validate_special_address(at: FieldPath<'_>, address: IpAddr, errors: &mut ErrorList) {
    if address.is_unspecified() {
        errors.invalid_text(at, &format!("may not be unspecified ({})", at.text()));
    }
    let (is_link_local, is_link_local_multicast) = match address {
        IpAddr::V4(four) => (
            four.is_link_local(),
            matches!(four.octets(), [224, 0, 0, _]),
        ),
        IpAddr::V6(six) => {
            let [first, second, ..] = six.octets();
            (
                first == 0xfe && second & 0xc0 == 0x80,
                first == 0xff && second & 0x0f == 0x02,
            )
        }
    };
    if is_link_local {
        let detail = "may not be in the link-local range (169.254.0.0/16, fe80::/10)";
        errors.invalid_text(at, detail);
    }
    if is_link_local_multicast {
        let detail = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)";
        errors.invalid_text(at, detail);
    }
}

/// `IsFullyQualifiedDomainName`.
fn validate_domain(at: FieldPath<'_>, errors: &mut ErrorList) {
    if at.text().is_empty() {
        errors.required(at, "");
        return;
    }
    let name = at.text().strip_suffix('.').unwrap_or(at.text());
    let problems = subdomain(name);
    if !problems.is_empty() {
        errors.invalid_value(at, &json!(name), &problems.join(","));
        return;
    }
    if !name.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        errors.invalid_value(at, &json!(name), detail);
        return;
    }
    let mut parts = name.split('.').map(|part| (part, label(part)));
    let wrong = parts.find(|(_, problems)| !problems.is_empty());
    if let Some((part, problems)) = wrong {
        errors.invalid_value(at, &json!(part), &problems.join(","));
    }
}

/// Returns the problems of a name.
type Problems = fn(&str) -> Vec<String>;

fn validate_hints(at: FieldPath<'_>, errors: &mut ErrorList) {
    let lists: [(&str, Problems); 2] = [("forZones", label_value), ("forNodes", subdomain)];
    for (field, problems) in lists {
        let all = at.field(field);
        if all.len() > MOST_HINTS {
            errors.too_many(all, MOST_HINTS);
            return;
        }
        let mut names = BTreeSet::new();
        for hint in all.items() {
            let name = hint.field("name");
            if !names.insert(hint.text_of("name")) {
                errors.duplicate_value(name, &json!(name.text()));
            }
            errors.problems(name, problems(name.text()));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ErrorList, validate};

    fn messages(object: &Value, old: Option<&Value>) -> Vec<String> {
        let mut errors = ErrorList::default();
        validate(object, old, &mut errors);
        let causes = errors.into_causes();
        causes.iter().map(|cause| cause.with_field()).collect()
    }

    fn slice(family: &str, addresses: &[&str]) -> Value {
        json!({"addressType": family, "endpoints": [{"addresses": addresses}]})
    }

    #[test]
    fn address_type_is_required_and_port_names_are_unique() {
        let slice = json!({
            "ports": [{"name": "a", "protocol": "TCP"}, {"name": "a", "protocol": "HTTP"}],
            "endpoints": [{"addresses": []}],
        });
        assert_eq!(
            messages(&slice, None),
            [
                "addressType: Required value",
                "ports[1].name: Duplicate value: \"a\"",
                "ports[1].protocol: Unsupported value: \"HTTP\": supported values: \"SCTP\", \
                 \"TCP\", \"UDP\"",
                "endpoints[0].addresses: Required value: must contain at least 1 address",
            ]
        );
    }

    #[test]
    fn addresses_have_the_family_of_the_slice_in_canonical_form() {
        let four = slice(
            "IPv4",
            &[
                "10.0.0.1",
                "010.0.0.1",
                "::ffff:10.0.0.1",
                "2001:db8::1",
                "x",
            ],
        );
        assert_eq!(
            messages(&four, None),
            [
                "endpoints[0].addresses[1]: Invalid value: \"010.0.0.1\": must not have leading \
                 0s",
                "endpoints[0].addresses[2]: Invalid value: \"::ffff:10.0.0.1\": must not be an \
                 IPv4-mapped IPv6 address",
                "endpoints[0].addresses: Invalid value: \"2001:db8::1\": must be an IPv4 address",
                "endpoints[0].addresses[4]: Invalid value: \"x\": must be a valid IP address, \
                 (e.g. 10.9.8.7 or 2001:db8::ffff)",
            ]
        );
        let six = slice("IPv6", &["2001:db8::1", "2001:DB8::1", "10.0.0.1"]);
        assert_eq!(
            messages(&six, None),
            [
                "endpoints[0].addresses[1]: Invalid value: \"2001:DB8::1\": must be in canonical \
                 form (\"2001:db8::1\")",
                "endpoints[0].addresses: Invalid value: \"10.0.0.1\": must be an IPv6 address",
            ]
        );
    }

    #[test]
    fn special_addresses_are_invalid() {
        let range = |family, address: &str| {
            let details = messages(&slice(family, &[address]), None)
                .into_iter()
                .map(|text| {
                    let (_, detail) = text
                        .split_once(": may not be ")
                        .expect("what it may not be");
                    detail.to_owned()
                });
            details.collect::<Vec<_>>()
        };
        assert_eq!(range("IPv4", "0.0.0.0"), ["unspecified (0.0.0.0)"]);
        assert_eq!(
            range("IPv4", "169.254.1.1"),
            ["in the link-local range (169.254.0.0/16, fe80::/10)"]
        );
        assert_eq!(
            range("IPv6", "febf::1"),
            ["in the link-local range (169.254.0.0/16, fe80::/10)"]
        );
        for (family, address) in [("IPv4", "224.0.0.9"), ("IPv6", "ff02::1")] {
            assert_eq!(
                range(family, address),
                ["in the link-local multicast range (224.0.0.0/24, ff02::/10)"]
            );
        }
        assert!(range("IPv4", "224.0.1.1").is_empty());
        assert!(range("IPv4", "127.0.0.1").is_empty());
        assert!(range("IPv6", "::1").is_empty());
    }

    #[test]
    fn fqdn_has_two_labels_and_an_optional_trailing_dot() {
        assert_eq!(
            messages(&slice("FQDN", &["a.example.", "", "one."]), None),
            [
                "endpoints[0].addresses[1]: Required value",
                "endpoints[0].addresses[2]: Invalid value: \"one\": should be a domain with at \
                 least two segments separated by dots",
            ]
        );
    }

    #[test]
    fn hints_name_each_zone_and_node_once() {
        let slice = json!({"addressType": "IPv4", "endpoints": [{
            "addresses": ["10.0.0.1"],
            "hints": {"forZones": [{"name": "a"}, {"name": "a"}],
                "forNodes": [{"name": "n"}, {"name": "n"}]},
        }]});
        assert_eq!(
            messages(&slice, None),
            [
                "endpoints[0].hints.forZones[1].name: Duplicate value: \"a\"",
                "endpoints[0].hints.forNodes[1].name: Duplicate value: \"n\"",
            ]
        );
    }

    #[test]
    fn stored_address_is_kept_and_address_type_is_immutable() {
        let old = slice("IPv4", &["10.0.0.1"]);
        assert_eq!(
            messages(&slice("IPv6", &["10.0.0.1"]), Some(&old)),
            ["addressType: Invalid value: \"IPv6\": field is immutable"]
        );
        let worse = slice("IPv4", &["x"]);
        assert_eq!(messages(&worse, Some(&old)).len(), 1);
        assert!(messages(&worse, Some(&worse)).is_empty());
    }
}
