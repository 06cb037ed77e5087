//! An overload of a function: its signature, its implementation and the estimate of its cost.

use std::fmt;

use super::arguments::Arguments;
use super::type_pattern::{Bindings, TypePattern};
use crate::budget::Budget;
use crate::cost::{Estimator, constant};
use crate::error::EvaluationError;
use crate::values::{EvaluationResult, Type, Value};

/// Computes a call from the values of its arguments. Results and work that grow faster than the
/// arguments are charged to the budget in advance.
pub(crate) type Implementation = fn(Arguments<'_>, &mut Budget) -> EvaluationResult;

/// One overload of a function. Operators are functions with the names that cel-go gives them.
pub(crate) struct Overload {
    /// The identifier in cel-go or in Kubernetes. Unique.
    pub(crate) id: &'static str,
    pub(crate) signature: Signature,
    body: Body,
    pub(crate) estimator: Estimator,
    /// How the items of the result relate to those of the arguments.
    pub(crate) items: ResultItems,
    pub(crate) availability: Availability,
    checked_arguments: CheckedArguments,
    charge: Charge,
}

/// The name and types of an overload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signature {
    pub(crate) function: &'static str,
    pub(crate) style: CallStyle,
    /// The types of the parameters, with the receiver first.
    pub(crate) parameters: &'static [TypePattern],
    pub(crate) result: TypePattern,
}

/// How an overload is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallStyle {
    /// `function(a, b)`.
    Global,
    /// `a.function(b)`.
    Member,
}

/// What runs when an overload is called.
#[derive(Clone, Copy)]
enum Body {
    Implemented(Implementation),
    /// The evaluator runs it, because not all of its arguments are evaluated.
    Lazy,
    /// Kubernetes has it and this crate does not. Contains its name in errors.
    Unsupported(&'static str),
}

/// What the estimate of the result knows about its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultItems {
    /// Nothing.
    Unknown,
    /// The result is the argument.
    SameAsArgument,
    /// The result has the items of both arguments.
    FromBothArguments,
    /// The result is an item of the first argument.
    ItemOfFirst,
}

/// Where an overload can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Availability {
    Everywhere,
    /// Only in expressions that create patches.
    Mutations,
}

/// The arguments whose values decide whether an overload accepts a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CheckedArguments {
    All,
    /// Only the first one. The implementation accepts more types of the others than their
    /// parameters have.
    First,
}

/// What a call costs by the sizes of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Charge {
    StringsAndLists,
    /// The overload reads one item of its list.
    Strings,
}

pub(super) const fn global(
    function: &'static str,
    parameters: &'static [TypePattern],
    result: TypePattern,
) -> Signature {
    Signature {
        function,
        style: CallStyle::Global,
        parameters,
        result,
    }
}

pub(super) const fn member(
    function: &'static str,
    parameters: &'static [TypePattern],
    result: TypePattern,
) -> Signature {
    Signature {
        function,
        style: CallStyle::Member,
        parameters,
        result,
    }
}

impl Signature {
    /// An overload with this signature.
    pub(super) const fn overload(
        self,
        id: &'static str,
        implementation: Implementation,
        estimator: Estimator,
    ) -> Overload {
        self.with_body(id, Body::Implemented(implementation), estimator)
    }

    /// An overload of an operator that does not evaluate all of its arguments. The evaluator runs
    /// it and the estimate covers it.
    pub(super) const fn lazy(self, id: &'static str) -> Overload {
        self.with_body(id, Body::Lazy, constant)
    }

    /// An overload that only Kubernetes has. An expression that calls it does not compile.
    pub(super) const fn unsupported(self, id: &'static str, name: &'static str) -> Overload {
        self.with_body(id, Body::Unsupported(name), constant)
    }

    const fn with_body(self, id: &'static str, body: Body, estimator: Estimator) -> Overload {
        Overload {
            id,
            signature: self,
            body,
            estimator,
            items: ResultItems::Unknown,
            availability: Availability::Everywhere,
            checked_arguments: CheckedArguments::All,
            charge: Charge::StringsAndLists,
        }
    }

    /// The type of the result for arguments of these types, or `None` if they do not match.
    pub(crate) fn result_for(&self, arguments: &[Type]) -> Option<Type> {
        if self.parameters.len() != arguments.len() {
            return None;
        }
        let mut bindings = Bindings::default();
        self.parameters
            .iter()
            .zip(arguments)
            .all(|(parameter, argument)| parameter.matches(argument, &mut bindings))
            .then(|| self.result.resolve(&bindings))
    }
}

impl Overload {
    /// Sets what the estimate of the result knows about its items.
    pub(super) const fn items(mut self, items: ResultItems) -> Self {
        self.items = items;
        self
    }

    /// Restricts the overload to expressions that create patches.
    pub(super) const fn for_mutations(mut self) -> Self {
        self.availability = Availability::Mutations;
        self
    }

    /// Declares that only the first argument decides whether the overload accepts a call.
    pub(super) const fn checks_first_argument(mut self) -> Self {
        self.checked_arguments = CheckedArguments::First;
        self
    }

    /// Declares that the overload reads one item of its list.
    pub(super) const fn reads_one_item(mut self) -> Self {
        self.charge = Charge::Strings;
        self
    }

    /// The name for errors if the overload is not supported.
    pub(crate) fn unsupported_name(&self) -> Option<&'static str> {
        match self.body {
            Body::Unsupported(name) => Some(name),
            Body::Implemented(_) | Body::Lazy => None,
        }
    }

    /// Whether the overload accepts the values of the arguments.
    pub(super) fn accepts(&self, arguments: &[Value]) -> bool {
        let parameters = self.signature.parameters;
        if parameters.len() != arguments.len() {
            return false;
        }
        let checked = match self.checked_arguments {
            CheckedArguments::All => parameters.len(),
            CheckedArguments::First => 1,
        };
        parameters
            .iter()
            .zip(arguments)
            .take(checked)
            .all(|(parameter, argument)| parameter.accepts(argument))
    }

    /// Charges the arguments and calls the implementation.
    pub(super) fn call(&self, arguments: &[Value], budget: &mut Budget) -> EvaluationResult {
        let Body::Implemented(implementation) = self.body else {
            return Err(EvaluationError::no_such_overload());
        };
        for argument in arguments {
            match argument {
                Value::String(text) => budget.charge_bytes(text.len())?,
                Value::Bytes(bytes) => budget.charge_bytes(bytes.len())?,
                Value::List(items, _) if self.charge == Charge::StringsAndLists => {
                    budget.charge_items(items.len())?;
                }
                _ => {}
            }
        }
        implementation(Arguments(arguments), budget)
    }
}

/// Shows the identifier only: implementations are function pointers.
impl fmt::Debug for Overload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}
