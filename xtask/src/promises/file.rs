//! The file `docs/promises.toml`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The promises, in the order of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Promises {
    /// The entries.
    #[serde(rename = "promise")]
    pub promises: Vec<Promise>,
}

/// A claim, the command that checks it and its bound.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Promise {
    /// The id, which selects the promise on the command line.
    pub id: String,
    /// The claim, a sentence.
    pub claim: String,
    /// The command that checks the claim, run by `sh` in the root of the repository.
    pub command: String,
    /// A command that runs before, usually a build. Its time does not count.
    #[serde(default)]
    pub prepare: Option<String>,
    /// The bound on the output and the duration, in addition to exit code 0.
    #[serde(default)]
    pub bound: Bound,
    /// Whether the promise is checked by default, not only with `--all`.
    #[serde(default)]
    pub quick: bool,
    /// A program that the command needs. Without it the promise is not checked.
    #[serde(default)]
    pub needs: Option<String>,
    /// The state that a person recorded after the last check.
    pub state: State,
}

/// The bound on the output and the duration of a command.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bound {
    /// Maximum seconds from start to exit.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// Maximum of the sum of the run times that the test runners report, in seconds.
    #[serde(default)]
    pub test_seconds: Option<f64>,
    /// Minimum number of passing tests.
    #[serde(default)]
    pub tests: Option<usize>,
    /// Texts that the output contains.
    #[serde(default)]
    pub prints: Vec<String>,
}

/// The recorded state of a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// The claim holds. A check that finds it broken fails.
    Kept,
    /// The claim is known not to hold. A check only reports it.
    Broken,
}

/// An error in the promises.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PromisesError {
    /// The file cannot be read.
    #[error("read the promises from {path}: is this the root of the repository?")]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The file is invalid.
    #[error("parse the promises in {path}: fix the entry that the cause names")]
    Parse {
        /// The file.
        path: PathBuf,
        /// The position and the reason.
        #[source]
        source: toml::de::Error,
    },
    /// No promise has this id.
    #[error("find the promise {id:?} in {path}: its ids are {known}")]
    Unknown {
        /// The requested id.
        id: String,
        /// The file.
        path: PathBuf,
        /// The existing ids.
        known: String,
    },
}

impl Promises {
    /// Reads the file. Fails if it lacks one of the requested ids.
    pub(crate) fn read(path: &Path, ids: &[String]) -> Result<Self, PromisesError> {
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
            .map(|promise| promise.id.as_str())
            .collect();
        if let Some(id) = ids.iter().find(|id| !known.contains(&id.as_str())) {
            return Err(PromisesError::Unknown {
                id: id.clone(),
                path: path.to_owned(),
                known: known.join(", "),
            });
        }
        Ok(promises)
    }
}
