//! A version of a kind in a definition.

use serde_json::{Value, json};

use crate::error::Error;
use crate::objects::text;

/// A version of a kind.
#[derive(Debug)]
pub(super) struct Definition<'a> {
    pub(super) group: &'a str,
    pub(super) version: &'a str,
    pub(super) kind: &'a str,
    pub(super) plural: &'a str,
    pub(super) is_namespaced: bool,
    pub(super) schema: &'a Value,
}

impl<'a> Definition<'a> {
    /// Reads the named version of the definition, or the stored one.
    pub(super) fn read(crd: &'a Value, version: Option<&str>) -> Result<Self, Error> {
        let spec = &crd["spec"];
        let mut versions = spec["versions"].as_array().into_iter().flatten();
        let chosen = versions.find(|candidate| match version {
            Some(version) => candidate["name"] == version,
            None => candidate["storage"] == true,
        });
        let schema = chosen.map(|chosen| &chosen["schema"]["openAPIV3Schema"]);
        let (Some(chosen), Some(schema)) = (chosen, schema.filter(|schema| schema.is_object()))
        else {
            return Err(Error::NoSchema {
                definition: text(&crd["metadata"]["name"]).to_owned(),
                version: version.unwrap_or("with storage: true").to_owned(),
                available: version_names(spec),
            });
        };
        Ok(Self {
            group: text(&spec["group"]),
            version: text(&chosen["name"]),
            kind: text(&spec["names"]["kind"]),
            plural: text(&spec["names"]["plural"]),
            is_namespaced: spec["scope"] != "Cluster",
            schema,
        })
    }

    /// Returns the schema without the fields that every kind has.
    pub(super) fn own_fields(&self) -> Value {
        let mut schema = self.schema.clone();
        if let Some(fields) = schema["properties"].as_object_mut() {
            for common in ["apiVersion", "kind", "metadata"] {
                fields.remove(common);
            }
        }
        if schema["properties"].is_null() {
            schema["properties"] = json!({});
        }
        schema
    }
}

fn version_names(spec: &Value) -> String {
    let versions = spec["versions"].as_array().into_iter().flatten();
    let names: Vec<&str> = versions
        .filter_map(|version| version["name"].as_str())
        .collect();
    names.join(", ")
}
