use kubewright_core::{FieldSelector, LabelSelector};
use kubewright_wire::route::Query;
use kubewright_wire::status::Status;

use super::target::Target;
use crate::kinds::{matches_fields, selectable_fields};
use crate::store::Object;

/// Which objects of a collection a request is about.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection {
    labels: LabelSelector,
    fields: FieldSelector,
    /// The name in the path of a deprecated `/watch/` request.
    name: Option<String>,
}

impl Selection {
    pub(super) fn parse(target: &Target, query: &Query) -> Result<Self, Status> {
        let labels = query.get("labelSelector").unwrap_or_default();
        let labels: LabelSelector = labels
            .parse()
            .map_err(|error| Status::bad_request(format!("{error}")))?;
        let fields = query.get("fieldSelector").unwrap_or_default();
        let fields: FieldSelector = fields
            .parse()
            .map_err(|error| Status::bad_request(format!("{error}")))?;
        let refusal = match target.served.custom() {
            Some(custom) => custom.refuse_fields(&fields),
            None => selectable_fields(target.kind()).refuse(&fields),
        };
        if let Some(message) = refusal {
            return Err(Status::bad_request(message));
        }
        Ok(Self {
            labels,
            fields,
            name: None,
        })
    }

    /// The same for the object of that name alone.
    pub(super) fn named(mut self, name: Option<&str>) -> Self {
        self.name = name.map(str::to_owned);
        self
    }

    pub(super) fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty() && self.name.is_none()
    }

    pub(super) fn matches(&self, object: &Object) -> bool {
        self.name
            .as_deref()
            .is_none_or(|name| name == object.name())
            && self.labels.matches(|key| object.label(key))
            && (self.fields.is_empty() || matches_fields(&self.fields, object.value()))
    }
}
