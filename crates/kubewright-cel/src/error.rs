//! Errors of compiling and of evaluating an expression.

use std::error::Error;
use std::fmt;

/// The reason why an expression does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// The expression is invalid. Contains the errors with their positions, as cel-go prints them.
    Invalid(String),
    /// The expression uses a part of Kubernetes' CEL that this crate does not support. Contains the
    /// name of that part.
    Unsupported(String),
}

impl CompileError {
    /// Puts a prefix before the errors of an invalid expression.
    #[must_use]
    pub fn with_prefix(self, prefix: &str) -> Self {
        match self {
            Self::Invalid(errors) => Self::Invalid(format!("{prefix}{errors}")),
            unsupported @ Self::Unsupported(_) => unsupported,
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(errors) => f.write_str(errors),
            Self::Unsupported(what) => write!(f, "{what} in CEL is not implemented yet"),
        }
    }
}

impl Error for CompileError {}

/// The reason why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvaluationError {
    /// The expression has no value for these variables. Contains the message of cel-go.
    Failed(String),
    /// The evaluation costs more than its [`Budget`](crate::Budget) allows.
    BudgetExceeded,
}

impl EvaluationError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    /// No overload of a function accepts the values of the arguments. The checker finds this for
    /// all arguments but those of type `dyn`.
    pub(crate) fn no_such_overload() -> Self {
        Self::new("no such overload")
    }
}

impl fmt::Display for EvaluationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(message) => f.write_str(message),
            Self::BudgetExceeded => f.write_str("operation cancelled: actual cost limit exceeded"),
        }
    }
}

impl Error for EvaluationError {}
