//! The served versions of a kind, for field owners of several versions.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use crate::schema::SchemaType;

/// The versions in which a kind is served: its type in each, and the conversion between them.
///
/// Entries of `managedFields` name fields in the version of their writes.
pub trait Versions: fmt::Debug {
    /// The type of the kind in an `apiVersion`; `None` when it is not served.
    fn schema(&self, api_version: &str) -> Option<SchemaType<'_>>;

    /// Converts an object to another `apiVersion`; `None` when it is not served.
    ///
    /// By default this is the conversion strategy `None` of custom resources: only the `apiVersion`
    /// changes.
    fn convert<'v>(&self, object: &'v Value, api_version: &str) -> Option<Cow<'v, Value>> {
        self.schema(api_version)?;
        if object.get("apiVersion").and_then(Value::as_str) == Some(api_version) {
            return Some(Cow::Borrowed(object));
        }
        let mut converted = object.clone();
        if let Some(fields) = converted.as_object_mut() {
            fields.insert("apiVersion".to_owned(), Value::from(api_version));
        }
        Some(Cow::Owned(converted))
    }
}

/// Versions that differ only in name and type.
#[derive(Clone, Debug, Default)]
pub struct ServedVersions<'s> {
    versions: Vec<(String, SchemaType<'s>)>,
}

impl<'s> ServedVersions<'s> {
    /// A kind that is served in one version.
    pub fn one(api_version: impl Into<String>, schema: SchemaType<'s>) -> Self {
        Self::default().and(api_version, schema)
    }

    /// Adds a version.
    #[must_use]
    pub fn and(mut self, api_version: impl Into<String>, schema: SchemaType<'s>) -> Self {
        self.versions.push((api_version.into(), schema));
        self
    }
}

impl Versions for ServedVersions<'_> {
    fn schema(&self, api_version: &str) -> Option<SchemaType<'_>> {
        let found = self
            .versions
            .iter()
            .find(|(version, _)| version == api_version);
        found.map(|(_, schema)| *schema)
    }
}
