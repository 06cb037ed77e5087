use std::collections::BTreeMap;

use super::types::Type;

/// The variables that an expression may use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    variables: BTreeMap<&'static str, Type>,
    lacking: Vec<&'static str>,
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

    pub(super) fn find(&self, name: &str) -> Option<&Type> {
        self.variables.get(name)
    }

    pub(super) fn is_lacking(&self, name: &str) -> bool {
        self.lacking.contains(&name)
    }
}
