//! Ingress: HTTP routes to Services.

use serde_json::{Value, json};

use crate::columns::{AGE, Cell, Column, NAME, Row, first_three};
use crate::field_path::FieldPath;
use crate::groups;
use crate::kind::{BuiltinKind, ControllerSupport, Generation, StatusStrategy};
use crate::load_balancer::load_balancer_addresses;
use crate::load_balancer::warn_load_balancer;
use crate::warning_list::Warnings;

/// HTTP routes to Services.
pub static INGRESS: BuiltinKind = BuiltinKind {
    generation: Generation::Content,
    declared_columns: COLUMNS,
    controller: ControllerSupport::Missing,
    status: StatusStrategy {
        warnings: warn_load_balancer,
        ..StatusStrategy::DEFAULT
    },
    warnings: warn,
    ..BuiltinKind::new(groups::NETWORKING, "Ingress", "ingresses")
};

const CLASS: &str = "kubernetes.io/ingress.class";

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("Class", Cell::TextOr("/spec/ingressClassName", "<none>")),
    Column::text("Hosts", Cell::Computed(hosts)),
    Column::text(
        "Address",
        Cell::Computed(|row| json!(load_balancer_addresses(row).join(","))),
    ),
    Column::text("Ports", Cell::Computed(ingress_ports)),
    AGE,
];

fn hosts(row: &Row<'_>) -> Value {
    let hosts = row.each("/spec/rules", "host").into_iter();
    let named: Vec<String> = hosts
        .filter(|host| !host.is_empty())
        .map(str::to_owned)
        .collect();
    json!(first_three(&named, "*"))
}

fn ingress_ports(row: &Row<'_>) -> Value {
    json!(match row.count("/spec/tls") {
        0 => "80",
        _ => "80, 443",
    })
}

/// Warns about the deprecated annotation of a new Ingress.
fn warn(object: &Value, old: Option<&Value>, warnings: &mut Warnings) {
    let (metadata, spec) = (
        FieldPath::new(object, "metadata"),
        FieldPath::new(object, "spec"),
    );
    let is_annotated = metadata.field("annotations").has(CLASS);
    if old.is_none() && is_annotated && !spec.has("ingressClassName") {
        warnings.add(&format!(
            "annotation {CLASS:?} is deprecated, please use 'spec.ingressClassName' instead"
        ));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::INGRESS;

    #[test]
    fn class_annotation_of_a_new_ingress_is_warned_about() {
        let kind = &INGRESS;
        let annotations = json!({"kubernetes.io/ingress.class": "a"});
        let mut ingress = json!({"metadata": {"annotations": annotations}, "spec": {}});
        assert_eq!(
            kind.warnings(&ingress, None),
            [
                "annotation \"kubernetes.io/ingress.class\" is deprecated, please use \
                 'spec.ingressClassName' instead"
            ]
        );
        assert!(kind.warnings(&ingress, Some(&ingress)).is_empty());
        ingress["spec"]["ingressClassName"] = json!("a");
        assert!(kind.warnings(&ingress, None).is_empty());
    }
}
