//! Checks of definitions: size, versions, printer columns, selectable fields.

use serde_json::Value;

use super::finding::{Finding, Findings, Rule};
use super::json_path::{Target, follow};
use super::schema::check_schema;

/// The size limit of `kubectl apply`, which stores the object in an annotation:
/// `TotalAnnotationSizeLimitB` in apimachinery's api/validation/objectmeta.go.
const CLIENT_SIDE_APPLY: usize = 256 * 1024;

/// Checks a definition.
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
                "there is a status without a status subresource: every write to the object may \
change its status, and its generation counts both",
            );
        }
    }
    findings.into_vec()
}

fn check_size(findings: &mut Findings, definition: &Value) {
    let bytes = definition.to_string().len();
    if bytes > CLIENT_SIDE_APPLY {
        let message = format!(
            "{bytes} bytes; the limit of `kubectl apply` is {CLIENT_SIDE_APPLY}: shorten descriptions, \
or apply it with --server-side"
        );
        findings.add(Rule::Size, "", message);
    }
}

fn check_versions(findings: &mut Findings, spec: &Value) {
    let versions = spec["versions"].as_array().map_or(&[][..], Vec::as_slice);
    let stored = versions
        .iter()
        .filter(|version| version["storage"] == true)
        .count();
    if stored != 1 {
        let message = format!("{stored} versions have storage: true; set it for exactly one");
        findings.add(Rule::Versions, "", message);
    }
    if !versions.iter().any(|version| version["served"] == true) {
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
            "the versions differ and there is no conversion: a write in one version drops the \
fields that only the other has",
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
            Target::Missing(missing) => findings.add(
                Rule::Column,
                place,
                format!("{path} does not exist: there is no {missing}"),
            ),
            Target::InvalidPath => findings.add(
                Rule::Column,
                place,
                format!("{path:?} is not a path: write it as .spec.name"),
            ),
            Target::Schema(found) if !shows(column, found) => findings.add(
                Rule::Column,
                place,
                format!(
                    "{path} is a {}, which a column of type {} does not show",
                    found["type"], column["type"]
                ),
            ),
            Target::Schema(_) | Target::Open => {}
        }
    }
}

/// Whether a column of this type shows values of the schema: `cellForJSONValue` in
/// apiextensions-apiserver's tableconvertor.go.
fn shows(column: &Value, schema: &Value) -> bool {
    let schema_type = schema["type"].as_str().unwrap_or_default();
    match column["type"].as_str().unwrap_or_default() {
        "integer" | "number" => matches!(schema_type, "integer" | "number" | ""),
        "boolean" => matches!(schema_type, "boolean" | ""),
        "date" => matches!(schema_type, "string" | ""),
        _ => true,
    }
}

fn check_selectable(findings: &mut Findings, version: &Value, schema: &Value) {
    for field in version["selectableFields"].as_array().into_iter().flatten() {
        let path = field["jsonPath"].as_str().unwrap_or_default();
        let place = format!("selectable field {path}");
        let message = match follow(schema, path) {
            Target::Schema(found) => match found["type"].as_str() {
                Some("string" | "boolean" | "integer") => continue,
                _ => "only strings, booleans and integers are selectable".to_owned(),
            },
            Target::Missing(missing) => format!("it does not exist: there is no {missing}"),
            Target::Open => "the schema does not define it".to_owned(),
            Target::InvalidPath => "it is not a path: write it as .spec.name".to_owned(),
        };
        findings.add(Rule::Selectable, place, message);
    }
}
