use crate::{Listed, Metric};

/// Why a subject could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system does not tell how much memory is used.
    #[error("read {line} from /proc/self/status: subjects are measured on Linux only")]
    Memory {
        /// The line that was looked for.
        line: &'static str,
        /// Why the file could not be read; none when it has no such line.
        #[source]
        source: Option<std::io::Error>,
    },
    /// A measurement that JSON cannot hold.
    #[error("print {metric}: {value} is not a finite number")]
    NotFinite {
        /// What was measured.
        metric: Metric,
        /// The value that came out.
        value: f64,
    },
    /// A line of measurement could not be printed.
    #[error("print {metric} to standard output")]
    Print {
        /// What was measured.
        metric: Metric,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The cache refused a read.
    #[error("read {what} from the cache")]
    Read {
        /// The key, or `all Pods`.
        what: String,
        /// What the cache said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An object that was reconciled is not in the cache.
    #[error("read {key} from the cache: it was reconciled and is not there")]
    Missing {
        /// The object's key.
        key: String,
    },
    /// The list of all objects is not what was reconciled.
    #[error("list what was reconciled: reconciled {reconciled}, listed {listed}")]
    Disagree {
        /// What the reconciler read.
        reconciled: Listed,
        /// What the list held.
        listed: Listed,
    },
}

/// The error and what caused it, on one line.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
