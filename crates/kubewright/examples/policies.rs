//! Admission policies: rules that the API server evaluates itself, also while the operator is down, and
//! without a certificate. Fallback webhooks replace them in clusters without policies.

use std::process::ExitCode;

use kubewright::Policy;
use kubewright::prelude::*;
use kubewright::webhook::{Change, Findings, Operation};

/// A ConfigMap with the label `guarded` must have the label `team`, and is immutable.
pub(crate) fn operator() -> Operator {
    Operator::new("guard")
        .policy(
            Policy::validates::<ConfigMap>("labelled")
                .objects("guarded")
                .rule("'team' in object.metadata.labels", "name the team")
                .fallback(Webhook::validates(check)),
        )
        .policy(
            Policy::mutates::<ConfigMap>("kept")
                .objects("guarded")
                .on(Operation::Create)
                .when("undecided", "!has(object.immutable)")
                .patch(r#"[JSONPatch{op: "add", path: "/immutable", value: true}]"#)
                .fallback(Webhook::defaults(set_immutable)),
        )
}

fn check(change: &Change<ConfigMap>, findings: &mut Findings) {
    let object = change.object();
    if object.is_some_and(|map| !map.labels().contains_key("team")) {
        findings.required("metadata.labels[team]", "name the team");
    }
}

fn set_immutable(map: &mut ConfigMap) {
    map.immutable.get_or_insert(true);
}

fn main() -> ExitCode {
    operator().main()
}
