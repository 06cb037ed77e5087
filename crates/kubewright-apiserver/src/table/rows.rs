//! Tables and metadata-only objects.

use std::sync::Arc;

use jiff::Timestamp;
use kubewright_kinds::BuiltinKind;
use kubewright_kinds::autoscaling::SCALE;
use kubewright_kinds::columns::{Column, CustomColumn, NAME, Row};
use kubewright_kinds::groups::{CORE, EVENTS};
use kubewright_kinds::json::text;
use kubewright_wire::status::{Reason, Status};
use serde_json::{Map, Value, json};

use super::form::{Form, Included};
use crate::resources::ServedResource;

/// The version of tables and partial objects.
const META: &str = "meta.k8s.io/v1";

/// Transforms the objects of one resource into the requested representation.
#[derive(Clone, Debug)]
pub(crate) struct Shaper {
    form: Form,
    resource: Arc<ServedResource>,
    /// Whether the columns were sent: a watch sends them once.
    has_columns: bool,
}

/// The columns of a kind.
enum Columns<'a> {
    Builtin(&'static BuiltinKind),
    Custom(&'a [CustomColumn]),
}

impl Shaper {
    pub(crate) fn new(form: Form, resource: Arc<ServedResource>) -> Self {
        Self {
            form,
            resource,
            has_columns: false,
        }
    }

    /// Transforms the object of a watch event. An object that cannot be transformed stays as it is.
    pub(crate) fn event(&mut self, object: &Value, now: Timestamp) -> Value {
        let mut value = self.object(object, now).unwrap_or_else(|_| object.clone());
        if let Form::Table(_) = self.form {
            if self.has_columns {
                value["columnDefinitions"] = Value::Null;
            }
            self.has_columns = true;
        }
        value
    }

    /// Transforms an object.
    pub(crate) fn object(&self, object: &Value, now: Timestamp) -> Result<Value, Status> {
        match self.form {
            Form::Whole => Ok(object.clone()),
            Form::Metadata => Ok(partial(object)),
            Form::MetadataList => Err(not_acceptable(format!(
                "you requested PartialObjectMetadataList, but the requested object is not a list \
                 ({})",
                self.go_type("")
            ))),
            Form::Table(included) => {
                let columns = self.columns(object);
                let rows = vec![row(&columns, object, included, now)];
                let metadata = version_of(&object["metadata"]);
                Ok(table(&columns, metadata, rows))
            }
        }
    }

    /// Transforms a list, given by its head and its objects.
    pub(crate) fn list<'a>(
        &self,
        head: &Map<String, Value>,
        objects: impl Iterator<Item = &'a Value>,
        now: Timestamp,
    ) -> Result<Value, Status> {
        let metadata = list_metadata(head);
        match self.form {
            Form::Metadata => Err(not_acceptable(format!(
                "you requested PartialObjectMetadata, but the requested object is a list ({})",
                self.go_type("List")
            ))),
            Form::Table(included) => {
                let columns = self.columns(&Value::Null);
                let rows = objects.map(|object| row(&columns, object, included, now));
                Ok(table(&columns, metadata, rows.collect()))
            }
            Form::Whole | Form::MetadataList => {
                let items: Vec<Value> = objects.map(partial).collect();
                Ok(json!({
                    "kind": "PartialObjectMetadataList", "apiVersion": META,
                    "metadata": metadata,
                    // Go encodes an empty slice that was never allocated as null.
                    "items": Some(items).filter(|items| !items.is_empty()),
                }))
            }
        }
    }

    /// The columns of an object. A scale has other columns than the object that is scaled.
    fn columns(&self, object: &Value) -> Columns<'_> {
        if object["kind"] == SCALE.kind && self.resource.kind().kind != SCALE.kind {
            return Columns::Builtin(&SCALE);
        }
        match self.resource.custom() {
            Some(custom) => Columns::Custom(&custom.columns),
            None => Columns::Builtin(self.resource.strategy),
        }
    }

    /// The Go type of the objects, or of a list of them.
    fn go_type(&self, suffix: &str) -> String {
        if self.resource.custom().is_some() {
            return format!("*unstructured.Unstructured{suffix}");
        }
        let kind = self.resource.kind();
        let package = match kind.group() {
            CORE | EVENTS => "core",
            group => group.split('.').next().unwrap_or_default(),
        };
        format!("*{package}.{}{suffix}", kind.kind)
    }
}

fn table(columns: &Columns<'_>, metadata: Value, rows: Vec<Value>) -> Value {
    let definitions: Vec<Value> = match columns {
        Columns::Builtin(kind) => kind.columns().iter().map(Column::definition).collect(),
        Columns::Custom(columns) => {
            let declared = columns.iter().map(CustomColumn::definition);
            std::iter::once(NAME.definition()).chain(declared).collect()
        }
    };
    let is_default = matches!(columns, Columns::Builtin(kind) if kind.declared_columns.is_empty());
    json!({
        "kind": "Table", "apiVersion": META, "metadata": metadata,
        "columnDefinitions": definitions,
        // Go encodes an empty slice that was never allocated as null. The default convertor
        // allocates none; those of kinds with declared columns do.
        "rows": Some(rows).filter(|rows| !is_default || !rows.is_empty()),
    })
}

fn row(columns: &Columns<'_>, object: &Value, included: Included, now: Timestamp) -> Value {
    let cells: Vec<Value> = match columns {
        Columns::Builtin(kind) => {
            // Columns read the stored form.
            let stored = kind.stored_as.map(|stored| (stored.encode)(object.clone()));
            let row = Row {
                object: stored.as_ref().unwrap_or(object),
                now,
            };
            kind.columns()
                .iter()
                .map(|column| column.cell(&row))
                .collect()
        }
        Columns::Custom(columns) => {
            let declared = columns.iter().map(|column| column.cell(object, now));
            let name = json!(text(&object["metadata"]["name"]));
            std::iter::once(name).chain(declared).collect()
        }
    };
    let included_object = match included {
        Included::Metadata => partial(object),
        Included::Object => object.clone(),
        // Clients recognize the end of the initial events by an annotation.
        Included::Nothing if is_end_of_initial_events(object) => partial(object),
        Included::Nothing => Value::Null,
    };
    let mut row = json!({"cells": cells, "object": included_object});
    if let Columns::Builtin(kind) = columns
        && let Some(conditions) = kind.row_conditions(object)
    {
        row["conditions"] = conditions;
    }
    row
}

fn is_end_of_initial_events(object: &Value) -> bool {
    let annotations = &object["metadata"]["annotations"];
    annotations["k8s.io/initial-events-end"] == "true"
}

/// The metadata of an object, as a PartialObjectMetadata.
fn partial(object: &Value) -> Value {
    let metadata = object.get("metadata").cloned();
    json!({
        "kind": "PartialObjectMetadata", "apiVersion": META,
        "metadata": metadata.unwrap_or_else(|| json!({})),
    })
}

fn version_of(metadata: &Value) -> Value {
    match metadata.get("resourceVersion") {
        Some(version) => json!({"resourceVersion": version}),
        None => json!({}),
    }
}

/// The metadata of a list, without an empty continue token.
fn list_metadata(head: &Map<String, Value>) -> Value {
    let mut metadata = head.get("metadata").cloned().unwrap_or_else(|| json!({}));
    if let Some(members) = metadata.as_object_mut() {
        members.retain(|name, value| name != "continue" || *value != "");
    }
    metadata
}

fn not_acceptable(message: String) -> Status {
    Status::failure(406, Some(Reason::NotAcceptable), message)
}
