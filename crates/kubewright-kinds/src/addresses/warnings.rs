//! Warnings about addresses and ranges that are not in their canonical form.

use std::net::IpAddr;

use super::parse::{Cidr, parse_sloppy};
use crate::field_path::FieldPath;
use crate::warning_list::Warnings;

/// Warns about an address that is not canonical (`GetWarningsForIP`).
pub(crate) fn warn_ip(at: FieldPath<'_>, warnings: &mut Warnings) {
    let text = at.text();
    let Some(meant) = parse_sloppy(text) else {
        return;
    };
    if !is_standard(text) {
        let shown = meant.to_canonical().to_string();
        let detail = format!("non-standard IP address {text:?} is invalid: use {shown:?}");
        warnings.add_at(at, &detail);
        return;
    }
    let shown = meant.to_string();
    if meant.is_ipv6() && shown != text {
        let detail =
            format!("IPv6 address {text:?} should be in RFC 5952 canonical format ({shown:?})");
        warnings.add_at(at, &detail);
    }
}

/// Warns about a range that is not canonical (`GetWarningsForCIDR`).
pub(crate) fn warn_cidr(at: FieldPath<'_>, warnings: &mut Warnings) {
    let text = at.text();
    let Some(range) = Cidr::parse(text) else {
        return;
    };
    let network = range.network();
    let is_ambiguous = network.address != range.address;
    let shown = network.to_go_string();
    if is_ambiguous {
        let single = range.single_address();
        let detail = format!(
            "CIDR value {text:?} is ambiguous in this context (should be {shown:?} or {single:?}?)"
        );
        warnings.add_at(at, &detail);
    }
    if !is_standard_range(text) {
        let detail = format!("non-standard CIDR value {text:?} is invalid: use {shown:?}");
        warnings.add_at(at, &detail);
        return;
    }
    let plain = format!("{}/{}", range.address, range.length);
    if !is_ambiguous && range.address.is_ipv6() && plain != text {
        let detail =
            format!("IPv6 CIDR value {text:?} should be in RFC 5952 canonical format ({plain:?})");
        warnings.add_at(at, &detail);
    }
}

/// Whether `netip.ParseAddr` accepts an address that is not an IPv4-mapped IPv6 address.
fn is_standard(text: &str) -> bool {
    let address: Result<IpAddr, _> = text.parse();
    address.is_ok_and(|address| address.to_canonical() == address)
}

/// Whether `netip.ParsePrefix` accepts a range of such addresses.
fn is_standard_range(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else {
        return false;
    };
    is_standard(address) && (length.len() == 1 || !length.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{FieldPath, Warnings, warn_cidr, warn_ip};

    fn warnings_of(warn: fn(FieldPath<'_>, &mut Warnings), text: &str) -> Vec<String> {
        let object = json!({"ip": text});
        let mut warnings = Warnings::default();
        warn(FieldPath::new(&object, "ip"), &mut warnings);
        warnings.into_messages()
    }

    #[test]
    fn nonstandard_addresses_are_warned_about() {
        for text in [
            "10.0.0.1",
            "fd00::1",
            "::",
            "nowhere",
            "1.2.3",
            "fe80::1%eth0",
        ] {
            assert!(warnings_of(warn_ip, text).is_empty(), "{text}");
        }
        let cases = [
            ("010.000.0.1", "10.0.0.1"),
            ("::ffff:1.2.3.4", "1.2.3.4"),
            ("::ffff:01.2.3.4", "1.2.3.4"),
            ("fd00:00001::", "fd00:1::"),
        ];
        for (text, standard) in cases {
            let wanted =
                format!("ip: non-standard IP address {text:?} is invalid: use {standard:?}");
            assert_eq!(warnings_of(warn_ip, text), [wanted]);
        }
        assert_eq!(
            warnings_of(warn_ip, "FD00:0:0::1"),
            [
                "ip: IPv6 address \"FD00:0:0::1\" should be in RFC 5952 canonical format \
                 (\"fd00::1\")"
            ]
        );
    }

    #[test]
    fn ambiguous_ranges_are_warned_about() {
        for text in [
            "10.0.0.0/8",
            "0.0.0.0/0",
            "fd00::/64",
            "10.0.0.1",
            "10.0.0.0/33",
        ] {
            assert!(warnings_of(warn_cidr, text).is_empty(), "{text}");
        }
        assert_eq!(
            warnings_of(warn_cidr, "10.0.0.1/8"),
            [
                "ip: CIDR value \"10.0.0.1/8\" is ambiguous in this context (should be \
                 \"10.0.0.0/8\" or \"10.0.0.1/32\"?)"
            ]
        );
        assert_eq!(
            warnings_of(warn_cidr, "10.0.0.0/08"),
            ["ip: non-standard CIDR value \"10.0.0.0/08\" is invalid: use \"10.0.0.0/8\""]
        );
        assert_eq!(
            warnings_of(warn_cidr, "::ffff:10.0.0.1/120"),
            [
                "ip: CIDR value \"::ffff:10.0.0.1/120\" is ambiguous in this context (should be \
                 \"10.0.0.0/24\" or \"10.0.0.1/128\"?)",
                "ip: non-standard CIDR value \"::ffff:10.0.0.1/120\" is invalid: use \
                 \"10.0.0.0/24\"",
            ]
        );
        assert_eq!(
            warnings_of(warn_cidr, "FD00::/64"),
            [
                "ip: IPv6 CIDR value \"FD00::/64\" should be in RFC 5952 canonical format \
                 (\"fd00::/64\")"
            ]
        );
    }
}
