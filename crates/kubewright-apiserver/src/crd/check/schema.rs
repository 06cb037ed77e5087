use kubewright_wire::status::Cause;
use serde_json::{Value, json};

use super::costs::{Costs, RuleLimit, cardinality_below};
use super::defaults::check_defaults;
use super::definition::text;
use super::expressions::{Around, check_form, check_rules};
use super::structure::check_structure;
use crate::crd::expression_type::is_embedded;

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
/// What may stand at the root of a schema beside a status of its own.
const AT_ROOT: [&str; 22] = [
    "description",
    "type",
    "format",
    "title",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "multipleOf",
    "required",
    "items",
    "properties",
    "externalDocs",
    "example",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];
const AT_ROOT_SHOWN: &str = "only [Description Type Format Title Maximum ExclusiveMaximum Minimum \
     ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf \
     Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields \
     are allowed at the root of the schema if the status subresource is enabled";

/// The schema of a version (`validateCustomResourceDefinitionValidation`).
pub(super) fn check_schema(
    schema: &Value,
    path: &str,
    has_status: bool,
    limit: RuleLimit,
) -> Vec<Cause> {
    let path = format!("{path}.openAPIV3Schema");
    let mut causes = Vec::new();
    let members = schema.as_object();
    if has_status {
        let is_set =
            |(_, value): &(&String, &Value)| !matches!(value, Value::Null | Value::Bool(false));
        let mut members = members.into_iter().flatten().filter(is_set);
        if members.any(|(name, _)| !AT_ROOT.contains(&name.as_str())) {
            causes.push(Cause::invalid(&path, schema, AT_ROOT_SHOWN));
        }
        if !matches!(text(&schema["type"]), "" | "object") {
            let detail = "only \"object\" is allowed as the type at the root of the schema if the \
                          status subresource is enabled";
            causes.push(Cause::invalid(
                &format!("{path}.type"),
                &schema["type"],
                detail,
            ));
        }
    }
    if schema["nullable"] == true {
        let detail = "nullable cannot be true at the root";
        causes.push(Cause::forbidden(&format!("{path}.nullable"), detail));
    }
    let mut structure = check_structure(schema, &path);
    if structure.is_empty() {
        structure = check_defaults(schema, &path);
    }
    let is_structural = structure.is_empty();
    causes.extend(structure);
    let mut walk = Walk {
        schema: Vec::new(),
        rules: Vec::new(),
        costs: Costs::new(limit),
        is_structural,
    };
    let root = Place {
        path: path.clone(),
        is_root: true,
        metadata: None,
        forbidden_default: None,
        around: Around {
            is_resource: true,
            uncorrelated: None,
            cardinality: Some(1),
        },
    };
    walk.node(schema, &root);
    causes.extend(walk.schema);
    causes.extend(walk.rules);
    causes.extend(walk.costs.causes(&path));
    causes
}

/// Where a node stands.
#[derive(Clone)]
struct Place {
    path: String,
    is_root: bool,
    /// Set inside the metadata of a whole object.
    metadata: Option<()>,
    /// Why there may be no default here.
    forbidden_default: Option<String>,
    around: Around,
}

struct Walk {
    schema: Vec<Cause>,
    rules: Vec<Cause>,
    costs: Costs,
    is_structural: bool,
}

impl Walk {
    /// `ValidateCustomResourceDefinitionOpenAPISchema`
    fn node(&mut self, schema: &Value, place: &Place) {
        let found = self.schema.len();
        self.check_unsupported(schema, place);
        self.children(schema, place);
        self.check_lists(schema, &place.path);
        self.schema.extend(check_form(schema, &place.path));
        // Rules are looked at where nothing else is wrong.
        if self.is_structural && self.schema.len() == found {
            let around = &place.around;
            let found = check_rules(schema, &place.path, around, &mut self.costs);
            self.rules.extend(found);
        }
    }

