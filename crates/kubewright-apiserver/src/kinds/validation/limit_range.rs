use std::cmp::Ordering;
use std::collections::BTreeSet;

use kubewright_wire::schema::Quantity;
use serde_json::{Value, json};

use super::formats::qualified_name;
use super::node::is_native;
use super::pod::{container_name, is_huge, resource_name};
use super::{At, Findings};

const TYPES: [&str; 3] = ["Pod", "Container", "PersistentVolumeClaim"];
const LISTS: [&str; 5] = [
    "max",
    "min",
    "default",
    "defaultRequest",
    "maxLimitRequestRatio",
];

/// `ValidateLimitRange`.
pub(super) fn limit_range(object: &Value, _: Option<&Value>, findings: &mut Findings) {
    let spec = At::top(object, "spec");
    let limits = spec.field("limits");
    let mut seen = BTreeSet::new();
    for limit in limits.items() {
        let kind = limit.text_of("type");
        limit_type(limit.field("type"), findings);
        if !seen.insert(kind) {
            findings.duplicate_value(limit.field("type"), &json!(kind));
        }
        names(limit, kind, findings);
        let compared: BTreeSet<&str> = LISTS
            .into_iter()
            .filter(|list| !is_forbidden(kind, list))
            .filter_map(|list| limit.value().get(list)?.as_object())
            .flat_map(|list| list.keys().map(String::as_str))
            .collect();
        for name in compared {
            amounts(limit, kind, name, findings);
        }
    }
}

/// `validateLimitRangeTypeName`.
fn limit_type(at: At<'_>, findings: &mut Findings) {
    let text = at.text();
    let problems = qualified_name(text);
    let is_unknown = problems.is_empty() && !text.contains('/') && !TYPES.contains(&text);
    findings.problems(at, problems);
    if is_unknown {
        let detail = "must be a standard limit type or fully qualified";
        findings.invalid_text(at, detail);
    }
}

/// A Pod as a whole has no defaults.
fn is_forbidden(kind: &str, list: &str) -> bool {
    kind == "Pod" && matches!(list, "default" | "defaultRequest")
}

fn names(limit: At<'_>, kind: &str, findings: &mut Findings) {
    for list in LISTS {
        if list == "maxLimitRequestRatio" && kind == "PersistentVolumeClaim" {
            let has = |list: &str| limit.field(list).has("storage");
            if !has("min") && !has("max") {
                let detail =
                    "either minimum or maximum storage value is required, but neither was provided";
                findings.required(limit.field("limits"), detail);
            }
        }
        let at = limit.field(list);
        if is_forbidden(kind, list) {
            if !at.is_empty() {
                findings.forbidden(at, "may not be specified when `type` is 'Pod'");
            }
            continue;
        }
        for (name, amount) in at.entries() {
            match kind {
                "Pod" | "Container" => container_name(amount, name, findings),
                _ => {
                    resource_name(amount, name, findings);
                }
            }
        }
    }
}

/// What the bounds of one resource say about each other.
fn amounts(limit: At<'_>, kind: &str, name: &str, findings: &mut Findings) {
    let amount = |list: &str| {
        let found = limit.value().get(list)?.get(name)?.as_str()?;
        Quantity::parse(found).filter(|_| !is_forbidden(kind, list))
    };
    let (min, max) = (amount("min"), amount("max"));
    let (default, request) = (amount("default"), amount("defaultRequest"));
    let mut fault = |list: &str, value: Quantity, detail: String| {
        let list = limit.field(list);
        findings.invalid_value(list.key(name), &json!(value.to_string()), &detail);
    };
    if let Some((min, max)) = greater(min, max) {
        let detail = format!("min value {min} is greater than max value {max}");
        fault("min", min, detail);
    }
    if let Some((min, request)) = greater(min, request) {
        let detail = format!("min value {min} is greater than default request value {request}");
        fault("defaultRequest", request, detail);
    }
    if let Some((request, max)) = greater(request, max) {
        let detail = format!("default request value {request} is greater than max value {max}");
        fault("defaultRequest", request, detail);
    }
    if let Some((request, default)) = greater(request, default) {
        let detail = format!(
            "default request value {request} is greater than default limit value {default}"
        );
        fault("defaultRequest", request, detail);
    }
    if let Some((min, default)) = greater(min, default) {
        let detail = format!("min value {min} is greater than default value {default}");
        fault("default", min, detail);
    }
    if let Some((default, max)) = greater(default, max) {
        let detail = format!("default value {default} is greater than max value {max}");
        fault("default", max, detail);
    }
    if let Some(ratio) = amount("maxLimitRequestRatio") {
        for detail in ratio_faults(ratio, min.zip(max)) {
            fault("maxLimitRequestRatio", ratio, detail);
        }
    }
    let may_exceed = is_native(name) && !is_huge(name);
    if let Some((default, request)) = default.zip(request)
        && !may_exceed
        && default.cmp_amount(&request).is_ne()
    {
        let detail = format!(
            "default value {default} must equal to defaultRequest value {request} in {name}"
        );
        fault("defaultRequest", request, detail);
    }
}

/// Both, where the first is more.
fn greater(one: Option<Quantity>, other: Option<Quantity>) -> Option<(Quantity, Quantity)> {
    one.zip(other)
        .filter(|(one, other)| one.cmp_amount(other) == Ordering::Greater)
}

fn ratio_faults(ratio: Quantity, bounds: Option<(Quantity, Quantity)>) -> Vec<String> {
    let mut faults = Vec::new();
    let Some(one) = Quantity::parse("1") else {
        return faults;
    };
    if ratio.cmp_amount(&one).is_lt() {
        faults.push(format!("ratio {ratio} is less than 1"));
    }
    if let Some((min, max)) = bounds {
        let most = max.ratio(&min);
        if ratio.ratio(&one) > most {
            faults.push(format!("ratio {ratio} is greater than max/min = {most:.6}"));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Findings;
    use super::limit_range;

    fn faults(limits: Value) -> Vec<String> {
        let mut findings = Findings::default();
        limit_range(&json!({"spec": {"limits": limits}}), None, &mut findings);
        let causes = findings.into_causes();
        causes.iter().map(|cause| cause.with_field()).collect()
    }

    #[test]
    fn bounds_that_contradict_each_other_are_told() {
        let limit = json!({
            "type": "Container", "min": {"cpu": "2"}, "max": {"cpu": "1"},
            "default": {"cpu": "5"}, "maxLimitRequestRatio": {"cpu": "500m"},
        });
        assert_eq!(
            faults(json!([limit])),
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
    fn a_type_is_known_and_stands_once() {
        assert_eq!(
            faults(json!([{"type": "Pod"}, {"type": "Pod"}, {"type": "Foo"}, {"type": "a.b/c"}])),
            [
                "spec.limits[1].type: Duplicate value: \"Pod\"",
                "spec.limits[2].type: Invalid value: \"Foo\": must be a standard limit type or \
                 fully qualified",
            ]
        );
    }

    #[test]
    fn a_sound_range_passes() {
        let limits = json!([
            {"type": "Container", "min": {"cpu": "1"}, "max": {"cpu": "4"},
                "default": {"cpu": "2"}, "defaultRequest": {"cpu": "1"},
                "maxLimitRequestRatio": {"cpu": "4"}},
            {"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}},
        ]);
        assert_eq!(faults(limits), Vec::<String>::new());
    }
}
