//! LimitRange: bounds and defaults for the resources of Pods and claims.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use kubewright_core::Quantity;
use kubewright_core::format::qualified_name;
use serde_json::{Map, Value, json};

use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::groups;
use crate::json::{object_mut, objects_mut};
use crate::kind::{BuiltinKind, Permission, Validation};
use crate::resource_list::{
    is_hugepages, is_native, round_up, validate_container_resource_name, validate_resource_name,
};

/// Bounds and defaults for the resources of Pods and claims.
pub static LIMIT_RANGE: BuiltinKind = BuiltinKind {
    create_on_update: Permission::Allowed,
    defaults: apply_defaults,
    validation: Validation::Rules(validate),
    ..BuiltinKind::new(groups::CORE, "LimitRange", "limitranges")
};

const TYPES: [&str; 3] = ["Pod", "Container", "PersistentVolumeClaim"];

const LISTS: [&str; 5] = [
    "max",
    "min",
    "default",
    "defaultRequest",
    "maxLimitRequestRatio",
];

/// `SetDefaults_LimitRangeItem`: `default` is set from `max`, and `defaultRequest` from `default`
/// or else from `min`.
fn apply_defaults(object: &mut Map<String, Value>) {
    let Some(spec) = object_mut(object, "spec") else {
        return;
    };
    for item in objects_mut(spec.get_mut("limits")) {
        round_up(item, &LISTS);
        if item.get("type") != Some(&json!("Container")) {
            continue;
        }
        let list = |name: &str| {
            let found = item.get(name).and_then(Value::as_object);
            found.cloned().unwrap_or_default()
        };
        let (mut limits, mut requests) = (list("default"), list("defaultRequest"));
        let (largest, smallest) = (list("max"), list("min"));
        for (name, quantity) in largest {
            limits.entry(name).or_insert(quantity);
        }
        for (name, quantity) in limits.clone().into_iter().chain(smallest) {
            requests.entry(name).or_insert(quantity);
        }
        for (name, quantities) in [("default", limits), ("defaultRequest", requests)] {
            if !quantities.is_empty() {
                item.insert(name.to_owned(), Value::Object(quantities));
            }
        }
    }
}

/// `ValidateLimitRange`.
fn validate(object: &Value, _: Option<&Value>, errors: &mut ErrorList) {
    let spec = FieldPath::new(object, "spec");
    let limits = spec.field("limits");
    let mut seen = BTreeSet::new();
    for limit in limits.items() {
        let kind = limit.text_of("type");
        validate_type(limit.field("type"), errors);
        if !seen.insert(kind) {
            errors.duplicate_value(limit.field("type"), &json!(kind));
        }
        validate_names(limit, kind, errors);
        let compared: BTreeSet<&str> = LISTS
            .into_iter()
            .filter(|list| !is_forbidden(kind, list))
            .filter_map(|list| limit.value().get(list)?.as_object())
            .flat_map(|list| list.keys().map(String::as_str))
            .collect();
        for name in compared {
            validate_bounds(limit, kind, name, errors);
        }
    }
}

/// `validateLimitRangeTypeName`.
fn validate_type(at: FieldPath<'_>, errors: &mut ErrorList) {
    let text = at.text();
    let problems = qualified_name(text);
    let is_unknown = problems.is_empty() && !text.contains('/') && !TYPES.contains(&text);
    errors.problems(at, problems);
    if is_unknown {
        let detail = "must be a standard limit type or fully qualified";
        errors.invalid_text(at, detail);
    }
}

/// Limits on whole Pods have no defaults.
fn is_forbidden(kind: &str, list: &str) -> bool {
    kind == "Pod" && matches!(list, "default" | "defaultRequest")
}

fn validate_names(limit: FieldPath<'_>, kind: &str, errors: &mut ErrorList) {
    for list in LISTS {
        if list == "maxLimitRequestRatio" && kind == "PersistentVolumeClaim" {
            let has = |list: &str| limit.field(list).has("storage");
            if !has("min") && !has("max") {
                let detail =
                    "either minimum or maximum storage value is required, but neither was provided";
                errors.required(limit.field("limits"), detail);
            }
        }
        let at = limit.field(list);
        if is_forbidden(kind, list) {
            if !at.is_empty() {
                errors.forbidden(at, "may not be specified when `type` is 'Pod'");
            }
            continue;
        }
        for (name, quantity) in at.entries() {
            match kind {
                "Pod" | "Container" => validate_container_resource_name(quantity, name, errors),
                _ => {
                    validate_resource_name(quantity, name, errors);
                }
            }
        }
    }
}

