use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The claims of the project, in the order of `docs/promises.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Promises {
    /// One claim each.
    #[serde(rename = "promise")]
    pub promises: Vec<Promise>,
}

/// A claim, the command that proves it and the bound that holds for it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Promise {
    /// A short name to select it by.
    pub id: String,
    /// What is claimed, in a sentence.
    pub claim: String,
    /// The command that proves it, run by `sh` in the project's folder.
    pub command: String,
    /// A command run before, whose time does not count: usually the build.
    #[serde(default)]
    pub prepare: Option<String>,
    /// What must hold besides exit code 0.
    #[serde(default)]
    pub bound: Bound,
    /// Whether it is part of every run of the checks, or only of `--all`.
    #[serde(default)]
    pub quick: bool,
    /// A program without which the claim cannot be tried here.
    #[serde(default)]
    pub needs: Option<String>,
    /// What was found when the claim was last looked at by a person.
    pub state: State,
}

/// What a proof's output must satisfy.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bound {
    /// Most seconds from start to exit.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// Most seconds that the test runners of the command report as their own run time, in all.
    #[serde(default)]
    pub test_seconds: Option<f64>,
    /// Fewest tests that pass.
    #[serde(default)]
    pub tests: Option<usize>,
    /// Texts that the output holds.
    #[serde(default)]
    pub prints: Vec<String>,
}

/// Whether a promise has been kept so far; one that was kept must not break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// It held; a run that finds it broken fails.
    Kept,
    /// It is known not to hold yet; a run reports it and goes on.
    Broken,
}

/// Why the promises could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PromisesError {
    /// The file is not there or not readable.
    #[error("read the promises from {path}: is this the project's folder?")]
    Read {
        /// Where it was looked for.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("understand the promises in {path}: mend the entry that the cause names")]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where and why.
        #[source]
        source: toml::de::Error,
    },
    /// There is no promise of that name.
    #[error("find the promise {id:?} in {path}: its ids are {known}")]
    Unknown {
        /// What was asked for.
        id: String,
        /// The file.
        path: PathBuf,
        /// What there is.
        known: String,
    },
}

impl Promises {
    /// Reads the file, which must hold each of the promises asked for.
    pub(crate) fn read(path: &Path, asked: &[String]) -> Result<Self, PromisesError> {
        let text = std::fs::read_to_string(path).map_err(|source| PromisesError::Read {
            path: path.to_owned(),
            source,
        })?;
        let promises: Self = toml::from_str(&text).map_err(|source| PromisesError::Parse {
            path: path.to_owned(),
            source,
        })?;
        let known: Vec<&str> = promises
            .promises
            .iter()
            .map(|one| one.id.as_str())
            .collect();
        match asked.iter().find(|id| !known.contains(&id.as_str())) {
            Some(id) => Err(PromisesError::Unknown {
                id: id.clone(),
                path: path.to_owned(),
                known: known.join(", "),
            }),
            None => Ok(promises),
        }
    }
}
