use std::path::Path;

use serde_json::Value;

use crate::error::Error;
use crate::objects::{AbsentVersion, Located, Ownership, apply_all, read_folder};

/// What became of the samples.
#[derive(Debug)]
pub(crate) struct Samples {
    /// Those that are in the cluster now.
    pub(crate) applied: Vec<Located>,
    /// Those in versions that the cluster does without, as `apiVersion kind name`.
    pub(crate) skipped: Vec<String>,
}

/// Applies the objects in the `.yaml` files of the folder, in the order of their names, but for
/// those in versions that the cluster does without.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the objects applied.
pub(crate) async fn apply(
    client: &kube::Client,
    folder: &Path,
    absent: &[AbsentVersion],
) -> Result<Samples, Error> {
    let objects = match folder.exists() {
        true => read_folder(folder)?,
        false => Vec::new(),
    };
    let is_absent = |object: &Value| absent.iter().any(|version| version.is_of(object));
    let (skipped, wanted): (Vec<Value>, Vec<Value>) = objects.into_iter().partition(is_absent);
    Ok(Samples {
        applied: apply_all(client, &wanted, Ownership::Dev).await?,
        skipped: skipped.iter().map(title).collect(),
    })
}

fn title(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let (version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    format!("{version} {kind} {}", text(&object["metadata"]["name"]))
}
