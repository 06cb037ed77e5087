//! Makes objects conform to their kind: unknown fields are dropped, defaults are set.

use kubewright_core::Kind;
use kubewright_kinds::core::CONFIG_MAP;
use kubewright_kinds::lookup;
use kubewright_wire::schema::{self, DecodeError, Schema};
use kubewright_wire::status::Status;
use serde_json::Value;

use super::served::ServedResource;

impl ServedResource {
    /// Makes a value conform to `kind`, which is this resource's or that of a subresource. Returns
    /// the paths of the fields that were dropped.
    pub(crate) fn conform(&self, value: &mut Value, kind: &Kind) -> Result<Vec<String>, Status> {
        match self.custom() {
            Some(custom) if kind == self.kind() => {
                let mut unknown =
                    conform_custom_metadata(value).map_err(|error| undecodable(kind, &error))?;
                unknown.extend(custom.schema().conform(value));
                Ok(unknown)
            }
            Some(_) => Ok(Vec::new()),
            None => conform_builtin(value, kind).map_err(|error| undecodable(kind, &error)),
        }
    }

    /// Makes the result of an apply conform. Its fields are known; a custom resource keeps nulls.
    pub(crate) fn conform_applied(&self, value: &mut Value) -> Result<(), Status> {
        let Some(custom) = self.custom() else {
            return self.conform(value, self.kind()).map(drop);
        };
        conform_custom_metadata(value).map_err(|error| undecodable(self.kind(), &error))?;
        custom.schema().fill_defaults(value);
        Ok(())
    }

    /// Makes the result of a webhook's patch conform.
    pub(crate) fn conform_patched(&self, value: &mut Value, kind: &Kind) -> Result<(), Status> {
        if self.custom().is_some() {
            return self.conform(value, kind).map(drop);
        }
        let conformed = conform_builtin(value, kind).map(drop);
        conformed.map_err(|error| Status::bad_request(error.to_string()))
    }

    /// Makes the result of a policy's patch conform. Unknown fields of built-in kinds are an error.
    pub(crate) fn conform_strictly(&self, value: &mut Value, kind: &Kind) -> Result<(), Status> {
        if self.custom().is_some() {
            return self.conform(value, kind).map(drop);
        }
        let unknown =
            conform_builtin(value, kind).map_err(|error| Status::bad_request(error.to_string()))?;
        if unknown.is_empty() {
            return Ok(());
        }
        let problems: Vec<String> = unknown
            .iter()
            .map(|path| format!("unknown field {path:?}"))
            .collect();
        Err(Status::bad_request(format!(
            "strict decoding error: {}",
            problems.join(", ")
        )))
    }
}

/// The beginning of errors about an object that cannot be decoded.
pub(crate) fn cannot_handle(kind: &Kind) -> String {
    format!(
        "{} in version {:?} cannot be handled as a {}",
        kind.kind,
        kind.version(),
        kind.kind
    )
}

/// The error for an object of a kind that cannot be decoded.
pub(crate) fn undecodable(kind: &Kind, error: &DecodeError) -> Status {
    Status::bad_request(format!("{}: {error}", cannot_handle(kind)))
}

/// Decodes an object of a built-in kind as the API server does: unknown fields are dropped,
/// quantities and times are made canonical, defaults are set. Returns the dropped paths.
pub(crate) fn conform_builtin(value: &mut Value, kind: &Kind) -> Result<Vec<String>, DecodeError> {
    let Some(schema) = Schema::builtin().kind(kind) else {
        return Ok(Vec::new());
    };
    let unknown = schema::conform(value, schema)?;
    if let Some(builtin) = lookup(kind) {
        builtin.apply_defaults(kind.version(), value);
    }
    Ok(unknown)
}

/// Makes the metadata of a custom resource conform to ObjectMeta, whose types any built-in kind has
/// (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta).
fn conform_custom_metadata(value: &mut Value) -> Result<Vec<String>, DecodeError> {
    let any = Schema::builtin().kind(&CONFIG_MAP.in_version("v1"));
    let schema = any.and_then(|any| any.field("metadata"));
    let metadata = value
        .get_mut("metadata")
        .filter(|metadata| !metadata.is_null());
    let (Some(schema), Some(metadata)) = (schema, metadata) else {
        return Ok(Vec::new());
    };
    let unknown = schema::conform(metadata, schema)?;
    Ok(unknown
        .iter()
        .map(|path| format!("metadata.{path}"))
        .collect())
}
