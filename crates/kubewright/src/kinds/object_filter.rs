//! The part of a selection that the API server evaluates: labels, fields and namespace.

use std::str::FromStr;

use kubewright_core::{ParseSelectorError, Resource, Scope};
use kubewright_runtime::informer::InformerSpec;

use crate::Error;

/// The objects of a kind that a registration selects, as the user wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ObjectFilter {
    /// A label selector.
    pub(crate) labels: Option<String>,
    /// A field selector.
    pub(crate) fields: Option<String>,
    /// The only namespace.
    pub(crate) namespace: Option<String>,
}

impl ObjectFilter {
    /// Whether the filter selects all objects.
    pub(crate) fn is_everything(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the filter names a namespace and the kind is cluster-scoped.
    pub(crate) fn has_needless_namespace(&self, resource: &Resource) -> bool {
        self.namespace.is_some() && resource.scope == Scope::Cluster
    }

    /// Returns the informer for the filter.
    pub(crate) fn spec(
        &self,
        controller: &str,
        resource: &Resource,
    ) -> Result<InformerSpec, Error> {
        Ok(InformerSpec {
            labels: parse(controller, resource, self.labels.as_deref())?,
            fields: parse(controller, resource, self.fields.as_deref())?,
            namespace: self.namespace.clone(),
            ..InformerSpec::all(resource.clone())
        })
    }
}

fn parse<S>(controller: &str, resource: &Resource, text: Option<&str>) -> Result<S, Error>
where
    S: Default + FromStr<Err = ParseSelectorError>,
{
    let Some(text) = text else {
        return Ok(S::default());
    };
    text.parse().map_err(|source| Error::Selector {
        controller: controller.to_owned(),
        kind: resource.kind.kind.clone(),
        text: text.to_owned(),
        source,
    })
}
