use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::CaseWebhook;
use crate::Error;

/// A short script of requests about one row of the fidelity table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its name, from the file's name.
    #[serde(skip)]
    pub name: String,
    /// The row of `docs/fidelity.md`.
    pub row: String,
    /// What is shown, in a sentence.
    pub about: String,
    /// In what the embedded cluster is known to differ; it must then, so that what was put right
    /// is noticed.
    #[serde(default)]
    pub differs: Option<String>,
    /// Webhooks that act while the requests are sent.
    #[serde(default)]
    pub webhooks: Vec<CaseWebhook>,
    /// The requests, in order.
    pub steps: Vec<Step>,
}

/// One request of a [`Case`].
///
/// In paths and bodies `{ns}` stands for the case's namespace, `{stub}` and `{ca}` for the address
/// and the authority of the webhook that all cases share, and `{name}` for what an earlier step
/// saved under that name.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Method and path.
    pub request: String,
    /// The body as a value.
    #[serde(default)]
    pub body: Option<Value>,
    /// The body as text, for what is no value.
    #[serde(default)]
    pub raw: Option<String>,
    /// How a PATCH is meant.
    #[serde(default)]
    pub patch: Option<PatchType>,
    /// Headers beside those that follow from the rest.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Who asks; the administrator otherwise.
    #[serde(default)]
    pub user: Option<String>,
    /// What to keep of the answer: a name, and where it stands (a JSON pointer).
    #[serde(default)]
    pub save: BTreeMap<String, String>,
    /// Ask again until this status is answered; only that answer counts.
    #[serde(default)]
    pub until: Option<u16>,
    /// Ask again until the body has these values: JSON pointers, and what stands there.
    #[serde(default)]
    pub awaits: BTreeMap<String, Value>,
    /// The parts of the body that are compared (JSON pointers); all of it when none is named.
    #[serde(default)]
    pub only: Vec<String>,
    /// Only prepares: the answer is not compared.
    #[serde(default)]
    pub aside: bool,
}

/// How a PATCH is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PatchType {
    /// RFC 7386.
    Merge,
    /// RFC 6902.
    Json,
    /// Kubernetes' own.
    Strategic,
    /// Server-side apply.
    Apply,
}

impl PatchType {
    pub(super) const fn content_type(self) -> &'static str {
        match self {
            Self::Merge => "application/merge-patch+json",
            Self::Json => "application/json-patch+json",
            Self::Strategic => "application/strategic-merge-patch+json",
            Self::Apply => "application/apply-patch+yaml",
        }
    }
}

impl Case {
    /// Reads every case of a folder, by name.
    pub fn read_all(folder: &Path) -> Result<Vec<Self>, Error> {
        let unreadable = |path: &Path, why: String| Error::Case {
            path: path.to_owned(),
            why,
        };
        let entries = fs::read_dir(folder).map_err(|why| unreadable(folder, why.to_string()))?;
        let mut paths: Vec<_> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "yaml")
            })
            .collect();
        paths.sort();
        paths
            .iter()
            .map(|path| {
                let text = fs::read_to_string(path);
                let text = text.map_err(|why| unreadable(path, why.to_string()))?;
                let mut case: Self = serde_saphyr::from_str(&text)
                    .map_err(|why| unreadable(path, why.to_string()))?;
                let name = path.file_stem().unwrap_or_default();
                case.name = name.display().to_string();
                Ok(case)
            })
            .collect()
    }
}
