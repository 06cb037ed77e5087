//! The bounds of values: lengths, counts, ranges, patterns and formats.

use kubewright_wire::status::{Cause, CauseKind};
use serde_json::{Number, Value, json};

use super::formats::has_format;
use super::structural::{Bound, Limits};

/// The most allowed values that an error shows.
const MOST_SHOWN: usize = 1000;

/// The errors of a value that violates its bounds.
pub(super) fn check_bounds(value: &Value, limits: &Limits, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let should = |text: String| format!("{path} in body should {text}");
    match value {
        Value::String(text) => {
            let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
            // Only the first of these errors is reported.
            if let Some(most) = limits.max_length.filter(|most| length > *most) {
                let detail = format!("may not be more than {most} bytes");
                let kind = CauseKind::FieldValueTooLong;
                causes.push(Cause::new(kind, path, None, &detail));
            } else if let Some(least) = limits.min_length.filter(|least| length < *least) {
                let detail = should(format!("be at least {least} chars long"));
                causes.push(Cause::invalid(path, value, &detail));
            } else if let Some(pattern) = limits
                .pattern
                .as_ref()
                .filter(|pattern| !pattern.is_match(text))
            {
                let detail = should(format!("match '{pattern}'"));
                causes.push(Cause::invalid(path, value, &detail));
            }
            if let Some(format) = limits
                .format
                .as_deref()
                .filter(|format| !has_format(text, format))
            {
                let detail = format!("{path} in body must be of type {format}: {text:?}");
                causes.push(Cause::type_invalid(path, value, &detail));
            }
        }
        Value::Number(number) => causes.extend(check_number(number, value, limits, path)),
        Value::Array(items) => {
            let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
            let bounds = CountBounds {
                least: limits.min_items,
                most: limits.max_items,
                what: "items",
            };
            causes.extend(bounds.check(count, path));
        }
        Value::Object(members) => {
            let count = u64::try_from(members.len()).unwrap_or(u64::MAX);
            let bounds = CountBounds {
                least: limits.min_properties,
                most: limits.max_properties,
                what: "properties",
            };
            causes.extend(bounds.check(count, path));
        }
        Value::Null | Value::Bool(_) => {}
    }
    if !limits.enumeration.allows(value) {
        let values = limits.enumeration.values.iter().take(MOST_SHOWN);
        let shown: Vec<String> = values
            .map(|value| {
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned)
            })
            .collect();
        let supported: Vec<&str> = shown.iter().map(String::as_str).collect();
        causes.push(Cause::not_supported(path, value, &supported));
    }
    causes
}

/// The bounds of the number of entries.
struct CountBounds {
    least: Option<u64>,
    most: Option<u64>,
    what: &'static str,
}

impl CountBounds {
    fn check(&self, count: u64, path: &str) -> Vec<Cause> {
        let mut causes = Vec::new();
        if let Some(least) = self.least.filter(|least| count < *least) {
            let what = self.what;
            let detail = format!("{path} in body should have at least {least} {what}");
            causes.push(Cause::invalid(path, &json!(count), &detail));
        }
        if let Some(most) = self.most.filter(|most| count > *most) {
            let items = if most == 1 { "item" } else { "items" };
            let detail = format!("must have at most {most} {items}");
            let kind = CauseKind::FieldValueTooMany;
            causes.push(Cause::new(kind, path, Some(&json!(count)), &detail));
        }
        causes
    }
}

fn check_number(number: &Number, value: &Value, limits: &Limits, path: &str) -> Vec<Cause> {
    let Some(found) = number.as_f64() else {
        return Vec::new();
    };
    let mut details = Vec::new();
    let is_below = |bound: &&Bound| {
        if bound.exclusive {
            found <= bound.value
        } else {
            found < bound.value
        }
    };
    let is_above = |bound: &&Bound| {
        if bound.exclusive {
            found >= bound.value
        } else {
            found > bound.value
        }
    };
    let or_equal = |bound: &Bound| if bound.exclusive { "" } else { "or equal to " };
    if let Some(bound) = limits.minimum.as_ref().filter(is_below) {
        details.push(format!(
            "be greater than {}{}",
            or_equal(bound),
            bound.shown
        ));
    }
    if let Some(bound) = limits.maximum.as_ref().filter(is_above) {
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
