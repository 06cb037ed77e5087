use serde_json::Value;

use super::finding::{Finding, Findings, Rule};
use super::json_path::{Reach, follow};
use super::schema::check_schema;

/// What `kubectl apply` keeps of an object in one of its annotations is no longer than this:
/// `TotalAnnotationSizeLimitB` in apimachinery's api/validation/objectmeta.go.
const CLIENT_SIDE_APPLY: usize = 256 * 1024;

/// Looks at a definition.
pub(super) fn check_definition(definition: &Value) -> Vec<Finding> {
    let mut findings = Findings::of(definition);
    check_size(&mut findings, definition);
    check_versions(&mut findings, &definition["spec"]);
    for version in definition["spec"]["versions"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let name = version["name"].as_str().unwrap_or_default();
        let schema = &version["schema"]["openAPIV3Schema"];
        check_schema(&mut findings, schema, name);
        check_columns(&mut findings, version, schema);
        check_selectable(&mut findings, version, schema);
        let has_status = schema["properties"].get("status").is_some();
        if has_status && !version["subresources"]["status"].is_object() {
            findings.add(
                Rule::Status,
                name,
                "there is a status and no status subresource: whoever writes the object writes its \
                 status, and its generation counts both",
            );
        }
    }
    findings.into_vec()
}

fn check_size(findings: &mut Findings, definition: &Value) {
    let bytes = definition.to_string().len();
    if bytes > CLIENT_SIDE_APPLY {
        let message = format!(
            "{bytes} bytes; `kubectl apply` stops at {CLIENT_SIDE_APPLY}: shorten descriptions, or \
             apply it with --server-side"
        );
        findings.add(Rule::Size, "", message);
    }
}

fn check_versions(findings: &mut Findings, spec: &Value) {
    let none = Vec::new();
    let versions = spec["versions"].as_array().unwrap_or(&none);
    let stored = versions.iter().filter(|one| one["storage"] == true).count();
    if stored != 1 {
        let message = format!("{stored} versions are stored, and it has to be one");
        findings.add(Rule::Versions, "", message);
    }
    if !versions.iter().any(|one| one["served"] == true) {
        findings.add(Rule::Versions, "", "no version is served");
    }
    let converts = spec["conversion"]["strategy"] == "Webhook";
    let differ = versions.windows(2).any(|pair| {
        pair[0]["schema"]["openAPIV3Schema"]["properties"]
            != pair[1]["schema"]["openAPIV3Schema"]["properties"]
    });
    if differ && !converts {
        findings.add(
            Rule::Conversion,
            "",
            "the versions differ and nothing converts between them: what one of them does not know \
             is dropped whenever it writes",
        );
    }
}

fn check_columns(findings: &mut Findings, version: &Value, schema: &Value) {
    let columns = version["additionalPrinterColumns"].as_array();
    for column in columns.into_iter().flatten() {
        let path = column["jsonPath"].as_str().unwrap_or_default();
        let name = column["name"].as_str().unwrap_or_default();
        let place = format!("column {name:?}");
        match follow(schema, path) {
            Reach::Nowhere(missing) => findings.add(
                Rule::Column,
                place,
                format!("{path} leads nowhere: there is no {missing}"),
            ),
            Reach::Unreadable => findings.add(
                Rule::Column,
                place,
                format!("{path:?} is no path: write it as .spec.name"),
            ),
            Reach::Value(found) if !shows(column, found) => findings.add(
                Rule::Column,
                place,
                format!(
                    "{path} is a {}, which a column of type {} does not show",
                    found["type"], column["type"]
                ),
            ),
            Reach::Value(_) | Reach::Open => {}
        }
    }
}

/// Whether a column shows values of the schema, as `cellForJSONValue` does in
/// apiextensions-apiserver's tableconvertor.go.
fn shows(column: &Value, schema: &Value) -> bool {
    let form = schema["type"].as_str().unwrap_or_default();
    match column["type"].as_str().unwrap_or_default() {
        "integer" | "number" => matches!(form, "integer" | "number" | ""),
        "boolean" => matches!(form, "boolean" | ""),
        "date" => matches!(form, "string" | ""),
        _ => true,
    }
}

fn check_selectable(findings: &mut Findings, version: &Value, schema: &Value) {
    for field in version["selectableFields"].as_array().into_iter().flatten() {
        let path = field["jsonPath"].as_str().unwrap_or_default();
        let place = format!("selectable field {path}");
        let message = match follow(schema, path) {
            Reach::Value(found) => match found["type"].as_str() {
                Some("string" | "boolean" | "integer") => continue,
                _ => "only strings, booleans and integers can be selected by".to_owned(),
            },
            Reach::Nowhere(missing) => format!("it leads nowhere: there is no {missing}"),
            Reach::Open => "the schema does not say what is there".to_owned(),
            Reach::Unreadable => "it is no path: write it as .spec.name".to_owned(),
        };
        findings.add(Rule::Selectable, place, message);
    }
}
