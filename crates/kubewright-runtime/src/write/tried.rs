use super::WriteError;
use crate::client::ErrorReason;

/// Why a try did not succeed, and what may be tried again.
pub(super) struct Tried {
    pub(super) error: WriteError,
    pub(super) again: Again,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// Another try would end the same way.
    Nothing,
    /// The part that was refused, with the object as it is then.
    Part,
    /// Everything, from what is there then.
    All,
}

impl Tried {
    /// Everything is tried again if the error means one of these.
    pub(super) fn anew_if(error: WriteError, reasons: &[ErrorReason]) -> Self {
        let is_race = reasons.iter().any(|reason| means(&error, *reason));
        let again = match is_race {
            true => Again::All,
            false => Again::Nothing,
        };
        Self { error, again }
    }
}

impl From<WriteError> for Tried {
    fn from(error: WriteError) -> Self {
        Self {
            error,
            again: Again::Nothing,
        }
    }
}

pub(super) fn means(error: &WriteError, reason: ErrorReason) -> bool {
    let status = error.status();
    status.is_some_and(|status| ErrorReason::of(status) == reason)
}
