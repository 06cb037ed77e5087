//! What tests of the kinds call.

use serde_json::Value;

use super::builtin::BuiltinKind;
use kubewright_wire::status::Cause;

impl BuiltinKind {
    /// The errors of an object as they are printed.
    pub(crate) fn errors(&self, object: &Value, old: Option<&Value>) -> Vec<String> {
        let causes = self.validate(object, old);
        causes.iter().map(Cause::with_field).collect()
    }

    /// The errors of a status write as they are printed.
    pub(crate) fn status_errors(&self, object: &Value, old: &Value) -> Vec<String> {
        let causes = self.validate_status(object, old);
        causes.iter().map(Cause::with_field).collect()
    }
}
