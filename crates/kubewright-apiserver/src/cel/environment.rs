use std::collections::BTreeMap;
use std::sync::Arc;

use super::made::made_type;
use super::types::{ObjectType, Type};

/// The one function that is only where patches are made.
const FOR_PATCHES: &str = "jsonpatch.escapeKey";

/// The variables that an expression may use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    variables: BTreeMap<&'static str, Type>,
    lacking: Vec<&'static str>,
    /// The variable whose fields are expressions themselves.
    composed: Option<&'static str>,
    /// Whether patches and objects can be made.
    makes_patches: bool,
}

impl Environment {
    /// The same with a variable.
    #[must_use]
    pub(crate) fn variable(mut self, name: &'static str, of: Type) -> Self {
        self.variables.insert(name, of);
        self
    }

    /// The same with a variable that Kubernetes has here and we do not.
    #[must_use]
    pub(crate) fn lacks(mut self, name: &'static str) -> Self {
        self.lacking.push(name);
        self
    }

    /// The same with a variable whose fields are expressions with names, which are evaluated when
    /// they are asked for.
    #[must_use]
    pub(crate) fn composed(mut self, name: &'static str, of: Arc<ObjectType>) -> Self {
        self.composed = Some(name);
        self.variable(name, Type::Object(of))
    }

    /// The same with the types that patches are made of.
    #[must_use]
    pub(crate) fn making_patches(mut self) -> Self {
        self.makes_patches = true;
        self
    }

    pub(super) fn is_composed(&self, name: &str) -> bool {
        self.composed == Some(name)
    }

    /// The type of an object that an expression makes.
    pub(super) fn made(&self, name: &str) -> Option<Type> {
        made_type(name).filter(|_| self.makes_patches)
    }

    /// Whether a function of the table can be called here.
    pub(super) fn has_function(&self, name: &str) -> bool {
        self.makes_patches || name != FOR_PATCHES
    }

    pub(super) fn find(&self, name: &str) -> Option<&Type> {
        self.variables.get(name)
    }

    pub(super) fn is_lacking(&self, name: &str) -> bool {
        self.lacking.contains(&name)
    }
}
