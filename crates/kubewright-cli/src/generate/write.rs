use std::fmt::Write as _;

use super::definition::Definition;
use super::names::{camel, identifier};
use super::types::{Enum, Field, Form, Item, Presence, Struct, Types};

const DERIVES: &str = "Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize";

/// The Rust of a kind: the object itself, and the types of all that is in it.
pub(super) fn module(definition: &Definition<'_>) -> String {
    let kind = definition.kind;
    let mut types = Types::new(&[kind]);
    let own = definition.own_fields();
    let fields = types.fields(&own, kind);
    let mut text = object(definition, &fields, &own["description"]);
    for item in &types.items {
        text.push('\n');
        text.push_str(&match item {
            Item::Struct(one) => structure(one),
            Item::Enum(one) => choice(one),
        });
    }
    text
}

/// The kind itself, and how kube knows it.
fn object(definition: &Definition<'_>, fields: &[Field], about: &serde_json::Value) -> String {
    let Definition {
        group,
        version,
        kind,
        plural,
        ..
    } = definition;
    let scope = match definition.is_namespaced {
        true => "kube::core::NamespaceResourceScope",
        false => "kube::core::ClusterResourceScope",
    };
    let mut text = docs(about.as_str().unwrap_or_default(), "");
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
    /// What every object has.
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
    .expect("a string takes all that is written to it");
    text.push_str(&status(kind, fields));
    text
}

/// What `cx.status` asks for, where there is a status that may be absent.
fn status(kind: &str, fields: &[Field]) -> String {
    let status = fields
        .iter()
        .find(|field| field.key == "status" && field.presence == Presence::Optional);
    let Some(status) = status else {
        return String::new();
    };
    let form = written(&status.form);
    format!(
        "
impl kube::core::object::HasStatus for {kind} {{
    type Status = {form};

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

fn structure(one: &Struct) -> String {
    let mut text = docs(&one.text, "");
    let default = if one.has_default { "Default, " } else { "" };
    let lines: String = one.fields.iter().map(field).collect();
    let rest = match one.is_open {
        true => {
            "    /// What the definition does not name.\n    #[serde(flatten)]\n    \
             pub rest: std::collections::BTreeMap<String, serde_json::Value>,\n"
        }
        false => "",
    };
    let name = &one.name;
    write!(
        text,
        "#[derive({default}{DERIVES})]\n#[serde(rename_all = \"camelCase\")]\n\
         pub struct {name} {{\n{lines}{rest}}}\n"
    )
    .expect("a string takes all that is written to it");
    text
}

fn field(one: &Field) -> String {
    let mut text = docs(&one.text, "    ");
    let mut attributes = Vec::new();
    if camel(&one.name) != one.key {
        attributes.push(format!("rename = {:?}", one.key));
    }
    let form = written(&one.form);
    let form = match one.presence {
        Presence::Required => form,
        Presence::Nullable => format!("Option<{form}>"),
        Presence::Optional => {
            attributes.push("default".to_owned());
            attributes.push("skip_serializing_if = \"Option::is_none\"".to_owned());
            format!("Option<{form}>")
        }
    };
    if !attributes.is_empty() {
        let attributes = attributes.join(", ");
        text += &format!("    #[serde({attributes})]\n");
    }
    text += &format!("    pub {}: {form},\n", identifier(&one.name));
    text
}

fn written(form: &Form) -> String {
    match form {
        Form::Plain(name) => (*name).to_owned(),
        Form::Named { name, .. } => name.clone(),
        Form::List(items) => format!("Vec<{}>", written(items)),
        Form::Map(values) => {
            let values = written(values);
            format!("std::collections::BTreeMap<String, {values}>")
        }
    }
}

fn choice(one: &Enum) -> String {
    let mut text = docs(&one.text, "");
    let mut lines = String::new();
    for (value, name) in &one.variants {
        lines += &format!("    /// `{value}`.\n");
        if value != name {
            lines += &format!("    #[serde(rename = {value:?})]\n");
        }
        lines += &format!("    {name},\n");
    }
    let name = &one.name;
    text += &format!(
        "#[derive(Copy, Eq, PartialOrd, Ord, {DERIVES})]\npub enum {name} {{\n{lines}}}\n"
    );
    text
}

/// The first paragraph of a description as a doc comment. It is somebody else's text: nothing in
/// it may be taken for code or for a link.
fn docs(description: &str, indent: &str) -> String {
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
    match line.is_empty() {
        true => text,
        false => text + &format!("{indent}/// {line}\n"),
    }
}
