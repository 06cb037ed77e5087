//! Rules that the API server follows by itself: they hold while the operator is down, and need no
//! certificate. Webhooks stand in for them where a cluster serves no policies.

use std::process::ExitCode;

use kubewright::Policy;
use kubewright::prelude::*;
use kubewright::webhook::{Change, Findings, Operation};

/// A ConfigMap with the label `guarded` names its team, and is not changed any more.
pub(crate) fn operator() -> Operator {
    Operator::new("guard")
        .policy(
            Policy::validates::<ConfigMap>("labelled")
                .objects("guarded")
                .rule("'team' in object.metadata.labels", "name the team")
                .stand_in(Webhook::validates(check)),
        )
        .policy(
            Policy::mutates::<ConfigMap>("kept")
                .objects("guarded")
                .on(Operation::Create)
                .when("undecided", "!has(object.immutable)")
                .patch(r#"[JSONPatch{op: "add", path: "/immutable", value: true}]"#)
                .stand_in(Webhook::defaults(keep)),
        )
}

fn check(change: &Change<ConfigMap>, findings: &mut Findings) {
    let object = change.object();
    if object.is_some_and(|map| !map.labels().contains_key("team")) {
        findings.required("metadata.labels[team]", "name the team");
    }
}

fn keep(map: &mut ConfigMap) {
    map.immutable.get_or_insert(true);
}

fn main() -> ExitCode {
    operator().main()
}
