//! The schema of a version.

use kubewright_wire::status::Cause;
use serde_json::{Value, json};

use super::costs::{Costs, RuleLimit, cardinality_below};
use super::defaults::check_defaults;
use super::expressions::{NodeContext, check_form, check_rules};
use super::list_rules::check_list_rules;
use super::structure::check_structure;
use crate::custom::is_embedded;
use crate::json::text;

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
/// The fields that are allowed at the root of a schema with the status subresource.
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
    if has_status {
        let mut members = schema.as_object().into_iter().flatten();
        let is_forbidden = members.any(|(name, value)| {
            let is_set = !matches!(value, Value::Null | Value::Bool(false));
            is_set && !AT_ROOT.contains(&name.as_str())
        });
        if is_forbidden {
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
    let root = Node {
        path: path.clone(),
        is_root: true,
        position: Position::Outside,
        forbidden_default: None,
        context: NodeContext {
            is_resource: true,
            uncorrelated: None,
            cardinality: Some(1),
        },
    };
    walk.visit(schema, &root);
    causes.extend(walk.schema);
    causes.extend(walk.rules);
    causes.extend(walk.costs.causes(&path));
    causes
}

/// A node of the schema.
#[derive(Clone)]
struct Node {
    path: String,
    is_root: bool,
    /// Where the node is in relation to the metadata of an object.
    position: Position,
    /// Why the node cannot have a default.
    forbidden_default: Option<String>,
    context: NodeContext,
}

/// Whether a node is in the metadata of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Outside,
    InMetadata,
}

/// The errors of the nodes that were visited.
struct Walk {
    schema: Vec<Cause>,
    rules: Vec<Cause>,
    costs: Costs,
    is_structural: bool,
}

impl Walk {
    /// `ValidateCustomResourceDefinitionOpenAPISchema`
    fn visit(&mut self, schema: &Value, node: &Node) {
        let found = self.schema.len();
        self.check_unsupported(schema, node);
        self.children(schema, node);
        self.check_lists(schema, &node.path);
        self.schema.extend(check_form(schema, &node.path));
        // Rules are checked where the schema is valid.
        if self.is_structural && self.schema.len() == found {
            let context = &node.context;
            let found = check_rules(schema, &node.path, context, &mut self.costs);
            self.rules.extend(found);
        }
    }

    fn children(&mut self, schema: &Value, node: &Node) {
        let is_resource = node.is_root || is_embedded(schema);
        for (name, below) in schema["properties"].as_object().into_iter().flatten() {
            let mut child = node.child(format!("properties[{name}]"), schema, below);
            if is_resource && matches!(name.as_str(), "metadata" | "kind" | "apiVersion") {
                child.position = Position::InMetadata;
                if node.is_root {
                    child.forbidden_default = Some(format!("in top-level {name}"));
                }
            }
            self.visit(below, &child);
        }
        if let Some(rest) = schema
            .get("additionalProperties")
            .filter(|rest| rest.is_object())
        {
            let has_properties = schema["properties"]
                .as_object()
                .is_some_and(|all| !all.is_empty());
            if has_properties {
                let path = format!("{}.additionalProperties", node.path);
                let detail = "additionalProperties and properties are mutual exclusive";
                self.schema.push(Cause::forbidden(&path, detail));
            }
            let mut child = node.child("additionalProperties".to_owned(), schema, rest);
            if node.position == Position::InMetadata {
                let why = "inside additionalProperties applying to object metadata";
                child.forbidden_default = Some(why.to_owned());
            }
            self.visit(rest, &child);
        }
        if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
            let mut child = node.child("items".to_owned(), schema, items);
            // The items of other lists cannot be matched with those of the old object.
            if text(&schema["x-kubernetes-list-type"]) != "map"
                && child.context.uncorrelated.is_none()
            {
                child.context.uncorrelated = Some(node.path.clone());
            }
            self.visit(items, &child);
        }
    }

    /// Fields of OpenAPI that definitions cannot use (`specStandardValidatorV3`).
    fn check_unsupported(&mut self, schema: &Value, node: &Node) {
        let at = |name: &str| format!("{}.{name}", node.path);
        let causes = &mut self.schema;
        let kind = text(&schema["type"]);
        if !kind.is_empty() && !TYPES.contains(&kind) {
            causes.push(Cause::not_supported(&at("type"), &schema["type"], &TYPES));
        }
        if schema.get("default").is_some()
            && let Some(why) = &node.forbidden_default
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
        if node.position == Position::InMetadata && is_embedded(schema) {
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

    /// The types of lists and maps.
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
        causes.extend(check_list_rules(schema, path));
    }
}

impl Node {
    /// The node of a child with a name and a schema.
    fn child(&self, name: String, parent_schema: &Value, schema: &Value) -> Self {
        Self {
            path: format!("{}.{name}", self.path),
            is_root: false,
            context: NodeContext {
                is_resource: is_embedded(schema),
                uncorrelated: self.context.uncorrelated.clone(),
                cardinality: cardinality_below(self.context.cardinality, parent_schema),
            },
            ..self.clone()
        }
    }
}
