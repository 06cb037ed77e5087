//! The paths of the resources, with their operations.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::operation::{Operation, capitalized};
use super::parameters;
use super::schemas::Schemas;
use crate::resources::{ServedResource, Subresource};

/// The paths of the resources of a group and version.
pub(super) fn all(resources: &[Arc<ServedResource>], schemas: &Schemas) -> Value {
    let mut paths = Map::new();
    for resource in resources {
        add(&mut paths, resource, schemas);
    }
    Value::Object(paths)
}

/// One path: its operations, the verbs that it offers, and the names of its parameters.
struct PathItem<'a> {
    path: String,
    operation: Operation<'a>,
    verbs: Vec<&'a str>,
    parameters: &'a [&'a str],
}

fn add(paths: &mut Map<String, Value>, served: &ServedResource, schemas: &Schemas) {
    let kind = served.kind();
    let root = match kind.group() {
        "" => format!("/api/{}", kind.version()),
        group => format!("/apis/{group}/{}", kind.version()),
    };
    let plural = &served.resource.plural;
    let is_namespaced = served.is_namespaced();
    let collection = if is_namespaced {
        format!("{root}/namespaces/{{namespace}}/{plural}")
    } else {
        format!("{root}/{plural}")
    };
    let parameters: &[&str] = if is_namespaced { &["namespace"] } else { &[] };
    let operation = Operation {
        served,
        schemas,
        kind,
        prefix: if is_namespaced { "Namespaced" } else { "" },
        suffix: "",
    };
    let offered = |verbs: &[&'static str]| -> Vec<&'static str> {
        let verbs = verbs.iter().copied();
        verbs.filter(|verb| served.has_verb(verb)).collect()
    };
    let mut items = vec![PathItem {
        path: collection.clone(),
        operation,
        verbs: offered(&["list", "create", "deletecollection"]),
        parameters,
    }];
    if is_namespaced {
        items.push(PathItem {
            path: format!("{root}/{plural}"),
            operation: Operation {
                prefix: "",
                suffix: "ForAllNamespaces",
                ..operation
            },
            verbs: offered(&["list"]),
            parameters: &[],
        });
    }
    let object_path = format!("{collection}/{{name}}");
    let object_parameters = [&["name"], parameters].concat();
    items.push(PathItem {
        path: object_path.clone(),
        operation,
        verbs: offered(&["get", "update", "patch", "delete"]),
        parameters: &object_parameters,
    });
    for item in items {
        insert(paths, item);
    }
    for subresource in &served.subresources {
        let suffix = capitalized(&subresource.name);
        let Subresource { name, kind, verbs } = subresource;
        insert(
            paths,
            PathItem {
                path: format!("{object_path}/{name}"),
                operation: Operation {
                    kind,
                    suffix: &suffix,
                    ..operation
                },
                verbs: verbs.iter().map(String::as_str).collect(),
                parameters: &object_parameters,
            },
        );
    }
}

/// Adds a path, unless it has no operations.
fn insert(paths: &mut Map<String, Value>, item: PathItem<'_>) {
    let mut entry = Map::new();
    for verb in item.verbs {
        if let Some((method, operation)) = item.operation.of(verb) {
            entry.insert(method.to_owned(), operation);
        }
    }
    if !entry.is_empty() {
        let parameters = parameters::path(item.parameters);
        entry.insert("parameters".to_owned(), Value::Array(parameters));
        paths.insert(item.path, Value::Object(entry));
    }
}
