//! Tests of the statics of built-in kinds.

use kubewright_core::Kind;
use serde_json::json;

use crate::admissionregistration::{
    MUTATING_WEBHOOK_CONFIGURATION, VALIDATING_ADMISSION_POLICY, VALIDATING_WEBHOOK_CONFIGURATION,
};
use crate::apps::{CONTROLLER_REVISION, DEPLOYMENT};
use crate::coordination::LEASE;
use crate::core::{CONFIG_MAP, NODE, POD, SERVICE};
use crate::kind::{Generation, Permission};
use crate::networking::INGRESS;
use crate::policy::POD_DISRUPTION_BUDGET;

#[test]
fn kinds_are_named_as_resources() {
    assert_eq!(POD.resource_id(), "pods");
    assert_eq!(DEPLOYMENT.resource_id(), "deployments.apps");
    assert_eq!(DEPLOYMENT.as_resource_tuple(), ("apps", "deployments"));
    assert!(DEPLOYMENT.is(&Kind::new("apps", "v1", "Deployment")));
    assert!(!DEPLOYMENT.is(&Kind::new("example.com", "v1", "Deployment")));
}

#[test]
fn put_creates_services_and_not_config_maps() {
    assert_eq!(SERVICE.create_on_update, Permission::Allowed);
    assert_eq!(CONFIG_MAP.create_on_update, Permission::Denied);
}

#[test]
fn leases_are_updated_only_with_a_resource_version() {
    assert_eq!(LEASE.unconditional_update, Permission::Denied);
    assert_eq!(POD.unconditional_update, Permission::Allowed);
}

#[test]
fn deployments_have_generations_and_config_maps_have_none() {
    assert_ne!(DEPLOYMENT.generation, Generation::Unused);
    assert_eq!(CONFIG_MAP.generation, Generation::Unused);
}

#[test]
fn complete_kinds_have_no_notices() {
    for kind in [
        &DEPLOYMENT,
        &POD,
        &VALIDATING_WEBHOOK_CONFIGURATION,
        &MUTATING_WEBHOOK_CONFIGURATION,
    ] {
        assert!(kind.notices().is_empty(), "{}", kind.kind);
    }
    assert_eq!(
        CONTROLLER_REVISION.notices(),
        ["kubewright: validation of ControllerRevision is not implemented yet"]
    );
}

#[test]
fn most_kinds_support_all_objects_and_have_no_warnings() {
    let object = json!({"metadata": {"name": "a.b"}, "spec": {}});
    for kind in [&CONFIG_MAP, &POD_DISRUPTION_BUDGET] {
        assert!(kind.warnings(&object, None).is_empty());
    }
    for kind in [&POD, &VALIDATING_ADMISSION_POLICY] {
        assert_eq!(kind.unsupported(&object), None);
    }
}

#[test]
fn status_write_is_warned_about_its_addresses_only() {
    let pod = json!({
        "metadata": {"name": "a.b"},
        "status": {"podIPs": [{"ip": "FD00::1"}], "hostIPs": [{"ip": "10.0.0.1"}]},
    });
    assert_eq!(
        POD.status_warnings(&pod),
        [
            "status.podIPs[0].ip: IPv6 address \"FD00::1\" should be in RFC 5952 canonical \
                 format (\"fd00::1\")"
        ]
    );
    let ingress = json!({"status": {"loadBalancer": {"ingress": [
        {"hostname": "a"}, {"ip": "FD00::2"},
    ]}}});
    assert_eq!(
        INGRESS.status_warnings(&ingress),
        [
            "status.loadBalancer.ingress[1]: IPv6 address \"FD00::2\" should be in RFC 5952 \
                 canonical format (\"fd00::2\")"
        ]
    );
    assert!(NODE.status_warnings(&ingress).is_empty());
}
