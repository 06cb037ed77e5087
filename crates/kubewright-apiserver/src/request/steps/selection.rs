//! Label and field selectors.

use kubewright_core::{FieldSelector, LabelSelector};
use kubewright_kinds::BuiltinKind;
use kubewright_wire::route::Query;
use kubewright_wire::status::Status;

use crate::request::target::Target;
use crate::store::Object;

/// The selectors of a list, watch or deletion of a collection.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    strategy: &'static BuiltinKind,
    labels: LabelSelector,
    fields: FieldSelector,
    /// The name in the path of a deprecated `/watch/` request.
    name: Option<String>,
}

impl Selection {
    pub(crate) fn parse(target: &Target, query: &Query) -> Result<Self, Status> {
        let labels: LabelSelector = query
            .get("labelSelector")
            .unwrap_or_default()
            .parse()
            .map_err(|error| Status::bad_request(format!("{error}")))?;
        let fields: FieldSelector = query
            .get("fieldSelector")
            .unwrap_or_default()
            .parse()
            .map_err(|error| Status::bad_request(format!("{error}")))?;
        let unsupported = match target.resource.custom() {
            Some(custom) => custom.unsupported_field(&fields),
            None => target.resource.strategy.unsupported_selector(&fields),
        };
        if let Some(message) = unsupported {
            return Err(Status::bad_request(message));
        }
        Ok(Self {
            strategy: target.resource.strategy,
            labels,
            fields,
            name: None,
        })
    }

    /// Selects only the object of that name.
    pub(crate) fn named(mut self, name: Option<&str>) -> Self {
        self.name = name.map(str::to_owned);
        self
    }

    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty() && self.name.is_none()
    }

    pub(crate) fn matches(&self, object: &Object) -> bool {
        self.name
            .as_deref()
            .is_none_or(|name| name == object.name())
            && self.labels.matches(|key| object.label(key))
            && (self.fields.is_empty()
                || self.strategy.matches_fields(&self.fields, object.value()))
    }
}
