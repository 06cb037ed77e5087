//! Server-side apply, for real and in dry runs.

use kube::api::{Patch, PatchParams};
use serde_json::Value;

use super::located::Located;
use super::served_kinds::ServedKinds;
use crate::error::Error;

/// The field manager of an apply, and what happens to fields of other managers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// `kubewright dev`, which takes over fields of others.
    Dev,
    /// `kubewright`, which fails on a conflict.
    Shared,
    /// `kubewright`, which takes over fields of others.
    Taken,
}

/// The field manager of `install` and `deploy`.
pub(crate) const FIELD_MANAGER: &str = "kubewright";

/// The field manager of `dev`.
pub(crate) const DEV_FIELD_MANAGER: &str = "kubewright-dev";

impl Ownership {
    fn parameters(self) -> PatchParams {
        match self {
            Self::Dev => PatchParams::apply(DEV_FIELD_MANAGER).force(),
            Self::Shared => PatchParams::apply(FIELD_MANAGER),
            Self::Taken => PatchParams::apply(FIELD_MANAGER).force(),
        }
    }

    fn dry_run_parameters(self) -> PatchParams {
        self.parameters().dry_run()
    }
}

/// Applies the objects one by one; namespaces and definitions first.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the objects applied.
pub(crate) async fn apply_all(
    client: &kube::Client,
    objects: &[Value],
    ownership: Ownership,
) -> Result<Vec<Located>, Error> {
    let mut ordered: Vec<&Value> = objects.iter().collect();
    ordered.sort_by_key(|object| match object["kind"].as_str() {
        Some("Namespace") => 0,
        Some("CustomResourceDefinition") => 1,
        _ => 2,
    });
    let mut kinds = ServedKinds::discover(client).await?;
    let mut applied = Vec::new();
    for object in ordered {
        let located = kinds.locate(object).await?;
        apply_one(client, &located, object, ownership).await?;
        applied.push(located);
    }
    Ok(applied)
}

/// Applies an object and returns it as stored.
///
/// # Cancel safety
///
/// Dropping the future may leave the object applied.
pub(crate) async fn apply_one(
    client: &kube::Client,
    located: &Located,
    object: &Value,
    ownership: Ownership,
) -> Result<Value, Error> {
    send(client, located, object, &ownership.parameters()).await
}

/// Applies an object in a dry run and returns it as it would be stored.
///
/// # Cancel safety
///
/// Safe: nothing changes.
pub(crate) async fn try_apply(
    client: &kube::Client,
    located: &Located,
    object: &Value,
    ownership: Ownership,
) -> Result<Value, Error> {
    send(client, located, object, &ownership.dry_run_parameters()).await
}

async fn send(
    client: &kube::Client,
    located: &Located,
    object: &Value,
    parameters: &PatchParams,
) -> Result<Value, Error> {
    let failed = |source: kube::Error| match &source {
        kube::Error::Api(status) if status.code == 409 && status.reason == "Conflict" => {
            Error::Conflict {
                object: located.to_string(),
                source: Box::new(source),
            }
        }
        _ => Error::Request {
            action: format!("apply {located}"),
            source: Box::new(source),
        },
    };
    let stored = located
        .api(client)
        .patch(&located.name, parameters, &Patch::Apply(object))
        .await
        .map_err(failed)?;
    serde_json::to_value(stored).map_err(|source| failed(kube::Error::SerdeError(source)))
}
