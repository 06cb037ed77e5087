use std::sync::Arc;

use serde_json::{Map, Value};

use super::operation::{Operation, capitalized};
use super::parameters;
use super::schemas::Schemas;
use crate::resources::{ServedResource, Subresource};

/// Every address of the resources of a group and version, and what can be done there.
pub(super) fn all(served: &[Arc<ServedResource>], schemas: &Schemas) -> Value {
    let mut paths = Map::new();
    for one in served {
        add(&mut paths, one, schemas);
    }
    Value::Object(paths)
}

fn add(paths: &mut Map<String, Value>, served: &ServedResource, schemas: &Schemas) {
    let kind = served.kind();
    let root = match kind.group() {
        "" => format!("/api/{}", kind.version()),
        group => format!("/apis/{group}/{}", kind.version()),
    };
    let plural = &served.resource.plural;
    let (collection, place, names): (String, &str, &[&str]) = match served.is_namespaced() {
        true => (
            format!("{root}/namespaces/{{namespace}}/{plural}"),
            "Namespaced",
            &["namespace"],
        ),
        false => (format!("{root}/{plural}"), "", &[]),
    };
    let operation = Operation {
        served,
        schemas,
        kind,
        part: "",
        place,
    };
    let offered = |verbs: &[&'static str]| -> Vec<&'static str> {
        let verbs = verbs.iter().copied();
        verbs.filter(|verb| served.has_verb(verb)).collect()
    };
    let verbs = offered(&["list", "create", "deletecollection"]);
    insert(paths, collection.clone(), operation, (&verbs, names));
    if served.is_namespaced() {
        let everywhere = Operation {
            part: "ForAllNamespaces",
            place: "",
            ..operation
        };
        let verbs = offered(&["list"]);
        insert(paths, format!("{root}/{plural}"), everywhere, (&verbs, &[]));
    }
    let item = format!("{collection}/{{name}}");
    let names = [&["name"], names].concat();
    let verbs = offered(&["get", "update", "patch", "delete"]);
    insert(paths, item.clone(), operation, (&verbs, &names));
    for part in &served.subresources {
        add_part(paths, &item, operation, (part, &names));
    }
}

fn add_part(
    paths: &mut Map<String, Value>,
    item: &str,
    operation: Operation<'_>,
    (part, names): (&Subresource, &[&str]),
) {
    let suffix = capitalized(&part.name);
    let operation = Operation {
        kind: &part.kind,
        part: &suffix,
        ..operation
    };
    let verbs: Vec<&str> = part.verbs.iter().map(String::as_str).collect();
    insert(
        paths,
        format!("{item}/{}", part.name),
        operation,
        (&verbs, names),
    );
}

fn insert(
    paths: &mut Map<String, Value>,
    path: String,
    operation: Operation<'_>,
    (verbs, names): (&[&str], &[&str]),
) {
    let mut entry = Map::new();
    for verb in verbs {
        if let Some((method, operation)) = operation.of(verb) {
            entry.insert(method.to_owned(), operation);
        }
    }
    if !entry.is_empty() {
        let parameters = parameters::path(names);
        entry.insert("parameters".to_owned(), Value::Array(parameters));
        paths.insert(path, Value::Object(entry));
    }
}
