//! The overloads that a call can have.

use super::overload::Overload;
use super::registry::Function;
use crate::budget::Budget;
use crate::error::EvaluationError;
use crate::values::{EvaluationResult, Value};

/// The overloads of a call: those that match the types of its arguments, chosen by the checker.
#[derive(Clone, Debug)]
pub(crate) struct Resolution {
    function: Function,
    matching: Vec<&'static Overload>,
}

impl Resolution {
    pub(crate) fn new(function: Function, matching: Vec<&'static Overload>) -> Self {
        Self { function, matching }
    }

    /// The overloads that match the types of the arguments.
    pub(crate) fn matching(&self) -> &[&'static Overload] {
        &self.matching
    }

    /// Calls the first overload that accepts the values of the arguments.
    ///
    /// Overloads that do not match the types come last: a value can have another type than the
    /// checker inferred where it joins two types, as in `c ? 1 : dyn('a')`.
    pub(crate) fn call(&self, arguments: &[Value], budget: &mut Budget) -> EvaluationResult {
        let mut candidates = self.matching.iter().chain(self.function.overloads());
        match candidates.find(|overload| overload.accepts(arguments)) {
            Some(overload) => overload.call(arguments, budget),
            None => Err(EvaluationError::no_such_overload()),
        }
    }
}
