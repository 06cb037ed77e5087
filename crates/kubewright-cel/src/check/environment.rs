//! The variables and types that an expression can use.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::functions::{Availability, Function};
use crate::values::{ObjectType, Type, object_literal_type};

/// The variables that an expression can use, and their types.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<&'static str, Type>,
    unsupported: Vec<&'static str>,
    /// The variable whose fields are computed by other expressions.
    composed: Option<&'static str>,
    /// Whether expressions can create objects and patches.
    has_patch_types: bool,
}

impl Environment {
    /// Declares a variable.
    #[must_use]
    pub fn variable(mut self, name: &'static str, of: Type) -> Self {
        self.variables.insert(name, of);
        self
    }

    /// Declares a variable that Kubernetes has and this crate does not support. Expressions that
    /// use it fail to compile with [`CompileError::Unsupported`](crate::CompileError::Unsupported).
    #[must_use]
    pub fn unsupported_variable(mut self, name: &'static str) -> Self {
        self.unsupported.push(name);
        self
    }

    /// Declares a variable whose fields are computed by other expressions when they are first used.
    #[must_use]
    pub(crate) fn composed_variable(mut self, name: &'static str, of: Arc<ObjectType>) -> Self {
        self.composed = Some(name);
        self.variable(name, Type::Object(of))
    }

    /// Declares the types of object literals, from which mutations create patches.
    #[must_use]
    pub fn with_patch_types(mut self) -> Self {
        self.has_patch_types = true;
        self
    }

    pub(crate) fn is_composed(&self, name: &str) -> bool {
        self.composed == Some(name)
    }

    /// The type of an object literal, by its name.
    pub(super) fn object_literal_type(&self, name: &str) -> Option<Type> {
        object_literal_type(name).filter(|_| self.has_patch_types)
    }

    /// Whether there is a function of that name that expressions can call.
    pub(super) fn has_function(&self, name: &str) -> bool {
        let Some(function) = Function::find(name) else {
            return false;
        };
        let is_available = |availability: Availability| match availability {
            Availability::Everywhere => true,
            Availability::Mutations => self.has_patch_types,
        };
        let mut overloads = function.overloads().iter();
        overloads.any(|overload| is_available(overload.availability))
    }

    /// The type of a variable.
    pub(crate) fn find(&self, name: &str) -> Option<&Type> {
        self.variables.get(name)
    }

    pub(super) fn is_unsupported(&self, name: &str) -> bool {
        self.unsupported.contains(&name)
    }
}
