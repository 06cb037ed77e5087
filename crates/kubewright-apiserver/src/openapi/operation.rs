//! The operations of the resources.

use kubewright_core::Kind;
use serde_json::{Map, Value, json};

use super::parameters::{DELETE, LIST, PATCH, WRITE, query};
use super::schemas::{Schemas, reference};
use crate::resources::ServedResource;

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
const TYPES: [&str; 3] = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
];

/// The operations of one path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation<'a> {
    pub(super) served: &'a ServedResource,
    pub(super) schemas: &'a Schemas,
    /// The kind that is read and written.
    pub(super) kind: &'a Kind,
    /// The prefix of the kind in operation ids: `Namespaced`, or empty.
    pub(super) prefix: &'a str,
    /// The suffix of the kind in operation ids, such as `Status`, or empty.
    pub(super) suffix: &'a str,
}

impl Operation<'_> {
    /// The HTTP method and the operation of a verb.
    pub(super) fn of(&self, verb: &str) -> Option<(&'static str, Value)> {
        let (method, action, name) = match verb {
            "get" => ("get", "get", "read"),
            "list" => ("get", "list", "list"),
            "create" => ("post", "post", "create"),
            "update" => ("put", "put", "replace"),
            "patch" => ("patch", "patch", "patch"),
            "delete" => ("delete", "delete", "delete"),
            "deletecollection" => ("delete", "deletecollection", "deleteCollection"),
            _ => return None,
        };
        let kind = self.kind;
        let mut operation = json!({
            "operationId": self.id(name),
            "tags": [self.tag()],
            "responses": self.responses(verb),
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": {
                "group": kind.group(), "version": kind.version(), "kind": kind.kind,
            },
        });
        let parameters = match verb {
            "list" => query(LIST),
            "create" | "update" => query(WRITE),
            "patch" => query(PATCH),
            "delete" => query(DELETE),
            "deletecollection" => [query(DELETE), query(LIST)].concat(),
            _ => Vec::new(),
        };
        if !parameters.is_empty() {
            operation["parameters"] = Value::Array(parameters);
        }
        if let Some(body) = self.body(verb) {
            operation["requestBody"] = body;
        }
        Some((method, operation))
    }

    /// The operation id, such as `readAppsV1NamespacedDeploymentStatus`.
    fn id(&self, name: &str) -> String {
        let version = &self.served.kind().group_version;
        let group = match version.group.as_str() {
            "" => "Core".to_owned(),
            group => group
                .trim_end_matches(".k8s.io")
                .split('.')
                .map(capitalized)
                .collect(),
        };
        let version = capitalized(&version.version);
        let kind = &self.served.kind().kind;
        format!("{name}{group}{version}{}{kind}{}", self.prefix, self.suffix)
    }

    fn tag(&self) -> String {
        let version = &self.served.kind().group_version;
        let group = match version.group.as_str() {
            "" => "core".to_owned(),
            group => group.trim_end_matches(".k8s.io").replace('.', "_"),
        };
        format!("{group}_{}", version.version)
    }

    fn own_schema(&self) -> Value {
        let found = self.schemas.reference(self.kind);
        found.unwrap_or_else(|| json!({"type": "object"}))
    }

    fn responses(&self, verb: &str) -> Value {
        let status = || reference(&format!("{META}.Status"));
        let schema = match verb {
            "list" => {
                let version = &self.served.kind().group_version;
                let list = Kind::new(
                    version.group.clone(),
                    version.version.clone(),
                    self.served.list_kind.clone(),
                );
                let found = self.schemas.reference(&list);
                found.unwrap_or_else(|| json!({"type": "object"}))
            }
            "delete" | "deletecollection" => status(),
            _ => self.own_schema(),
        };
        let codes: &[(&str, &str)] = match verb {
            "create" => &[("200", "OK"), ("201", "Created"), ("202", "Accepted")],
            "update" | "patch" => &[("200", "OK"), ("201", "Created")],
            "delete" => &[("200", "OK"), ("202", "Accepted")],
            _ => &[("200", "OK")],
        };
        let mut responses = Map::new();
        for (code, text) in codes {
            let content = content(&TYPES, &schema);
            responses.insert(
                (*code).to_owned(),
                json!({"description": text, "content": content}),
            );
        }
        responses.insert("401".to_owned(), json!({"description": "Unauthorized"}));
        Value::Object(responses)
    }

    fn body(&self, verb: &str) -> Option<Value> {
        let content = match verb {
            "create" | "update" => content(&["*/*"], &self.own_schema()),
            "delete" | "deletecollection" => {
                content(&["*/*"], &reference(&format!("{META}.DeleteOptions")))
            }
            "patch" => {
                let mut types = vec![
                    "application/apply-patch+yaml",
                    "application/json-patch+json",
                    "application/merge-patch+json",
                ];
                if self.served.custom().is_none() {
                    types.push("application/strategic-merge-patch+json");
                }
                content(&types, &reference(&format!("{META}.Patch")))
            }
            _ => return None,
        };
        Some(json!({"required": true, "content": content}))
    }
}

fn content(types: &[&str], schema: &Value) -> Value {
    let entries = types
        .iter()
        .map(|media_type| ((*media_type).to_owned(), json!({"schema": schema})));
    Value::Object(entries.collect())
}

/// A word with its first letter in upper case.
pub(super) fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
