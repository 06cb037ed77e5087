//! The name of a new object, which the server can generate.

use kubewright_kinds::json::text;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use crate::request::target::Target;
use crate::store::{Object, Random, metadata_mut};

/// How many names are generated while objects of these names exist
/// (`maxNameGenerationCreateAttempts` of k8s.io/apiserver/pkg/registry/generic/registry/store.go).
const MAX_NAMES: usize = 8;
const MAX_GENERATED_BASE: usize = 58;

/// The names that are tried for a new object.
pub(super) struct NewName {
    is_generated: bool,
    has_base: bool,
    /// How many names can still be tried.
    remaining: usize,
}

impl NewName {
    /// The names for an object that is not prepared yet.
    pub(super) fn of(object: &Value) -> Self {
        let is_empty = |field: &str| text(&object["metadata"][field]).is_empty();
        let is_generated = is_empty("name");
        Self {
            is_generated,
            has_base: !is_empty("generateName"),
            remaining: if is_generated { MAX_NAMES } else { 1 },
        }
    }

    pub(super) fn is_generated(&self) -> bool {
        self.is_generated
    }

    /// Counts a name that an object has. Fails if there is no other name to try
    /// (`CheckGeneratedNameError` of k8s.io/apiserver/pkg/registry/rest/create.go).
    pub(super) fn taken(&mut self, target: &Target, existing: &Object) -> Result<(), Status> {
        self.remaining = self.remaining.saturating_sub(1);
        if self.remaining > 0 {
            return Ok(());
        }
        let (resource, name) = (&target.resource.resource, existing.name());
        let mut status = if self.has_base {
            Status::generate_name_conflict(resource, name)
        } else {
            Status::already_exists(resource, name)
        };
        if existing.is_terminating() {
            status.message = format!("object is being deleted: {}", status.message);
        }
        Err(status)
    }
}

/// The name of an object in errors; its `generateName` before it has a name.
pub(super) fn name_or_base(object: &Value) -> &str {
    let metadata = &object["metadata"];
    match text(&metadata["name"]) {
        "" => text(&metadata["generateName"]),
        name => name,
    }
}

/// Generates a name from `generateName`, when there is no name.
pub(super) fn generate_name(random: &Random, value: &mut Value) {
    let metadata = metadata_mut(value);
    let string = |field: &str| metadata.get(field).map_or("", text);
    let mut name = string("generateName").to_owned();
    if name.is_empty() || !string("name").is_empty() {
        return;
    }
    while name.len() > MAX_GENERATED_BASE {
        name.pop();
    }
    name.push_str(&random.suffix());
    metadata.insert("name".to_owned(), json!(name));
}
