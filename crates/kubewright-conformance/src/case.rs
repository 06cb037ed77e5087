//! A case of the suite: a list of requests about one row of the fidelity table.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::CaseWebhook;
use crate::Error;

/// A list of requests about one row of the fidelity table.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its name, which is that of the file.
    #[serde(skip)]
    pub name: String,
    /// The row of `docs/fidelity.md`.
    pub row: String,
    /// A sentence about the behavior that the case compares.
    pub about: String,
    /// How the embedded cluster is known to differ. A case without a difference then fails, so that
    /// this is removed when the difference is fixed.
    #[serde(default)]
    pub differs: Option<String>,
    /// Webhooks that are configured while the requests are sent.
    #[serde(default)]
    pub webhooks: Vec<CaseWebhook>,
    /// The requests, in order.
    pub steps: Vec<Step>,
}

/// One request of a [`Case`].
///
/// Paths, headers and bodies can contain placeholders:
///
/// - `{ns}`: the namespace of the case.
/// - `{name}`: the value that an earlier step saved with this name.
/// - `{stub}` and `{ca}`: the address and the authority of the webhook that all cases share.
/// - `{expired}` and `{misnamed}`: the addresses of the same webhook with invalid certificates.
/// - `{leaf}` and `{misnamed-leaf}`: the certificates of the webhook.
/// - `{other-ca}`: an authority that signed none of these certificates.
/// - `{not-finalizing}`: the match condition that Kubewright generates for webhooks.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Method and path.
    pub request: String,
    /// The body as a value.
    #[serde(default)]
    pub body: Option<Value>,
    /// The body as text, if it is not a valid value.
    #[serde(default)]
    pub raw: Option<String>,
    /// The body as bytes in base64, if it is not valid text.
    #[serde(default)]
    pub base64: Option<String>,
    /// The patch type of a PATCH.
    #[serde(default)]
    pub patch: Option<PatchType>,
    /// Additional headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The user; the default is the administrator.
    #[serde(default)]
    pub user: Option<String>,
    /// Values of the response that later steps use: their names and JSON pointers.
    #[serde(default)]
    pub save: BTreeMap<String, String>,
    /// Values to save that the response may lack: the value saved before is kept then.
    #[serde(default)]
    pub keep: BTreeMap<String, String>,
    /// Repeats the request until the response has this status; only this response is compared.
    #[serde(default)]
    pub until: Option<u16>,
    /// Repeats the request until the body has these values: JSON pointers and expected values.
    #[serde(default)]
    pub awaits: BTreeMap<String, Value>,
    /// JSON pointers to the parts of the body that are compared; without any, the whole body is.
    #[serde(default)]
    pub only: Vec<String>,
    /// The step only prepares others: its response is not compared.
    #[serde(default)]
    pub aside: bool,
}

/// The patch type of a PATCH.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PatchType {
    /// RFC 7386.
    Merge,
    /// RFC 6902.
    Json,
    /// The strategic merge patch of Kubernetes.
    Strategic,
    /// Server-side apply.
    Apply,
}

/// The text of a case file.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "row: {}\nabout: {}\nsteps:", self.row, self.about)?;
        self.steps.iter().try_for_each(|step| write!(f, "{step}"))
    }
}

/// One entry of the steps of a [`Case`].
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  - request: {}", self.request)?;
        if let Some(patch) = self.patch {
            writeln!(f, "    patch: {}", patch.name())?;
        }
        for (name, given) in [("save", &self.save), ("keep", &self.keep)] {
            if !given.is_empty() {
                writeln!(f, "    {name}: {}", json!(given))?;
            }
        }
        if self.aside {
            writeln!(f, "    aside: true")?;
        }
        if let Some(until) = self.until {
            writeln!(f, "    until: {until}")?;
        }
        match &self.body {
            Some(body) => writeln!(f, "    body: {body}"),
            None => Ok(()),
        }
    }
}

impl PatchType {
    /// The name in case files.
    const fn name(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Json => "json",
            Self::Strategic => "strategic",
            Self::Apply => "apply",
        }
    }

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
    /// Reads all cases of a folder, sorted by name.
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
                let text =
                    fs::read_to_string(path).map_err(|why| unreadable(path, why.to_string()))?;
                let mut case: Self = serde_saphyr::from_str(&text)
                    .map_err(|why| unreadable(path, why.to_string()))?;
                let name = path.file_stem().unwrap_or_default();
                case.name = name.display().to_string();
                Ok(case)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Case, PatchType, Step};

    #[test]
    fn displayed_case_can_be_parsed() {
        let case = Case {
            row: "P1".to_owned(),
            about: "Displayed and parsed.".to_owned(),
            steps: vec![Step {
                request: "PATCH /x/{ns}?a=b".to_owned(),
                patch: Some(PatchType::Apply),
                keep: [("rv".to_owned(), "/metadata/resourceVersion".to_owned())].into(),
                until: Some(200),
                body: Some(json!({"a": ["{rv}", null, 1]})),
                ..Step::default()
            }],
            ..Case::default()
        };
        let read: Case = serde_saphyr::from_str(&case.to_string()).unwrap();
        assert_eq!(read.to_string(), case.to_string());
        assert_eq!(read.steps[0].body, case.steps[0].body);
        assert_eq!(read.steps[0].keep, case.steps[0].keep);
    }
}
