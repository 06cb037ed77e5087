//! Service: a stable address for a set of Pods.

use kubewright_core::{NameRule, Quantity};
use serde_json::Value;

use super::{address, columns, defaults, status, validation, warnings};
use crate::groups;
use crate::json::{items, text};
use crate::kind::{
    BuiltinKind, DeleteResponse, Permission, QuotaUsage, SelectableField, SelectorForm,
    StatusStrategy, Validation, add_one,
};
use crate::load_balancer::warn_load_balancer;

/// A stable address for a set of Pods.
pub static SERVICE: BuiltinKind = BuiltinKind {
    names: NameRule::Label,
    create_on_update: Permission::Allowed,
    delete_response: DeleteResponse::Object,
    selectable_fields: &[
        SelectableField::new("spec.clusterIP"),
        SelectableField::new("spec.type"),
    ],
    selector: SelectorForm::Labels,
    declared_columns: columns::COLUMNS,
    defaults: defaults::apply_defaults,
    prepare_update: address::prepare_update,
    status: StatusStrategy {
        validate: status::validate,
        warnings: warn_load_balancer,
        ..StatusStrategy::DEFAULT
    },
    validation: Validation::Rules(validation::validate),
    warnings: warnings::warn,
    quota_usage: add_usage,
    ..BuiltinKind::new(groups::CORE, "Service", "services")
};

fn add_usage(service: &Value, usage: &mut QuotaUsage) {
    add_one(usage, "services");
    let kind = text(&service["spec"]["type"]);
    if kind == "LoadBalancer" {
        add_one(usage, "services.loadbalancers");
    }
    if matches!(kind, "NodePort" | "LoadBalancer") {
        let ports = items(&service["spec"]["ports"]).count().to_string();
        let quantity = Quantity::parse(&ports).unwrap_or_else(Quantity::zero);
        usage.insert("services.nodeports".to_owned(), quantity);
    }
}
