use std::fmt;

/// Why a question to a webhook has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoAnswer {
    why: String,
    /// Whether the same question may find one a moment later (`DefaultShouldRetry` of
    /// k8s.io/apiserver/pkg/util/webhook).
    pub(crate) is_passing: bool,
}

impl NoAnswer {
    /// One that would come again.
    pub(crate) fn lasting(why: String) -> Self {
        Self {
            why,
            is_passing: false,
        }
    }

    /// One that may be over soon.
    pub(crate) fn passing(why: String) -> Self {
        Self {
            why,
            is_passing: true,
        }
    }
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}
