use std::error::Error as StdError;
use std::fmt::{self, Display};
use std::panic::Location;

/// Ends a test with a message that names the line of the test.
///
/// # Panics
///
/// Always: that is how a test fails.
#[expect(clippy::panic, reason = "a test fails by panicking")]
pub(crate) fn fail(location: &Location<'_>, message: impl Display) -> ! {
    panic!("{location}: {message}")
}

/// An error with all of its causes, on one line.
pub(crate) struct Chain<'a>(pub(crate) &'a dyn StdError);

impl Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
