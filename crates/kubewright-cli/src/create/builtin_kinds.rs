//! The built-in kinds of Kubernetes, and their paths in Rust.

use std::collections::BTreeSet;
use std::path::Path;

use kubewright_apiserver::builtin_resources;
use kubewright_core::{Resource, Scope};

use crate::error::Error;

/// The built-in groups, and the module of `k8s_openapi` that has their kinds.
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

/// A built-in kind as the command line names it.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuiltinKind<'a> {
    /// The group as it was typed: `core` is the empty group.
    pub(super) group: &'a str,
    pub(super) version: &'a str,
    pub(super) kind: &'a str,
}

impl BuiltinKind<'_> {
    /// Returns the resource of the kind, if Kubernetes has it.
    pub(super) fn resource(self) -> Option<&'static Resource> {
        builtin_resources().find(|resource| {
            let kind = &resource.kind;
            (kind.group(), kind.version()) == (group_name(self.group), self.version)
                && kind.kind == self.kind
        })
    }

    /// Returns the error for a kind that neither the project nor Kubernetes has. It lists the kinds of
    /// the version, or the versions of the group.
    pub(super) fn not_found(self, project: &Path) -> Error {
        let group = group_name(self.group);
        let in_group =
            || builtin_resources().filter(move |resource| resource.kind.group() == group);
        let kinds = joined(
            in_group()
                .filter(|resource| resource.kind.version() == self.version)
                .map(|resource| &*resource.kind.kind),
        );
        let available = if kinds.is_empty() {
            let versions = joined(in_group().map(|resource| resource.kind.version()));
            format!("the versions {versions}")
        } else {
            kinds
        };
        Error::BuiltinKindNotFound {
            kind: self.kind.to_owned(),
            folder: project.join("src"),
            group_version: format!("{}/{}", self.group, self.version),
            available,
        }
    }
}

/// Joins the names, sorted and without duplicates.
fn joined<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: BTreeSet<&str> = names.collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// Returns the name of a group in Kubernetes: empty for `core`.
fn group_name(group: &str) -> &str {
    if group == "core" { "" } else { group }
}

/// Whether objects of the kind have a namespace.
pub(super) fn is_namespaced(resource: &Resource) -> bool {
    resource.scope == Scope::Namespaced
}

/// Whether the group is built in; `core` is the empty group.
pub(super) fn is_builtin_group(group: &str) -> bool {
    GROUPS.iter().any(|(known, _)| *known == group_name(group))
}

/// Returns the path of the kind in Rust.
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

    use super::{BuiltinKind, rust_path};

    fn builtin<'a>(group: &'a str, version: &'a str, kind: &'a str) -> BuiltinKind<'a> {
        BuiltinKind {
            group,
            version,
            kind,
        }
    }

    #[test]
    fn every_builtin_kind_has_a_rust_path() {
        for (kind, path) in [
            (builtin("core", "v1", "Pod"), "api::core::v1::Pod"),
            (
                builtin("networking.k8s.io", "v1", "Ingress"),
                "api::networking::v1::Ingress",
            ),
            (
                builtin("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
                "apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition",
            ),
        ] {
            let found = rust_path(kind.resource().unwrap()).unwrap();
            assert_eq!(found, format!("kubewright::k8s_openapi::{path}"));
        }
        let without: Vec<_> = builtin_resources()
            .filter(|resource| rust_path(resource).is_none())
            .collect();
        assert!(without.is_empty(), "{without:?}");
    }

    #[test]
    fn error_for_an_unknown_kind_lists_the_kinds_or_versions_of_its_group() {
        for (kind, available) in [
            (
                builtin("core", "v1", "Pot"),
                "PersistentVolumeClaim, Pod, PodTemplate",
            ),
            (builtin("apps", "v1beta1", "Deployment"), "the versions v1"),
        ] {
            assert!(kind.resource().is_none());
            let message = kind.not_found(Path::new("demo")).to_string();
            assert!(message.contains(available), "{message}");
        }
    }
}
