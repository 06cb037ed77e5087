use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use kubewright_wire::protobuf::{Message, MessageField, Messages, Shape};
use serde_json::Value;

use super::openapi::Definitions;
use super::write;
use crate::go;

/// The messages of every kind, from the descriptions in Kubernetes' Go modules; which of their
/// fields JSON has in another place is told by the OpenAPI documents.
pub(super) fn pack(definitions: &Definitions) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut messages = Messages::default();
    for module in ["k8s.io/api", "k8s.io/apimachinery"] {
        read_folder(&go::module(module)?, &mut messages.messages)?;
    }
    for (name, message) in &mut messages.messages {
        mark_inline(message, definitions.get(&openapi_name(name)));
    }
    write::pack(&serde_json::to_vec(&messages)?)
}

fn read_folder(
    folder: &Path,
    messages: &mut BTreeMap<String, Message>,
) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_folder(&path, messages)?;
        } else if path.ends_with("generated.proto") {
            read_file(&fs::read_to_string(&path)?, messages);
        }
    }
    Ok(())
}

/// Reads what the generator of these files writes: one field a line, comments on lines of their
/// own.
fn read_file(text: &str, messages: &mut BTreeMap<String, Message>) {
    let (mut package, mut current) = ("", None);
    for line in text.lines().map(str::trim) {
        if let Some(name) = between(line, "package ", ";") {
            package = name;
        } else if let Some(name) = between(line, "message ", " {") {
            current = Some((format!("{package}.{name}"), Message::default()));
        } else if line == "}" {
            messages.extend(current.take());
        } else if let (Some((_, message)), Some((number, field))) =
            (&mut current, field(line, package))
        {
            message.fields.insert(number, field);
        }
    }
}

fn between<'l>(line: &'l str, before: &str, after: &str) -> Option<&'l str> {
    line.strip_prefix(before)?.strip_suffix(after)
}

/// `optional .k8s.io.api.core.v1.PodSpec spec = 2;`, `map<string, bytes> data = 2;`.
fn field(line: &str, package: &str) -> Option<(u64, MessageField)> {
    let (declaration, number) = line.strip_suffix(';')?.split_once(" = ")?;
    let (declared, name) = declaration.rsplit_once(' ')?;
    let (kind, shape) = if let Some(value) = between(declared, "map<string, ", ">") {
        (value, Shape::Map)
    } else if let Some(kind) = declared.strip_prefix("repeated ") {
        (kind, Shape::List)
    } else {
        (declared.strip_prefix("optional ")?, Shape::One)
    };
    let is_message = kind.starts_with(|first: char| first == '.' || first.is_uppercase());
    let kind = match kind.strip_prefix('.') {
        Some(full) => full.to_owned(),
        None if is_message => format!("{package}.{kind}"),
        None => kind.to_owned(),
    };
    let field = MessageField {
        name: name.to_owned(),
        kind,
        shape,
    };
    Some((number.parse().ok()?, field))
}

/// `k8s.io.api.core.v1.Pod` is `io.k8s.api.core.v1.Pod` there.
fn openapi_name(name: &str) -> String {
    let rest = name.strip_prefix("k8s.io.").unwrap_or(name);
    format!("io.k8s.{rest}")
}

/// A struct that the document does not know as a field is embedded: JSON has its fields in the
/// place of it.
fn mark_inline(message: &mut Message, definition: Option<&Value>) {
    let Some(properties) = definition.and_then(|schema| schema["properties"].as_object()) else {
        return;
    };
    for field in message.fields.values_mut() {
        let is_struct = field.kind.contains('.') && field.shape == Shape::One;
        if is_struct && !properties.contains_key(&field.name) {
            field.shape = Shape::Inline;
        }
    }
}
