//! All conversions of an operator: one hub and its spokes for each kind.

use std::sync::Arc;

use kubewright_core::{ConversionDescription, Resource};
use kubewright_webhook::ConversionHandler;
use kubewright_webhook::conversion::{Spoke, Versions};
use serde_json::Value;

use super::conversion::{Conversion, DefinitionFn};
use crate::Error;

/// The conversions of an operator, by kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conversions {
    kinds: Vec<ConvertedKind>,
}

/// All versions of one kind.
#[derive(Clone, Debug)]
struct ConvertedKind {
    description: ConversionDescription,
    versions: Versions,
    /// The definition of the hub, then those of the spokes.
    definitions: Vec<DefinitionFn>,
}

impl Conversions {
    /// Joins the conversions that an operator registers.
    pub(crate) fn join(conversions: &[Conversion]) -> Result<Self, Error> {
        let mut joined = Self::default();
        for conversion in conversions {
            joined.add(conversion)?;
        }
        Ok(joined)
    }

    fn add(&mut self, conversion: &Conversion) -> Result<(), Error> {
        let (hub, spoke) = (&conversion.hub, &conversion.spoke);
        let invalid = |why| Error::Conversion {
            from: spoke.kind.to_string(),
            to: hub.kind.to_string(),
            why,
        };
        let is_one_kind = hub.qualified_name() == spoke.qualified_name()
            && hub.kind.kind == spoke.kind.kind
            && hub.scope == spoke.scope;
        if !is_one_kind {
            return Err(invalid(
                "both must be the same kind: group, kind, plural and scope are equal",
            ));
        }
        let version = spoke.kind.version().to_owned();
        let kind = self.kind_of(hub);
        if kind.description.hub != *hub {
            return Err(invalid(
                "a kind has one hub: convert all other versions to the same one",
            ));
        }
        if version == hub.kind.version() || kind.description.spokes.contains(&version) {
            return Err(invalid(
                "each version is converted once, and never to itself",
            ));
        }
        kind.description.spokes.push(version);
        let [hub_definition, spoke_definition] = conversion.definitions;
        if kind.definitions.is_empty() {
            kind.definitions.push(hub_definition);
        }
        kind.definitions.push(spoke_definition);
        kind.versions.spokes.push(Spoke {
            api_version: spoke.kind.api_version(),
            to_hub: Arc::clone(&conversion.to_hub),
            from_hub: Arc::clone(&conversion.from_hub),
        });
        Ok(())
    }

    /// Returns the kind of that hub, and adds it first if needed.
    fn kind_of(&mut self, hub: &Resource) -> &mut ConvertedKind {
        let name = hub.qualified_name();
        let existing = self.kinds.iter().position(|kind| kind.name() == name);
        let index = existing.unwrap_or_else(|| {
            self.kinds.push(ConvertedKind::new(hub));
            self.kinds.len() - 1
        });
        &mut self.kinds[index]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    pub(crate) fn describe(&self) -> Vec<ConversionDescription> {
        let kinds = self.kinds.iter();
        kinds.map(|kind| kind.description.clone()).collect()
    }

    /// Adds all versions to the definitions of converted kinds.
    pub(crate) fn complete(&self, definitions: &mut Vec<Value>) {
        for kind in &self.kinds {
            let name = kind.name();
            let existing = definitions
                .iter()
                .position(|definition| definition["metadata"]["name"] == name.as_str());
            let mut definition = match existing {
                Some(index) => definitions.remove(index),
                None => kind
                    .definitions
                    .first()
                    .and_then(|definition| definition())
                    .unwrap_or_default(),
            };
            let versions = kind
                .definitions
                .iter()
                .filter_map(|definition| definition())
                .flat_map(|definition| {
                    let versions = definition["spec"]["versions"].as_array().cloned();
                    versions.unwrap_or_default()
                });
            add_versions(&mut definition, versions.collect());
            definitions.insert(existing.unwrap_or(definitions.len()), definition);
        }
    }

    /// Returns the handler of conversion requests.
    pub(crate) fn handler(&self) -> ConversionHandler {
        let kinds = self.kinds.clone();
        Arc::new(move |object, desired| {
            let version = object["apiVersion"].as_str().unwrap_or_default();
            let group = version.split_once('/').map_or("", |(group, _)| group);
            let name = object["kind"].as_str().unwrap_or_default();
            let converted = kinds.iter().find(|kind| {
                let hub = &kind.description.hub.kind;
                hub.group() == group && hub.kind == name
            });
            match converted {
                Some(kind) => kind.versions.convert(object, desired),
                None => Err(format!("{name} of {version:?} has no conversion here")),
            }
        })
    }
}

/// Adds versions to a definition. The hub is the stored version.
fn add_versions(definition: &mut Value, added: Vec<Value>) {
    let versions = definition.pointer_mut("/spec/versions");
    let Some(versions) = versions.and_then(Value::as_array_mut) else {
        return;
    };
    for mut version in added {
        version["storage"] = Value::Bool(false);
        if !versions
            .iter()
            .any(|existing| existing["name"] == version["name"])
        {
            versions.push(version);
        }
    }
}

impl ConvertedKind {
    fn new(hub: &Resource) -> Self {
        Self {
            description: ConversionDescription {
                hub: hub.clone(),
                spokes: Vec::new(),
            },
            versions: Versions {
                kind: hub.kind.kind.clone(),
                hub: hub.kind.api_version(),
                spokes: Vec::new(),
            },
            definitions: Vec::new(),
        }
    }

    fn name(&self) -> String {
        self.description.hub.qualified_name()
    }
}
