//! The flags of an operator's own command `manifests`.

use clap::ValueEnum;
use kubewright_manifest::Component;

use crate::program::NO_POLICIES;

/// The issuer of the certificate of an operator's webhooks, if it is not this command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CertificateIssuer {
    /// cert-manager, which must be installed in the cluster.
    CertManager,
    /// The operator itself, which also renews it.
    Managed,
}

/// The flags of an operator's own command `manifests`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ManifestFlags<'a> {
    pub(super) image: Option<&'a str>,
    pub(super) namespace: Option<&'a str>,
    pub(super) with: &'a [Component],
    pub(super) certificates: Option<CertificateIssuer>,
    /// Whether webhooks replace policies.
    pub(super) no_policies: bool,
}

impl<'a> ManifestFlags<'a> {
    /// Returns the words of the command line.
    pub(super) fn words(self) -> Vec<&'a str> {
        let image = self.image.map(|image| ["--image", image]);
        let namespace = self.namespace.map(|namespace| ["--namespace", namespace]);
        let with = self
            .with
            .iter()
            .map(|component| ["--with", component.name()]);
        let pairs = image.into_iter().chain(namespace).chain(with);
        let certificates = self.certificates.map(|issuer| match issuer {
            CertificateIssuer::CertManager => "--cert-manager",
            CertificateIssuer::Managed => "--managed-certificates",
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

    use super::{CertificateIssuer, ManifestFlags};

    #[test]
    fn only_flags_that_are_set_are_passed_on() {
        assert_eq!(ManifestFlags::default().words(), [] as [&str; 0]);
        let flags = ManifestFlags {
            image: Some("r/web:1"),
            namespace: Some("tools"),
            with: &[Component::NetworkPolicy, Component::Prometheus],
            certificates: Some(CertificateIssuer::Managed),
            no_policies: true,
        };
        assert_eq!(
            flags.words().join(" "),
            "--image r/web:1 --namespace tools --with network-policy --with prometheus \
             --managed-certificates --no-policies"
        );
    }
}
