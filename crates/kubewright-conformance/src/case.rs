use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::CaseWebhook;
use crate::Error;

/// A short script of requests about one row of the fidelity table.
#[derive(Clone, Debug, Default, Deserialize)]
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
/// In paths, headers and bodies `{ns}` stands for the case's namespace, `{stub}` and `{ca}` for the address
/// and the authority of the webhook that all cases share, and `{name}` for what an earlier step
/// saved under that name. `{expired}` and `{misnamed}` are the same webhook behind certificates that
/// do not hold, `{other-ca}` is an authority that vouches for nobody, `{leaf}` and `{misnamed-leaf}` are the
/// certificates of webhooks themselves, and `{not-finalizing}` the
/// condition that Kubewright gives to webhooks.
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
    /// The body as bytes in base64, for what is no text.
    #[serde(default)]
    pub base64: Option<String>,
    /// How a PATCH is meant.
    #[serde(default)]
    pub patch: Option<PatchType>,
    /// Headers beside those that follow from the rest.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Who asks; the administrator otherwise.
    #[serde(default)]
    pub user: Option<String>,
    /// What to keep of the response: a name, and where it stands (a JSON pointer).
    #[serde(default)]
    pub save: BTreeMap<String, String>,
    /// The same for what may not be there: what was kept before stays then.
    #[serde(default)]
    pub keep: BTreeMap<String, String>,
    /// Ask again until this status is answered; only that response counts.
    #[serde(default)]
    pub until: Option<u16>,
    /// Ask again until the body has these values: JSON pointers, and what stands there.
    #[serde(default)]
    pub awaits: BTreeMap<String, Value>,
    /// The parts of the body that are compared (JSON pointers); all of it when none is named.
    #[serde(default)]
    pub only: Vec<String>,
    /// Only prepares: the response is not compared.
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

/// As a file has it, so that it can become one.
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
    /// How cases call it.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Case, PatchType, Step};

    #[test]
    fn what_is_shown_can_be_read_again() {
        let case = Case {
            row: "P1".to_owned(),
            about: "Shown and read.".to_owned(),
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
