//! The choice between webhook and policies.

use std::str::FromStr;

/// What injects the containers of sets into new Pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Injector {
    /// The operator's webhook. While it is down, Pods that a set selects are rejected.
    #[default]
    Webhook,
    /// The API server itself for [plain](crate::webhook_requirement) sets, by a policy for each,
    /// which needs Kubernetes 1.36. The webhook for all other sets, and for all sets where the
    /// cluster does not serve policies.
    Policy,
}

/// A name that is not one of an [`Injector`].
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("inject by {0:?}: use webhook or policy")]
pub struct UnknownInjector(String);

impl FromStr for Injector {
    type Err = UnknownInjector;

    fn from_str(text: &str) -> Result<Self, UnknownInjector> {
        match text {
            "webhook" => Ok(Self::Webhook),
            "policy" => Ok(Self::Policy),
            other => Err(UnknownInjector(other.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Injector;

    #[test]
    fn injector_is_parsed_from_its_name() {
        assert_eq!("webhook".parse(), Ok(Injector::Webhook));
        assert_eq!("policy".parse(), Ok(Injector::Policy));
        let error = "policies".parse::<Injector>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "inject by \"policies\": use webhook or policy"
        );
    }
}
