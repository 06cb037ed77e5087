//! Validation of addresses (`IsValidIPForLegacyField`).

use std::net::IpAddr;

use serde_json::Value;

use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::json::items;

const NOT_AN_IP: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

pub(crate) fn is_ip(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok()
}

/// Requires an address of either family.
pub(crate) fn validate_ip(at: FieldPath<'_>, errors: &mut ErrorList) {
    if !is_ip(at.text()) {
        errors.invalid_text(at, NOT_AN_IP);
    }
}

/// Requires an address, unless it is empty or was stored before.
pub(crate) fn validate_new_ip(at: FieldPath<'_>, known: &[&str], errors: &mut ErrorList) {
    let text = at.text();
    if !text.is_empty() && !known.contains(&text) && !is_ip(text) {
        errors.invalid(at, NOT_AN_IP);
    }
}

/// The `ip` of each entry of a list.
pub(crate) fn known_ips(entries: &Value) -> Vec<&str> {
    items(entries)
        .filter_map(|entry| entry["ip"].as_str())
        .collect()
}
