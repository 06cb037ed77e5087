use std::str::FromStr;

/// Who puts the containers of sets into new Pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Injection {
    /// The operator's webhook: while it is down, Pods that a set is for are refused.
    #[default]
    Webhook,
    /// For [plain](crate::obstacle) sets the API server itself, by a policy for each, which needs
    /// Kubernetes 1.36; the webhook for all others, and for all where no such policies are served.
    Policy,
}

/// A word that says nobody.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("inject by {0:?}: use webhook or policy")]
pub struct UnknownInjection(String);

impl FromStr for Injection {
    type Err = UnknownInjection;

    fn from_str(text: &str) -> Result<Self, UnknownInjection> {
        match text {
            "webhook" => Ok(Self::Webhook),
            "policy" => Ok(Self::Policy),
            other => Err(UnknownInjection(other.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Injection;

    #[test]
    fn who_injects_is_one_of_two_words() {
        assert_eq!("webhook".parse(), Ok(Injection::Webhook));
        assert_eq!("policy".parse(), Ok(Injection::Policy));
        let error = "policies".parse::<Injection>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "inject by \"policies\": use webhook or policy"
        );
    }
}
