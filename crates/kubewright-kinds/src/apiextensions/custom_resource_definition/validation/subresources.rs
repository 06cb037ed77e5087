//! Subresources, printer columns and selectable fields of a version.

use std::collections::BTreeSet;

use kubewright_wire::status::{Cause, CauseKind};
use serde_json::{Value, json};

use crate::custom::{Brackets, resolve_path};
use crate::json::{items, text};

const COLUMN_TYPES: &str = "must be one of boolean,date,integer,number,string";
const COLUMN_FORMATS: &str = "must be one of byte,date,date-time,double,float,int32,int64,password";
const MOST_SELECTABLE: usize = 8;

/// The errors of the paths of the `scale` subresource.
pub(super) fn check_subresources(subresources: &Value, path: &str) -> Vec<Cause> {
    let Some(scale) = subresources.get("scale").filter(|scale| scale.is_object()) else {
        return Vec::new();
    };
    let mut causes = Vec::new();
    for (field, parts) in [
        ("specReplicasPath", &[".spec"][..]),
        ("statusReplicasPath", &[".status"]),
        ("labelSelectorPath", &[".spec", ".status"]),
    ] {
        let value = &scale[field];
        let path = format!("{path}.scale.{field}");
        let is_optional = field == "labelSelectorPath";
        let cause = match text(value) {
            "" if is_optional => None,
            "" => Some(Cause::required(&path, "")),
            given if !given.starts_with('.') => {
                let detail = "must be a simple json path starting with .";
                Some(Cause::invalid(&path, value, detail))
            }
            given => {
                let is_below = |part: &&str| given.starts_with(&format!("{part}."));
                let detail = match parts {
                    [part] => format!("should be a json path under {part}"),
                    _ => "should be a json path under either .spec or .status".to_owned(),
                };
                let fits = parts.iter().any(is_below);
                (!fits).then(|| Cause::invalid(&path, value, &detail))
            }
        };
        causes.extend(cause);
    }
    causes
}

/// The errors of `additionalPrinterColumns`.
pub(super) fn check_columns(columns: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (index, column) in items(columns).enumerate() {
        let at = |field: &str| format!("{path}[{index}].{field}");
        if text(&column["name"]).is_empty() {
            causes.push(Cause::required(&at("name"), ""));
        }
        match text(&column["type"]) {
            "" => causes.push(Cause::required(&at("type"), COLUMN_TYPES)),
            "boolean" | "date" | "integer" | "number" | "string" => {}
            _ => causes.push(Cause::invalid(&at("type"), &column["type"], COLUMN_TYPES)),
        }
        match text(&column["format"]) {
            "" | "byte" | "date" | "date-time" | "double" | "float" | "int32" | "int64"
            | "password" => {}
            _ => {
                let cause = Cause::invalid(&at("format"), &column["format"], COLUMN_FORMATS);
                causes.push(cause);
            }
        }
        match text(&column["jsonPath"]) {
            "" => causes.push(Cause::required(&at("JSONPath"), "")),
            path if !path.starts_with('.') => {
                let detail = "must be a simple json path starting with .";
                causes.push(Cause::invalid(&at("JSONPath"), &column["jsonPath"], detail));
            }
            _ => {}
        }
    }
    causes
}

/// The errors of `selectableFields`.
pub(super) fn check_selectable(fields: &Value, schema: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (index, field) in items(fields).enumerate() {
        let at = format!("{path}[{index}].jsonPath");
        let given = &field["jsonPath"];
        if text(given).is_empty() {
            causes.push(Cause::required(&at, ""));
            continue;
        }
        let (found, below) = match resolve_path(text(given), schema, Brackets::Denied) {
            Ok(found) => found,
            Err(why) => {
                let detail = format!("is an invalid path: {why}");
                causes.push(Cause::invalid(&at, given, &detail));
                continue;
            }
        };
        if found.starts_with(".metadata") {
            let detail = "must not point to fields in metadata";
            causes.push(Cause::invalid(&at, given, detail));
        }
        if !matches!(text(&below["type"]), "string" | "boolean" | "integer") {
            let detail = "must point to a field of type string, boolean or integer. Enum string \
                          fields and strings with formats are allowed.";
            causes.push(Cause::invalid(&at, given, detail));
        }
        if !seen.insert(found) {
            causes.push(Cause::duplicate(&at, given));
        }
    }
    if seen.len() > MOST_SELECTABLE {
        let detail = format!("must have at most {MOST_SELECTABLE} items");
        let kind = CauseKind::FieldValueTooMany;
        causes.push(Cause::new(kind, path, Some(&json!(seen.len())), &detail));
    }
    causes
}