/// Compares the bounds of one resource with each other.
fn validate_bounds(limit: FieldPath<'_>, kind: &str, name: &str, errors: &mut ErrorList) {
    let quantity = |list: &str| {
        let found = limit.value().get(list)?.get(name)?.as_str()?;
        Quantity::parse(found).filter(|_| !is_forbidden(kind, list))
    };
    let (min, max) = (quantity("min"), quantity("max"));
    let (default, request) = (quantity("default"), quantity("defaultRequest"));
    let mut invalid = |list: &str, value: Quantity, detail: String| {
        let list = limit.field(list);
        errors.invalid_value(list.key(name), &json!(value.to_string()), &detail);
    };
    if let Some((min, max)) = greater(min, max) {
        let detail = format!("min value {min} is greater than max value {max}");
        invalid("min", min, detail);
    }
    if let Some((min, request)) = greater(min, request) {
        let detail = format!("min value {min} is greater than default request value {request}");
        invalid("defaultRequest", request, detail);
    }
    if let Some((request, max)) = greater(request, max) {
        let detail = format!("default request value {request} is greater than max value {max}");
        invalid("defaultRequest", request, detail);
    }
    if let Some((request, default)) = greater(request, default) {
        let detail = format!(
            "default request value {request} is greater than default limit value {default}"
        );
        invalid("defaultRequest", request, detail);
    }
    if let Some((min, default)) = greater(min, default) {
        let detail = format!("min value {min} is greater than default value {default}");
        invalid("default", min, detail);
    }
    if let Some((default, max)) = greater(default, max) {
        let detail = format!("default value {default} is greater than max value {max}");
        invalid("default", max, detail);
    }
    if let Some(ratio) = quantity("maxLimitRequestRatio") {
        for detail in ratio_errors(ratio, min.zip(max)) {
            invalid("maxLimitRequestRatio", ratio, detail);
        }
    }
    let may_exceed = is_native(name) && !is_hugepages(name);
    if let Some((default, request)) = default.zip(request)
        && !may_exceed
        && default.cmp_amount(&request).is_ne()
    {
        let detail = format!(
            "default value {default} must equal to defaultRequest value {request} in {name}"
        );
        invalid("defaultRequest", request, detail);
    }
}

/// Both quantities, if both are set and the first is greater.
fn greater(left: Option<Quantity>, right: Option<Quantity>) -> Option<(Quantity, Quantity)> {
    left.zip(right)
        .filter(|(left, right)| left.cmp_amount(right) == Ordering::Greater)
}

fn ratio_errors(ratio: Quantity, bounds: Option<(Quantity, Quantity)>) -> Vec<String> {
    let mut details = Vec::new();
    let Some(one) = Quantity::parse("1") else {
        return details;
    };
    if ratio.cmp_amount(&one).is_lt() {
        details.push(format!("ratio {ratio} is less than 1"));
    }
    if let Some((min, max)) = bounds {
        let most = max.ratio(&min);
        if ratio.ratio(&one) > most {
            details.push(format!("ratio {ratio} is greater than max/min = {most:.6}"));
        }
    }
    details
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::LIMIT_RANGE;

    fn errors(limits: &Value) -> Vec<String> {
        LIMIT_RANGE.errors(&json!({"spec": {"limits": limits}}), None)
    }

    #[test]
    fn contradictory_bounds_are_invalid() {
        let limit = json!({
            "type": "Container", "min": {"cpu": "2"}, "max": {"cpu": "1"},
            "default": {"cpu": "5"}, "maxLimitRequestRatio": {"cpu": "500m"},
        });
        assert_eq!(
            errors(&json!([limit])),
            [
                "spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is greater than max \
                 value 1",
                "spec.limits[0].default[cpu]: Invalid value: \"1\": default value 5 is greater \
                 than max value 1",
                "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: \"500m\": ratio 500m is \
                 less than 1",
            ]
        );
    }

    #[test]
    fn types_are_known_and_unique() {
        assert_eq!(
            errors(&json!([{"type": "Pod"}, {"type": "Pod"}, {"type": "Foo"}, {"type": "a.b/c"}])),
            [
                "spec.limits[1].type: Duplicate value: \"Pod\"",
                "spec.limits[2].type: Invalid value: \"Foo\": must be a standard limit type or \
                 fully qualified",
            ]
        );
    }

    #[test]
    fn consistent_range_is_valid() {
        let limits = json!([
            {"type": "Container", "min": {"cpu": "1"}, "max": {"cpu": "4"},
                "default": {"cpu": "2"}, "defaultRequest": {"cpu": "1"},
                "maxLimitRequestRatio": {"cpu": "4"}},
            {"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}},
        ]);
        assert!(errors(&limits).is_empty());
    }
}
