//! All built-in kinds, by kind and by resource.

use std::collections::HashMap;
use std::sync::LazyLock;

use kubewright_core::Kind;

use crate::kind::{BuiltinKind, Persistence};
use crate::{
    admissionregistration, apiextensions, apiregistration, apps, authentication, authorization,
    autoscaling, batch, certificates, coordination, core, discovery, events, flowcontrol,
    networking, node, policy, rbac, resource, scheduling, storage,
};

/// All built-in kinds.
pub static KINDS: &[&BuiltinKind] = &[
    &admissionregistration::MUTATING_ADMISSION_POLICY,
    &admissionregistration::MUTATING_ADMISSION_POLICY_BINDING,
    &admissionregistration::MUTATING_WEBHOOK_CONFIGURATION,
    &admissionregistration::VALIDATING_ADMISSION_POLICY,
    &admissionregistration::VALIDATING_ADMISSION_POLICY_BINDING,
    &admissionregistration::VALIDATING_WEBHOOK_CONFIGURATION,
    &apiextensions::CUSTOM_RESOURCE_DEFINITION,
    &apiregistration::API_SERVICE,
    &apps::CONTROLLER_REVISION,
    &apps::DAEMON_SET,
    &apps::DEPLOYMENT,
    &apps::REPLICA_SET,
    &apps::STATEFUL_SET,
    &authentication::SELF_SUBJECT_REVIEW,
    &authentication::TOKEN_REQUEST,
    &authentication::TOKEN_REVIEW,
    &authorization::LOCAL_SUBJECT_ACCESS_REVIEW,
    &authorization::SELF_SUBJECT_ACCESS_REVIEW,
    &authorization::SELF_SUBJECT_RULES_REVIEW,
    &authorization::SUBJECT_ACCESS_REVIEW,
    &autoscaling::HORIZONTAL_POD_AUTOSCALER,
    &autoscaling::SCALE,
    &batch::CRON_JOB,
    &batch::JOB,
    &certificates::CERTIFICATE_SIGNING_REQUEST,
    &coordination::LEASE,
    &core::BINDING,
    &core::COMPONENT_STATUS,
    &core::CONFIG_MAP,
    &core::ENDPOINTS,
    &core::EVENT,
    &core::LIMIT_RANGE,
    &core::NAMESPACE,
    &core::NODE,
    &core::PERSISTENT_VOLUME,
    &core::PERSISTENT_VOLUME_CLAIM,
    &core::POD,
    &core::POD_TEMPLATE,
    &core::REPLICATION_CONTROLLER,
    &core::RESOURCE_QUOTA,
    &core::SECRET,
    &core::SERVICE,
    &core::SERVICE_ACCOUNT,
    &discovery::ENDPOINT_SLICE,
    &events::EVENT,
    &flowcontrol::FLOW_SCHEMA,
    &flowcontrol::PRIORITY_LEVEL_CONFIGURATION,
    &networking::INGRESS,
    &networking::INGRESS_CLASS,
    &networking::IP_ADDRESS,
    &networking::NETWORK_POLICY,
    &networking::SERVICE_CIDR,
    &node::RUNTIME_CLASS,
    &policy::EVICTION,
    &policy::POD_DISRUPTION_BUDGET,
    &rbac::CLUSTER_ROLE,
    &rbac::CLUSTER_ROLE_BINDING,
    &rbac::ROLE,
    &rbac::ROLE_BINDING,
    &resource::DEVICE_CLASS,
    &resource::RESOURCE_CLAIM,
    &resource::RESOURCE_CLAIM_TEMPLATE,
    &resource::RESOURCE_SLICE,
    &scheduling::PRIORITY_CLASS,
    &storage::CSI_DRIVER,
    &storage::CSI_NODE,
    &storage::CSI_STORAGE_CAPACITY,
    &storage::STORAGE_CLASS,
    &storage::VOLUME_ATTACHMENT,
    &storage::VOLUME_ATTRIBUTES_CLASS,
];

type Index = HashMap<(&'static str, &'static str), &'static BuiltinKind>;

/// The built-in kind, in whatever version.
pub fn lookup(kind: &Kind) -> Option<&'static BuiltinKind> {
    static BY_KIND: LazyLock<Index> = LazyLock::new(|| {
        let kinds = KINDS.iter().map(|kind| ((kind.group, kind.kind), *kind));
        kinds.collect()
    });
    BY_KIND.get(&(kind.group(), kind.kind.as_str())).copied()
}

/// The built-in kind that a resource serves.
pub fn lookup_resource(group: &str, plural: &str) -> Option<&'static BuiltinKind> {
    static BY_RESOURCE: LazyLock<Index> = LazyLock::new(|| {
        let resources = KINDS
            .iter()
            .filter(|kind| kind.persistence != Persistence::Subresource);
        resources
            .map(|kind| (kind.as_resource_tuple(), *kind))
            .collect()
    });
    BY_RESOURCE.get(&(group, plural)).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{KINDS, lookup, lookup_resource};
    use crate::kind::Persistence;
    use crate::resource_table;
    use kubewright_core::Kind;

    #[test]
    fn every_resource_of_the_table_has_a_kind() {
        for row in &resource_table().resources {
            let kind = Kind::new(&row.group, &row.version, &row.kind);
            let found = lookup(&kind).unwrap_or_else(|| panic!("{kind} has no static"));
            assert_eq!(found.as_resource_tuple(), (&*row.group, &*row.plural));
            let is_stored = !row.storage_version_hash.is_empty();
            assert_eq!(
                found.persistence == Persistence::Stored,
                is_stored,
                "{kind}"
            );
            assert_eq!(lookup_resource(&row.group, &row.plural), Some(found));
        }
    }

    #[test]
    fn every_kind_is_in_the_table() {
        let resources = &resource_table().resources;
        for kind in KINDS {
            let is_served =
                match kind.persistence {
                    Persistence::Stored | Persistence::Virtual => resources
                        .iter()
                        .any(|row| (&*row.group, &*row.kind) == (kind.group, kind.kind)),
                    Persistence::Subresource => resources
                        .iter()
                        .flat_map(|row| &row.subresources)
                        .any(|row| {
                            (&*row.group, &*row.kind, &*row.name)
                                == (kind.group, kind.kind, kind.plural)
                        }),
                };
            assert!(is_served, "{} of {:?}", kind.kind, kind.group);
        }
    }

    #[test]
    fn no_kind_is_registered_twice() {
        let distinct: BTreeSet<_> = KINDS.iter().map(|kind| (kind.group, kind.kind)).collect();
        assert_eq!(distinct.len(), KINDS.len());
    }
}
