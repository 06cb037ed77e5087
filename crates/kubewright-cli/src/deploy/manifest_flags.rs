use clap::ValueEnum;
use kubewright_manifest::Component;

use crate::program::NO_POLICIES;

/// Who makes the certificate of an operator's webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Maker {
    /// cert-manager, which the cluster has to have.
    CertManager,
    /// The operator itself, which also renews it.
    Managed,
}

/// What the operator's own `manifests` is told.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags<'a> {
    pub(super) image: Option<&'a str>,
    pub(super) namespace: Option<&'a str>,
    pub(super) with: &'a [Component],
    pub(super) certificates: Option<Maker>,
    /// Whether webhooks stand in for policies.
    pub(super) no_policies: bool,
}

impl<'a> Flags<'a> {
    /// The words of its command line.
    pub(super) fn words(self) -> Vec<&'a str> {
        let image = self.image.map(|image| ["--image", image]);
        let namespace = self.namespace.map(|namespace| ["--namespace", namespace]);
        let with = self.with.iter().map(|one| ["--with", one.name()]);
        let pairs = image.into_iter().chain(namespace).chain(with);
        let certificates = self.certificates.map(|maker| match maker {
            Maker::CertManager => "--cert-manager",
            Maker::Managed => "--managed-certificates",
        });
        let policies = self.no_policies.then_some(NO_POLICIES);
        pairs
            .flatten()
            .chain(certificates)
            .chain(policies)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use kubewright_manifest::Component;

    use super::{Flags, Maker};

    #[test]
    fn only_what_was_asked_for_is_told() {
        assert_eq!(Flags::default().words(), [] as [&str; 0]);
        let flags = Flags {
            image: Some("r/web:1"),
            namespace: Some("tools"),
            with: &[Component::NetworkPolicy, Component::Prometheus],
            certificates: Some(Maker::Managed),
            no_policies: true,
        };
        assert_eq!(
            flags.words().join(" "),
            "--image r/web:1 --namespace tools --with network-policy --with prometheus \
             --managed-certificates --no-policies"
        );
    }
}
