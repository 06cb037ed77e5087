use serde_json::{Value, json};

use crate::error::Error;

/// One version of a kind that somebody defines.
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
    /// The named version, or the one that is stored.
    pub(super) fn read(crd: &'a Value, version: Option<&str>) -> Result<Self, Error> {
        let spec = &crd["spec"];
        let text = |value: &'a Value| value.as_str().unwrap_or_default();
        let kind = text(&spec["names"]["kind"]);
        let versions = spec["versions"].as_array().into_iter().flatten();
        let chosen = versions.into_iter().find(|one| match version {
            Some(version) => one["name"] == version,
            None => one["storage"] == true,
        });
        let schema = chosen.map(|chosen| &chosen["schema"]["openAPIV3Schema"]);
        let (Some(chosen), Some(schema)) = (chosen, schema.filter(|schema| schema.is_object()))
        else {
            return Err(Error::NoSchema {
                definition: text(&crd["metadata"]["name"]).to_owned(),
                version: version.unwrap_or("that is stored").to_owned(),
                known: names(spec),
            });
        };
        Ok(Self {
            group: text(&spec["group"]),
            version: text(&chosen["name"]),
            kind,
            plural: text(&spec["names"]["plural"]),
            is_namespaced: spec["scope"] != "Cluster",
            schema,
        })
    }

    /// The schema of the fields that only this kind has.
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

fn names(spec: &Value) -> String {
    let versions = spec["versions"].as_array().into_iter().flatten();
    let names: Vec<&str> = versions.filter_map(|one| one["name"].as_str()).collect();
    names.join(", ")
}
