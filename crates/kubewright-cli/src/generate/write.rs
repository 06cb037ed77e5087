//! Types as Rust source text.

use std::fmt::Write as _;

use super::definition::Definition;
use super::names::{camel, identifier};
use super::types::{Enum, Field, Item, Presence, RustType, Struct, Types, Variant};

const DERIVES: &str = "Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize";

/// Returns the source text of a kind and of the types in it.
pub(super) fn module(definition: &Definition<'_>) -> String {
    let kind = definition.kind;
    let mut types = Types::new(&[kind]);
    let own = definition.own_fields();
    let fields = types.fields(&own, kind);
    let mut text = object(definition, &fields, &own["description"]);
    for item in &types.items {
        text.push('\n');
        text.push_str(&match item {
            Item::Struct(item) => structure(item),
            Item::Enum(item) => enumeration(item),
        });
    }
    text
}

/// Returns the struct of the kind with its implementation of `kube::Resource`.
fn object(definition: &Definition<'_>, fields: &[Field], docs: &serde_json::Value) -> String {
    let Definition {
        group,
        version,
        kind,
        plural,
        ..
    } = definition;
    let scope = if definition.is_namespaced {
        "kube::core::NamespaceResourceScope"
    } else {
        "kube::core::ClusterResourceScope"
    };
    let mut text = doc_comment(docs.as_str().unwrap_or_default(), "");
    let lines: String = fields.iter().map(field).collect();
    write!(
        text,
        "#[derive({DERIVES})]
#[serde(rename_all = \"camelCase\")]
pub struct {kind} {{
    /// `{group}/{version}`.
    #[serde(default = \"{kind}::own_api_version\")]
    pub api_version: String,
    /// `{kind}`.
    #[serde(default = \"{kind}::own_kind\")]
    pub kind: String,
    /// The metadata of the object.
    pub metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
{lines}}}

impl {kind} {{
    fn own_api_version() -> String {{
        \"{group}/{version}\".to_owned()
    }}

    fn own_kind() -> String {{
        \"{kind}\".to_owned()
    }}
}}

impl kube::Resource for {kind} {{
    type DynamicType = ();
    type Scope = {scope};

    fn kind((): &()) -> std::borrow::Cow<'_, str> {{
        \"{kind}\".into()
    }}

    fn group((): &()) -> std::borrow::Cow<'_, str> {{
        \"{group}\".into()
    }}

    fn version((): &()) -> std::borrow::Cow<'_, str> {{
        \"{version}\".into()
    }}

    fn plural((): &()) -> std::borrow::Cow<'_, str> {{
        \"{plural}\".into()
    }}

    fn meta(&self) -> &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {{
        &self.metadata
    }}

    fn meta_mut(&mut self) -> &mut k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {{
        &mut self.metadata
    }}
}}
"
    )
    .expect("writing to a string does not fail");
    text.push_str(&status(kind, fields));
    text
}

/// Returns the implementation of `HasStatus`, which `cx.status` needs, for an optional status.
fn status(kind: &str, fields: &[Field]) -> String {
    let status = fields
        .iter()
        .find(|field| field.key == "status" && field.presence == Presence::Optional);
    let Some(status) = status else {
        return String::new();
    };
    let status_type = written(&status.value);
    format!(
        "
impl kube::core::object::HasStatus for {kind} {{
    type Status = {status_type};

    fn status(&self) -> Option<&Self::Status> {{
        self.status.as_ref()
    }}

    fn status_mut(&mut self) -> &mut Option<Self::Status> {{
        &mut self.status
    }}
}}
"
    )
}

fn structure(item: &Struct) -> String {
    let mut text = doc_comment(&item.description, "");
    let default = if item.has_default { "Default, " } else { "" };
    let lines: String = item.fields.iter().map(field).collect();
    let rest = if item.is_open {
        "    /// Fields that the definition does not define.\n    #[serde(flatten)]\n    \
pub rest: std::collections::BTreeMap<String, serde_json::Value>,\n"
    } else {
        ""
    };
    let name = &item.name;
    write!(
        text,
        "#[derive({default}{DERIVES})]\n#[serde(rename_all = \"camelCase\")]\n\
         pub struct {name} {{\n{lines}{rest}}}\n"
    )
    .expect("writing to a string does not fail");
    text
}

fn field(item: &Field) -> String {
    let mut text = doc_comment(&item.description, "    ");
    let mut attributes = Vec::new();
    if camel(&item.name) != item.key {
        attributes.push(format!("rename = {:?}", item.key));
    }
    let value = written(&item.value);
    let field_type = match item.presence {
        Presence::Required => value,
        Presence::Nullable => format!("Option<{value}>"),
        Presence::Optional => {
            attributes.push("default".to_owned());
            attributes.push("skip_serializing_if = \"Option::is_none\"".to_owned());
            format!("Option<{value}>")
        }
    };
    if !attributes.is_empty() {
        let attributes = attributes.join(", ");
        text += &format!("    #[serde({attributes})]\n");
    }
    text += &format!("    pub {}: {field_type},\n", identifier(&item.name));
    text
}

fn written(rust_type: &RustType) -> String {
    match rust_type {
        RustType::Existing(name) => (*name).to_owned(),
        RustType::Named { name, .. } => name.clone(),
        RustType::List(items) => format!("Vec<{}>", written(items)),
        RustType::Map(values) => {
            let values = written(values);
            format!("std::collections::BTreeMap<String, {values}>")
        }
    }
}

fn enumeration(item: &Enum) -> String {
    let mut text = doc_comment(&item.description, "");
    let mut lines = String::new();
    for Variant { value, name } in &item.variants {
        lines += &format!("    /// `{value}`.\n");
        if value != name {
            lines += &format!("    #[serde(rename = {value:?})]\n");
        }
        lines += &format!("    {name},\n");
    }
    let name = &item.name;
    text += &format!(
        "#[derive(Copy, Eq, PartialOrd, Ord, {DERIVES})]\npub enum {name} {{\n{lines}}}\n"
    );
    text
}

/// Returns the first paragraph of a description as a doc comment. Characters that would start code
/// or a link are escaped.
fn doc_comment(description: &str, indent: &str) -> String {
    let paragraph = description.split("\n\n").next().unwrap_or_default();
    let words: Vec<String> = paragraph
        .replace("```", "`")
        .split_whitespace()
        .map(|word| word.replace('[', "\\[").replace('<', "\\<"))
        .collect();
    let mut text = String::new();
    let mut line = String::new();
    for word in words {
        if !line.is_empty() && line.len() + word.len() > 90 {
            text += &format!("{indent}/// {line}\n");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += &word;
    }
    if !line.is_empty() {
        text += &format!("{indent}/// {line}\n");
    }
    text
}
