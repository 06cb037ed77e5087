use kubewright_wire::status::Status;
use serde_json::Value;

use crate::catalog::Served;
use crate::server::Server;
use crate::store::Object;

/// What a request that writes is about.
#[derive(Debug)]
pub(crate) struct Attributes<'a> {
    pub(crate) server: &'a Server,
    pub(crate) served: &'a Served,
    pub(crate) namespace: Option<&'a str>,
    /// What is stored; none for a new object.
    pub(crate) old: Option<&'a Object>,
    /// Whether nothing will be stored.
    pub(crate) is_dry_run: bool,
}

impl Attributes<'_> {
    pub(super) fn is_create_of(&self, group: &str, kind: &str) -> bool {
        self.old.is_none() && self.served.is(group, kind)
    }

    pub(super) fn namespace(&self) -> &str {
        self.namespace.unwrap_or_default()
    }

    /// The refusal of the object for a reason.
    pub(super) fn forbidden(&self, object: &Value, why: &str) -> Status {
        let metadata = &object["metadata"];
        let text = |field: &str| metadata[field].as_str().filter(|text| !text.is_empty());
        let name = text("name").or_else(|| text("generateName"));
        Status::forbidden(&self.served.resource, name.unwrap_or("Unknown"), why)
    }
}
