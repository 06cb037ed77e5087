use std::sync::Arc;

use jiff::Timestamp;
use kubewright_core::Kind;
use kubewright_wire::status::{Reason, Status};
use serde_json::{Map, Value, json};

use super::cell::Row;
use super::column::{Column, NAME};
use super::form::{Form, Included};
use super::{CustomColumn, kinds};
use crate::catalog::Served;
use crate::kinds::stored_event;
use crate::request::{ApiBody, ApiResponse, List};
use crate::server::Server;

/// The version of tables and partial objects.
const META: &str = "meta.k8s.io/v1";

/// Puts the objects of one resource into the form that was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Shaper {
    form: Form,
    served: Arc<Served>,
    /// A watch names the columns of its table once.
    has_columns: bool,
}

/// The columns of a kind.
enum Columns<'a> {
    Builtin(&'static [Column]),
    Custom(&'a [CustomColumn]),
}

/// The answer in the form that was asked for.
pub(crate) fn shape(
    server: &Server,
    served: &Arc<Served>,
    form: Form,
    mut response: ApiResponse,
) -> Result<ApiResponse, Status> {
    if form == Form::Whole {
        return Ok(response);
    }
    let shaper = Shaper {
        form,
        served: Arc::clone(served),
        has_columns: false,
    };
    let now = server.clock().now();
    response.body = match response.body {
        ApiBody::Object(object) => ApiBody::Value(shaper.one(object.value(), now)?),
        ApiBody::Value(value) => ApiBody::Value(shaper.one(&value, now)?),
        ApiBody::List(list) => ApiBody::Value(shaper.many(&list, now)?),
        ApiBody::Watch(mut watch) => {
            watch.shape(shaper);
            ApiBody::Watch(watch)
        }
        other @ (ApiBody::Status(_) | ApiBody::Text(_)) => other,
    };
    Ok(response)
}

impl Shaper {
    /// An object of a watch. What cannot be put into the form is sent as it is.
    pub(crate) fn event(&mut self, object: &Value, now: Timestamp) -> Value {
        let mut value = self.one(object, now).unwrap_or_else(|_| object.clone());
        if let Form::Table(_) = self.form {
            if self.has_columns {
                value["columnDefinitions"] = Value::Null;
            }
            self.has_columns = true;
        }
        value
    }

    fn one(&self, object: &Value, now: Timestamp) -> Result<Value, Status> {
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

    fn many(&self, list: &List, now: Timestamp) -> Result<Value, Status> {
        let objects = list.items.iter().map(|object| object.value());
        let metadata = list_metadata(&list.head);
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
                // Go writes a list that nothing was added to as null.
                let items = Some(items).filter(|items| !items.is_empty());
                Ok(json!({
                    "kind": "PartialObjectMetadataList", "apiVersion": META,
                    "metadata": metadata, "items": items,
                }))
            }
        }
    }

    /// A part of an object such as its scale has columns of its own.
    fn columns(&self, object: &Value) -> Columns<'_> {
        if object["kind"] == "Scale" && self.served.kind().kind != "Scale" {
            return Columns::Builtin(kinds::columns(&Kind::new("autoscaling", "v1", "Scale")));
        }
        match self.served.custom() {
            Some(custom) => Columns::Custom(&custom.columns),
            None => Columns::Builtin(kinds::columns(self.served.kind())),
        }
    }

    /// What Go calls the type of the objects, or of a list of them.
    fn go_type(&self, suffix: &str) -> String {
        if self.served.custom().is_some() {
            return format!("*unstructured.Unstructured{suffix}");
        }
        let kind = self.served.kind();
        let package = match kind.group() {
            "" | "events.k8s.io" => "core",
            group => group.split('.').next().unwrap_or_default(),
        };
        format!("*{package}.{}{suffix}", kind.kind)
    }
}

fn table(columns: &Columns<'_>, metadata: Value, rows: Vec<Value>) -> Value {
    let definitions: Vec<Value> = match columns {
        Columns::Builtin(columns) => columns.iter().map(Column::definition).collect(),
        Columns::Custom(columns) => {
            let declared = columns.iter().map(CustomColumn::definition);
            std::iter::once(NAME.definition()).chain(declared).collect()
        }
    };
    // Go writes a list that nothing was added to as null; most kinds begin with an empty one.
    let is_plain = matches!(columns, Columns::Builtin(columns) if kinds::is_plain(columns));
    let rows = Some(rows).filter(|rows| !is_plain || !rows.is_empty());
    json!({
        "kind": "Table", "apiVersion": META, "metadata": metadata,
        "columnDefinitions": definitions, "rows": rows,
    })
}

fn row(columns: &Columns<'_>, object: &Value, included: Included, now: Timestamp) -> Value {
    let cells: Vec<Value> = match columns {
        Columns::Builtin(columns) => {
            // The columns of Events know only their stored form.
            let is_newer = object["apiVersion"] == "events.k8s.io/v1";
            let stored = is_newer.then(|| stored_event(object.clone()));
            let object = stored.as_ref().unwrap_or(object);
            let row = Row { object, now };
            columns
                .iter()
                .map(|column| column.cell.value(&row))
                .collect()
        }
        Columns::Custom(columns) => {
            let declared = columns.iter().map(|column| column.cell(object, now));
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            std::iter::once(json!(name)).chain(declared).collect()
        }
    };
    let shown = match included {
        Included::Metadata => partial(object),
        Included::Object => object.clone(),
        // Those who wait for the end of the present state know it by an annotation.
        Included::Nothing if is_end_of_state(object) => partial(object),
        Included::Nothing => Value::Null,
    };
    let mut row = json!({"cells": cells, "object": shown});
    let phase = object["status"]["phase"].as_str().unwrap_or_default();
    if let Some(conditions) = kinds::completion(phase).filter(|_| object["kind"] == "Pod") {
        row["conditions"] = conditions;
    }
    row
}

fn is_end_of_state(object: &Value) -> bool {
    let annotations = &object["metadata"]["annotations"];
    annotations["k8s.io/initial-events-end"] == "true"
}

/// Only the metadata of an object.
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

/// The metadata of a list, without a token that is empty.
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
