use serde_json::Value;

use super::deployment::selector_and_template;
use super::{At, Findings};

/// `ValidateReplicaSet`, `ValidateReplicaSetUpdate`.
pub(super) fn replica_set(object: &Value, old: Option<&Value>, findings: &mut Findings) {
    let spec = At::top(object, "spec");
    findings.non_negative(spec.field("replicas"));
    findings.non_negative(spec.field("minReadySeconds"));
    selector_and_template(spec, findings);
    if let Some(old) = old {
        findings.immutable(spec.field("selector"), &old["spec"]["selector"]);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Findings;
    use super::replica_set;

    #[test]
    fn a_set_selects_what_it_makes_and_keeps_its_selector() {
        let spec = |selector: &str| {
            json!({"spec": {
                "replicas": -1,
                "selector": {"matchLabels": {"app": selector}},
                "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
                    "restartPolicy": "Always", "dnsPolicy": "ClusterFirst",
                    "terminationGracePeriodSeconds": 30,
                    "containers": [{
                        "name": "c", "image": "i", "imagePullPolicy": "Always",
                        "terminationMessagePolicy": "File",
                    }],
                }},
            }})
        };
        let mut findings = Findings::default();
        replica_set(&spec("other"), Some(&spec("web")), &mut findings);
        let fields: Vec<_> = findings
            .into_causes()
            .iter()
            .map(|cause| cause.field.clone())
            .collect();
        assert_eq!(
            fields,
            [
                "spec.replicas",
                "spec.template.metadata.labels",
                "spec.selector"
            ]
        );
    }
}
