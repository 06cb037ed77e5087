//! Kubernetes' own kinds, and where Rust has them.

use std::path::Path;

use kubewright_apiserver::builtin_resources;
use kubewright_core::{Resource, Scope};

use crate::error::Error;

/// Kubernetes' own groups, and the module of `k8s_openapi` that has their kinds.
const GROUPS: [(&str, &str); 21] = [
    ("", "api::core"),
    ("admissionregistration.k8s.io", "api::admissionregistration"),
    (
        "apiextensions.k8s.io",
        "apiextensions_apiserver::pkg::apis::apiextensions",
    ),
    (
        "apiregistration.k8s.io",
        "kube_aggregator::pkg::apis::apiregistration",
    ),
    ("apps", "api::apps"),
    ("authentication.k8s.io", "api::authentication"),
    ("authorization.k8s.io", "api::authorization"),
    ("autoscaling", "api::autoscaling"),
    ("batch", "api::batch"),
    ("certificates.k8s.io", "api::certificates"),
    ("coordination.k8s.io", "api::coordination"),
    ("discovery.k8s.io", "api::discovery"),
    ("events.k8s.io", "api::events"),
    ("flowcontrol.apiserver.k8s.io", "api::flowcontrol"),
    ("networking.k8s.io", "api::networking"),
    ("node.k8s.io", "api::node"),
    ("policy", "api::policy"),
    ("rbac.authorization.k8s.io", "api::rbac"),
    ("resource.k8s.io", "api::resource"),
    ("scheduling.k8s.io", "api::scheduling"),
    ("storage.k8s.io", "api::storage"),
];

/// A kind that a command names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named<'a> {
    /// As it was typed: `core` is the group without a name.
    pub(super) group: &'a str,
    pub(super) version: &'a str,
    pub(super) kind: &'a str,
}

impl Named<'_> {
    /// The kind of Kubernetes that is meant.
    pub(super) fn builtin(self) -> Option<&'static Resource> {
        builtin_resources().find(|resource| {
            let kind = &resource.kind;
            (kind.group(), kind.version()) == (name_of(self.group), self.version)
                && kind.kind == self.kind
        })
    }

    /// Neither the project nor Kubernetes has the kind: what Kubernetes has in its place.
    pub(super) fn missing(self, project: &Path) -> Error {
        let group = name_of(self.group);
        let in_group = || builtin_resources().filter(move |one| one.kind.group() == group);
        let listed = |of_kind: fn(&'static Resource) -> &'static str, version: Option<&str>| {
            let wanted =
                in_group().filter(|one| version.is_none_or(|wanted| one.kind.version() == wanted));
            let mut names: Vec<&str> = wanted.map(of_kind).collect();
            names.sort_unstable();
            names.dedup();
            names.join(", ")
        };
        let kinds = listed(|one| &one.kind.kind, Some(self.version));
        let there = if kinds.is_empty() {
            format!("the versions {}", listed(|one| one.kind.version(), None))
        } else {
            kinds
        };
        Error::NoSuchBuiltin {
            kind: self.kind.to_owned(),
            folder: project.join("src"),
            group_version: format!("{}/{}", self.group, self.version),
            there,
        }
    }
}

/// The name of a group as Kubernetes writes it.
fn name_of(group: &str) -> &str {
    if group == "core" { "" } else { group }
}

/// Whether objects of the kind live in namespaces.
pub(super) fn is_namespaced(resource: &Resource) -> bool {
    resource.scope == Scope::Namespaced
}

/// Whether Kubernetes itself has the group; `core` is the one without a name.
pub(super) fn is_known_group(group: &str) -> bool {
    GROUPS.iter().any(|(known, _)| *known == name_of(group))
}

/// Where Rust has a kind of Kubernetes.
pub(super) fn rust_path(resource: &Resource) -> Option<String> {
    let kind = &resource.kind;
    let (_, module) = GROUPS.iter().find(|(known, _)| *known == kind.group())?;
    Some(format!(
        "kubewright::k8s_openapi::{module}::{}::{}",
        kind.version(),
        kind.kind
    ))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use kubewright_apiserver::builtin_resources;

    use super::{Named, rust_path};

    fn named<'a>(group: &'a str, version: &'a str, kind: &'a str) -> Named<'a> {
        Named {
            group,
            version,
            kind,
        }
    }

    #[test]
    fn kinds_of_kubernetes_have_a_path() {
        for (named, path) in [
            (named("core", "v1", "Pod"), "api::core::v1::Pod"),
            (
                named("networking.k8s.io", "v1", "Ingress"),
                "api::networking::v1::Ingress",
            ),
            (
                named("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
                "apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition",
            ),
        ] {
            let found = rust_path(named.builtin().unwrap()).unwrap();
            assert_eq!(found, format!("kubewright::k8s_openapi::{path}"));
        }
        let without: Vec<_> = builtin_resources()
            .filter(|resource| rust_path(resource).is_none())
            .collect();
        assert!(without.is_empty(), "{without:?}");
    }

    #[test]
    fn kinds_that_kubernetes_does_not_have_are_told_what_is_there() {
        for (named, there) in [
            (
                named("core", "v1", "Pot"),
                "PersistentVolumeClaim, Pod, PodTemplate",
            ),
            (named("apps", "v1beta1", "Deployment"), "the versions v1"),
        ] {
            assert!(named.builtin().is_none());
            let said = named.missing(Path::new("demo")).to_string();
            assert!(said.contains(there), "{said}");
        }
    }
}
