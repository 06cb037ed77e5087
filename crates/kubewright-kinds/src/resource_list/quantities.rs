//! The quantities of resources: defaults, validation, warnings.

use kubewright_core::Quantity;
use serde_json::{Map, Value, json};

use super::names::is_extended;
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::warning_list::Warnings;

/// Rounds quantities up to thousandths (`SetDefaults_ResourceList`).
pub(crate) fn round_up(holder: &mut Map<String, Value>, lists: &[&str]) {
    for list in lists {
        let amounts = holder.get_mut(*list).and_then(Value::as_object_mut);
        for amount in amounts.into_iter().flat_map(|amounts| amounts.values_mut()) {
            let Some(text) = amount.as_str() else {
                continue;
            };
            if !text.ends_with(['n', 'u']) {
                continue;
            }
            if let Some(rounded) = Quantity::parse(text).map(Quantity::round_up_to_milli) {
                *amount = json!(rounded.to_string());
            }
        }
    }
}

/// `ValidateResourceQuantityValue`.
pub(crate) fn validate_quantity(at: FieldPath<'_>, name: &str, errors: &mut ErrorList) {
    let Some(quantity) = Quantity::parse(at.text()) else {
        return;
    };
    if quantity.is_negative() {
        errors.invalid(at, "must be greater than or equal to 0");
    }
    if is_integer(name) && !quantity.is_whole() {
        errors.invalid(at, "must be an integer");
    }
}

/// `IsIntegerResourceName`.
fn is_integer(name: &str) -> bool {
    const COUNTED: [&str; 9] = [
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    ];
    COUNTED.contains(&name) || is_extended(name)
}

/// Warns about a fraction of a byte.
pub(crate) fn warn_fractional_bytes(at: FieldPath<'_>, warnings: &mut Warnings) {
    let Some(amount) = Quantity::parse(at.text()) else {
        return;
    };
    if !amount.round_up_to_milli().is_whole() {
        let shown = amount.to_string();
        let detail = format!("fractional byte value {shown:?} is invalid, must be an integer");
        warnings.add_at(at, &detail);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::round_up;

    #[test]
    fn quantities_are_rounded_up_to_thousandths() {
        let mut resources = json!({"limits": {"cpu": "100u", "memory": "1"}});
        round_up(resources.as_object_mut().unwrap(), &["limits"]);
        assert_eq!(resources["limits"], json!({"cpu": "1m", "memory": "1"}));
    }
}