    fn children(&mut self, schema: &Value, place: &Place) {
        let is_resource = place.is_root || is_embedded(schema);
        for (name, below) in schema["properties"].as_object().into_iter().flatten() {
            let mut inner = place.below(format!("properties[{name}]"), schema, below);
            if is_resource && matches!(name.as_str(), "metadata" | "kind" | "apiVersion") {
                inner.metadata = Some(());
                if place.is_root {
                    inner.forbidden_default = Some(format!("in top-level {name}"));
                }
            }
            self.node(below, &inner);
        }
        if let Some(rest) = schema
            .get("additionalProperties")
            .filter(|rest| rest.is_object())
        {
            let has_properties = schema["properties"]
                .as_object()
                .is_some_and(|all| !all.is_empty());
            if has_properties {
                let path = format!("{}.additionalProperties", place.path);
                let detail = "additionalProperties and properties are mutual exclusive";
                self.schema.push(Cause::forbidden(&path, detail));
            }
            let mut inner = place.below("additionalProperties".to_owned(), schema, rest);
            if place.metadata.is_some() {
                let why = "inside additionalProperties applying to object metadata";
                inner.forbidden_default = Some(why.to_owned());
            }
            self.node(rest, &inner);
        }
        if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
            let mut inner = place.below("items".to_owned(), schema, items);
            if text(&schema["x-kubernetes-list-type"]) != "map" {
                let place = inner
                    .around
                    .uncorrelated
                    .get_or_insert_with(|| place.path.clone());
                debug_assert!(!place.is_empty(), "every node has a path");
            }
            self.node(items, &inner);
        }
    }

    /// What OpenAPI has and definitions do not (`specStandardValidatorV3`).
    fn check_unsupported(&mut self, schema: &Value, place: &Place) {
        let at = |name: &str| format!("{}.{name}", place.path);
        let causes = &mut self.schema;
        let kind = text(&schema["type"]);
        if !kind.is_empty() && !TYPES.contains(&kind) {
            causes.push(Cause::not_supported(&at("type"), &schema["type"], &TYPES));
        }
        if schema.get("default").is_some()
            && let Some(why) = &place.forbidden_default
        {
            causes.push(Cause::forbidden(
                &at("default"),
                &format!("must not be set {why}"),
            ));
        }
        for name in [
            "id",
            "additionalItems",
            "patternProperties",
            "definitions",
            "dependencies",
            "$ref",
        ] {
            if schema.get(name).is_some_and(|value| !value.is_null()) {
                causes.push(Cause::forbidden(
                    &at(name),
                    &format!("{name} is not supported"),
                ));
            }
        }
        if kind == "null" {
            let detail = "type cannot be set to null, use nullable as an alternative";
            causes.push(Cause::forbidden(&at("type"), detail));
        }
        if schema["items"].is_array() {
            let detail = "items must be a schema object and not an array";
            causes.push(Cause::forbidden(&at("items"), detail));
        }
        if place.metadata.is_some() && is_embedded(schema) {
            let detail = "must not be used inside of resource meta";
            causes.push(Cause::forbidden(
                &at("x-kubernetes-embedded-resource"),
                detail,
            ));
        }
        if schema["uniqueItems"] == true {
            let detail = "uniqueItems cannot be set to true since the runtime complexity becomes \
                          quadratic";
            causes.push(Cause::forbidden(&at("uniqueItems"), detail));
        }
        if schema["x-kubernetes-preserve-unknown-fields"] == false {
            let path = at("x-kubernetes-preserve-unknown-fields");
            causes.push(Cause::invalid(
                &path,
                &json!(false),
                "must be true or undefined",
            ));
        }
    }

    /// The kinds of lists and maps.
    fn check_lists(&mut self, schema: &Value, path: &str) {
        let causes = &mut self.schema;
        for (name, wanted, supported) in [
            (
                "x-kubernetes-map-type",
                "object",
                &["atomic", "granular"][..],
            ),
            ("x-kubernetes-list-type", "array", &["atomic", "set", "map"]),
        ] {
            let Some(given) = schema[name].as_str() else {
                continue;
            };
            let detail = format!("must be {wanted} if {name} is specified");
            match text(&schema["type"]) {
                "" => causes.push(Cause::required(&format!("{path}.type"), &detail)),
                kind if kind != wanted => {
                    let at = format!("{path}.type");
                    causes.push(Cause::invalid(&at, &schema["type"], &detail));
                }
                _ => {}
            }
            if !supported.contains(&given) {
                let at = format!("{path}.{name}");
                causes.push(Cause::not_supported(&at, &schema[name], supported));
            }
        }
        causes.extend(super::list_rules::check_list_rules(schema, path));
    }
}

impl Place {
    /// The place of a part of the schema that stands here.
    fn below(&self, name: String, here: &Value, schema: &Value) -> Self {
        Self {
            path: format!("{}.{name}", self.path),
            is_root: false,
            around: Around {
                is_resource: is_embedded(schema),
                uncorrelated: self.around.uncorrelated.clone(),
                cardinality: cardinality_below(self.around.cardinality, here),
            },
            ..self.clone()
        }
    }
}
