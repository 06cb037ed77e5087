//! The versions of a definition.

use std::collections::{BTreeMap, BTreeSet};

use kubewright_wire::status::Cause;
use serde_json::{Value, json};

use super::costs::RuleLimit;
use super::fields::preserves_unknown_fields;
use super::schema::check_schema;
use super::structure::has_default;
use super::subresources::{check_columns, check_selectable, check_subresources};
use crate::json::{items, text};
use kubewright_core::NameRule;

const LONGEST_WARNING: usize = 256;

/// The errors of the versions of a definition. What is equal in all of them is checked by
/// [`check_shared`], and reported at the paths that earlier versions of Kubernetes had.
pub(super) fn check_versions(definition: &Value, old: Option<&Value>) -> Vec<Cause> {
    let spec = &definition["spec"];
    let empty = Vec::new();
    let versions = spec["versions"].as_array().unwrap_or(&empty);
    let schema = |version: &Value| version["schema"].get("openAPIV3Schema").cloned();
    let mut causes = Vec::new();
    for (index, version) in versions.iter().enumerate() {
        if schema(version).is_none() {
            let path = format!("spec.versions[{index}].schema.openAPIV3Schema");
            causes.push(Cause::required(&path, ""));
        }
    }
    let has_defaults = |version: &Value| schema(version).is_some_and(|schema| has_default(&schema));
    if preserves_unknown_fields(definition) && versions.iter().any(has_defaults) {
        let detail = "must be false in order to use defaults in the schema";
        let path = "spec.preserveUnknownFields";
        causes.push(Cause::invalid(path, &json!(true), detail));
    }
    let before = versions_of(old);
    let shared = Shared::of(versions);
    for (index, version) in versions.iter().enumerate() {
        let path = format!("spec.versions[{index}]");
        let problems = NameRule::Dns1035.problems(text(&version["name"]));
        if !problems.is_empty() {
            let path = format!("{path}.name");
            causes.push(Cause::invalid(&path, &version["name"], &problems.join(",")));
        }
        causes.extend(check_warning(version, &path));
        let limit = rule_limit(version, before.get(text(&version["name"])).copied());
        causes.extend(shared.check(version, &path, Side::Own, limit));
    }
    let mut names = BTreeSet::new();
    if !versions
        .iter()
        .all(|version| names.insert(text(&version["name"])))
    {
        let detail = "must contain unique version names";
        causes.push(Cause::invalid("spec.versions", &spec["versions"], detail));
    }
    if versions
        .iter()
        .filter(|version| version["storage"] == true)
        .count()
        != 1
    {
        let detail = "must have exactly one version marked as storage version";
        causes.push(Cause::invalid("spec.versions", &spec["versions"], detail));
    }
    // Kubernetes also reports the first version at the path that it once had.
    if let Some(name) = versions.first().map(|version| &version["name"]) {
        let problems = NameRule::Dns1035.problems(text(name));
        if !text(name).is_empty() && !problems.is_empty() {
            causes.push(Cause::invalid("spec.version", name, &problems.join(",")));
        }
    }
    causes
}

/// The errors of what is equal in all versions.
pub(super) fn check_shared(spec: &Value, old: Option<&Value>) -> Vec<Cause> {
    let empty = Vec::new();
    let versions = spec["versions"].as_array().unwrap_or(&empty);
    let before = versions_of(old);
    let shared = Shared::of(versions);
    let mut causes = Vec::new();
    if let Some(first) = versions.first() {
        let limit = rule_limit(first, before.get(text(&first["name"])).copied());
        causes.extend(shared.check(first, "spec", Side::Shared, limit));
    }
    causes
}

/// The fields that are equal in all versions.
struct Shared {
    fields: Vec<&'static str>,
    has_status: bool,
}

const SHARED: [&str; 4] = [
    "schema",
    "subresources",
    "additionalPrinterColumns",
    "selectableFields",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// What only one version has.
    Own,
    /// What all versions have.
    Shared,
}

impl Shared {
    fn of(versions: &[Value]) -> Self {
        let is_shared = |field: &&str| {
            let field = *field;
            let first = versions.first().map(|version| &version[field]);
            versions
                .iter()
                .all(|version| Some(&version[field]) == first)
        };
        Self {
            fields: SHARED.into_iter().filter(is_shared).collect(),
            has_status: versions.iter().any(has_status),
        }
    }

    fn check(&self, version: &Value, path: &str, side: Side, limit: RuleLimit) -> Vec<Cause> {
        let mut causes = Vec::new();
        let is_checked = |field: &str| self.fields.contains(&field) == (side == Side::Shared);
        if is_checked("schema")
            && let Some(schema) = version["schema"].get("openAPIV3Schema")
        {
            let (path, has_status) = match side {
                Side::Own => (format!("{path}.schema"), has_status(version)),
                Side::Shared => (format!("{path}.validation"), self.has_status),
            };
            causes.extend(check_schema(schema, &path, has_status, limit));
        }
        if is_checked("subresources") {
            let path = format!("{path}.subresources");
            causes.extend(check_subresources(&version["subresources"], &path));
        }
        if is_checked("additionalPrinterColumns") {
            let path = format!("{path}.additionalPrinterColumns");
            causes.extend(check_columns(&version["additionalPrinterColumns"], &path));
        }
        if is_checked("selectableFields") {
            let schema = &version["schema"]["openAPIV3Schema"];
            let path = format!("{path}.selectableFields");
            causes.extend(check_selectable(
                &version["selectableFields"],
                schema,
                &path,
            ));
        }
        causes
    }
}

/// The versions of a definition by name.
fn versions_of(definition: Option<&Value>) -> BTreeMap<&str, &Value> {
    let versions = definition.map_or(&Value::Null, |definition| &definition["spec"]["versions"]);
    items(versions)
        .map(|version| (text(&version["name"]), version))
        .collect()
}

/// A schema that was accepted before has no cost limit.
fn rule_limit(version: &Value, before: Option<&Value>) -> RuleLimit {
    if before.is_some_and(|before| before["schema"] == version["schema"]) {
        RuleLimit::Lifted
    } else {
        RuleLimit::Enforced
    }
}

fn has_status(version: &Value) -> bool {
    version["subresources"]["status"].is_object()
}

fn check_warning(version: &Value, path: &str) -> Vec<Cause> {
    let warning = &version["deprecationWarning"];
    let Some(message) = warning.as_str() else {
        return Vec::new();
    };
    let mut details = Vec::new();
    if version["deprecated"] != true {
        details.push("can only be set for deprecated versions".to_owned());
    } else if message.len() > LONGEST_WARNING {
        details.push("must be <= 256 characters long".to_owned());
    } else if message.is_empty() {
        details.push("must not be an empty string".to_owned());
    } else if let Some(at) = message.find(char::is_control) {
        details.push(format!(
            "must only contain printable UTF-8 characters; non-printable character found at index \
             {at}"
        ));
    }
    let path = format!("{path}.deprecationWarning");
    let causes = details.iter();
    causes
        .map(|detail| Cause::invalid(&path, warning, detail))
        .collect()
}
