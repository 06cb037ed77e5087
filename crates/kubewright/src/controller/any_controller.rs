//! A controller without the type of its kind.

use kubewright_core::{ControllerDescription, PolicyRule};
use kubewright_runtime::controller as runtime;
use serde_json::Value;

use super::Environment;
use crate::Error;

/// A controller of some kind, as the operator stores it.
pub(crate) trait AnyController: Send {
    /// Returns the controller's part of the description.
    fn describe(&self) -> ControllerDescription;

    /// Returns the definition of its kind, if that is a custom resource.
    fn definition(&self) -> Option<Value>;

    /// Returns the rules that do not follow from its registrations.
    fn extra_rules(&self) -> &[PolicyRule];

    /// Returns an error if the controller cannot be run.
    fn check(&self) -> Result<(), Error>;

    /// Returns the controller of the runtime, ready to run.
    fn build(self: Box<Self>, environment: &Environment) -> Result<runtime::Controller, Error>;
}
