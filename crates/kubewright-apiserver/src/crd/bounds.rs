use kubewright_wire::status::{Cause, CauseKind};
use serde_json::{Number, Value, json};

use super::formats::has_format;
use super::structural::{Bound, Limits};

/// How many of the allowed values are shown at most.
const MOST_SHOWN: usize = 1000;

/// The bounds that a value breaks.
pub(super) fn beyond(value: &Value, limits: &Limits, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let says = |text: String| format!("{path} in body should {text}");
    match value {
        Value::String(text) => {
            let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
            // The first fault of a text is the only one that is told.
            if let Some(most) = limits.max_length.filter(|most| length > *most) {
                let detail = format!("may not be more than {most} bytes");
                let kind = CauseKind::FieldValueTooLong;
                causes.push(Cause::new(kind, path, None, &detail));
            } else if let Some(least) = limits.min_length.filter(|least| length < *least) {
                let detail = says(format!("be at least {least} chars long"));
                causes.push(Cause::invalid(path, value, &detail));
            } else if let Some(pattern) = limits.pattern.as_ref().filter(|one| !one.is_match(text))
            {
                let detail = says(format!("match '{pattern}'"));
                causes.push(Cause::invalid(path, value, &detail));
            }
            if let Some(format) = limits
                .format
                .as_deref()
                .filter(|one| !has_format(text, one))
            {
                let detail = format!("{path} in body must be of type {format}: {text:?}");
                causes.push(Cause::type_invalid(path, value, &detail));
            }
        }
        Value::Number(number) => causes.extend(beyond_number(number, value, limits, path)),
        Value::Array(items) => {
            let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
            let least = limits.min_items.map(|least| (least, "items"));
            let most = limits.max_items;
            causes.extend(beyond_count(count, (least, most), path));
        }
        Value::Object(members) => {
            let count = u64::try_from(members.len()).unwrap_or(u64::MAX);
            let least = limits.min_properties.map(|least| (least, "properties"));
            let most = limits.max_properties;
            causes.extend(beyond_count(count, (least, most), path));
        }
        Value::Null | Value::Bool(_) => {}
    }
    if !limits.enumeration.allows(value) {
        let supported: Vec<String> = limits
            .enumeration
            .values
            .iter()
            .take(MOST_SHOWN)
            .map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned))
            .collect();
        let supported: Vec<&str> = supported.iter().map(String::as_str).collect();
        causes.push(Cause::not_supported(path, value, &supported));
    }
    causes
}

fn beyond_count(
    count: u64,
    (least, most): (Option<(u64, &str)>, Option<u64>),
    path: &str,
) -> Vec<Cause> {
    let mut causes = Vec::new();
    if let Some((least, what)) = least.filter(|(least, _)| count < *least) {
        let detail = format!("{path} in body should have at least {least} {what}");
        causes.push(Cause::invalid(path, &json!(count), &detail));
    }
    if let Some(most) = most.filter(|most| count > *most) {
        let items = if most == 1 { "item" } else { "items" };
        let detail = format!("must have at most {most} {items}");
        let kind = CauseKind::FieldValueTooMany;
        causes.push(Cause::new(kind, path, Some(&json!(count)), &detail));
    }
    causes
}

fn beyond_number(number: &Number, value: &Value, limits: &Limits, path: &str) -> Vec<Cause> {
    let Some(found) = number.as_f64() else {
        return Vec::new();
    };
    let mut details = Vec::new();
    let passes = |bound: &&Bound, below: bool| match (below, bound.exclusive) {
        (true, true) => found <= bound.value,
        (true, false) => found < bound.value,
        (false, true) => found >= bound.value,
        (false, false) => found > bound.value,
    };
    let or_equal = |bound: &Bound| if bound.exclusive { "" } else { "or equal to " };
    if let Some(bound) = limits.minimum.as_ref().filter(|bound| passes(bound, true)) {
        details.push(format!(
            "be greater than {}{}",
            or_equal(bound),
            bound.shown
        ));
    }
    if let Some(bound) = limits.maximum.as_ref().filter(|bound| passes(bound, false)) {
        details.push(format!("be less than {}{}", or_equal(bound), bound.shown));
    }
    if let Some(factor) = limits
        .multiple_of
        .filter(|factor| (found / factor).fract() != 0.0)
    {
        details.push(format!("be a multiple of {factor}"));
    }
    details
        .iter()
        .map(|detail| Cause::invalid(path, value, &format!("{path} in body should {detail}")))
        .collect()
}
