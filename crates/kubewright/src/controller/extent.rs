use std::str::FromStr;

use kubewright_core::{ParseSelectorError, Resource, Scope};
use kubewright_runtime::informer::InformerSpec;

use crate::Error;

/// Which objects of a kind are meant, as a registration says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Only with such labels.
    pub(crate) labels: Option<String>,
    /// Only with such fields.
    pub(crate) fields: Option<String>,
    /// Only in this namespace.
    pub(crate) namespace: Option<String>,
}

impl Extent {
    /// Whether all of them are.
    pub(crate) fn is_everything(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a namespace is named for a kind that is in none.
    pub(crate) fn is_misplaced(&self, resource: &Resource) -> bool {
        self.namespace.is_some() && resource.scope == Scope::Cluster
    }

    /// What is to be followed.
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
