//! The samples of an operator, applied to its cluster.

use std::path::Path;

use serde_json::Value;

use crate::error::Error;
use crate::objects::{AbsentVersion, Located, Ownership, apply_all, read_folder};

/// The samples of an operator.
#[derive(Debug)]
pub(crate) struct Samples {
    /// Samples that were applied.
    pub(crate) applied: Vec<Located>,
    /// Samples in absent versions, as `apiVersion kind name`.
    pub(crate) skipped: Vec<String>,
}

/// Applies the objects in the `.yaml` files of the folder, in the order of the file names, except
/// for those in absent versions.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the objects applied.
pub(crate) async fn apply(
    client: &kube::Client,
    folder: &Path,
    absent: &[AbsentVersion],
) -> Result<Samples, Error> {
    let objects = if folder.exists() {
        read_folder(folder)?
    } else {
        Vec::new()
    };
    let is_absent = |object: &Value| absent.iter().any(|version| version.is_of(object));
    let (skipped, served): (Vec<Value>, Vec<Value>) = objects.into_iter().partition(is_absent);
    Ok(Samples {
        applied: apply_all(client, &served, Ownership::Dev).await?,
        skipped: skipped.iter().map(title).collect(),
    })
}

fn title(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let (version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    format!("{version} {kind} {}", text(&object["metadata"]["name"]))
}
