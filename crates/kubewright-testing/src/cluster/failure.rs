//! Fails a test with a message that names its line.

use std::error::Error as StdError;
use std::fmt::{self, Display};
use std::panic::Location;

/// Fails a test with a message that names its line.
///
/// # Panics
///
/// Always.
#[expect(clippy::panic, reason = "a test fails by panicking")]
pub(crate) fn fail(location: &Location<'_>, message: impl Display) -> ! {
    panic!("{location}: {message}")
}

/// An error with all of its causes, on one line.
pub(crate) struct Chain<'a>(pub(crate) &'a (dyn StdError + 'static));

impl Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut next = Some(self.0);
        let mut separator = "";
        while let Some(error) = next {
            f.write_str(separator)?;
            separator = ": ";
            // Only the message of the server; kube would print the whole Status.
            if let Some(kube::Error::Api(status)) = error.downcast_ref() {
                return write!(f, "{} {}: {}", status.code, status.reason, status.message);
            }
            write!(f, "{error}")?;
            next = error.source();
        }
        Ok(())
    }
}
