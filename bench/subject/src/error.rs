//! The errors of a subject.

use crate::listed::Listed;
use crate::metric::Metric;

/// A measurement of a subject that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The memory usage of the process could not be read.
    #[error("read {line} from /proc/self/status: subjects are measured on Linux only")]
    Memory {
        /// The missing line.
        line: &'static str,
        /// The error of the read; `None` if the file does not contain the line.
        #[source]
        source: Option<std::io::Error>,
    },
    /// A measurement that JSON cannot represent.
    #[error("print {metric}: {value} is not a finite number")]
    NotFinite {
        /// The metric.
        metric: Metric,
        /// The measured value.
        value: f64,
    },
    /// A measurement could not be printed.
    #[error("print {metric} to standard output")]
    Print {
        /// The metric.
        metric: Metric,
        /// The error of standard output.
        #[source]
        source: std::io::Error,
    },
    /// A read of the cache failed.
    #[error("read {what} from the cache")]
    Read {
        /// The key, or `all Pods`.
        what: String,
        /// The error of the cache.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A reconciled object is missing in the cache.
    #[error("read {key} from the cache: the object was reconciled, but is not in the cache")]
    Missing {
        /// The object's key.
        key: String,
    },
    /// The listed objects differ from the reconciled ones.
    #[error("list all objects: reconciled {reconciled}, but listed {listed}")]
    Disagree {
        /// The objects that the reconciler read.
        reconciled: Listed,
        /// The objects in the list.
        listed: Listed,
    },
}

/// Formats an error and its causes on one line.
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
