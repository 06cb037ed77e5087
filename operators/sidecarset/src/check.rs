use kubewright::prelude::*;

use crate::SidecarSet;
use crate::container::check_containers;
use crate::selector::is_empty;

const LONGEST_NAME: usize = 63;

/// What a set must have before it is stored; all faults are told at once, each with its field.
pub fn check(change: &Change<SidecarSet>, findings: &mut Findings) {
    let Some(set) = change.object() else {
        return;
    };
    check_name(&set.name_any(), findings);
    match &set.spec.selector {
        None => findings.required("spec.selector", "no selector defined for SidecarSet"),
        Some(selector) if is_empty(selector) => findings.invalid(
            "spec.selector",
            selector,
            "empty selector is not valid for sidecarset.",
        ),
        Some(selector) => {
            let parsed = kubewright::LabelSelector::from_object(&serde_json::json!(selector));
            if let Err(error) = parsed {
                findings.invalid("spec.selector", selector, &error.to_string());
            }
        }
    }
    if set.spec.containers.is_empty() {
        let why = "no initContainer or container defined for SidecarSet";
        findings.required("spec.containers", why);
    }
    check_containers(&set.spec.containers, "spec.containers", findings);
}

fn check_name(name: &str, findings: &mut Findings) {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if !is_plain || name.is_empty() {
        let why = "sidecarset name must consist of alphanumeric characters or '-'";
        findings.invalid("metadata.name", name, why);
    }
    if name.len() > LONGEST_NAME {
        let why = "must be no more than 63 characters";
        findings.invalid("metadata.name", name, why);
    }
}

#[cfg(test)]
mod tests {
    use kubewright::{Change, Findings};
    use serde_json::{Value, json};

    use super::check;

    fn faults(change: impl Fn(&mut Value)) -> Vec<String> {
        let mut set = json!({
            "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
            "metadata": {"name": "log"},
            "spec": {
                "selector": {"matchLabels": {"app": "web"}},
                "containers": [{"name": "a", "image": "log:1"}],
            },
        });
        change(&mut set);
        let mut findings = Findings::default();
        let set = serde_json::from_value(set).unwrap();
        check(&Change::Create(set), &mut findings);
        findings.faults()
    }

    #[test]
    fn a_sound_set_has_no_fault() {
        assert_eq!(faults(|_| {}), Vec::<String>::new());
    }

    #[test]
    fn each_broken_rule_is_told_with_its_field() {
        for (change, wanted) in [
            (
                Box::new(|s: &mut Value| s["metadata"]["name"] = json!("a.b"))
                    as Box<dyn Fn(&mut Value)>,
                "metadata.name: Invalid value: \"a.b\": sidecarset name must consist of \
                 alphanumeric characters or '-'",
            ),
            (
                Box::new(|s| s["metadata"]["name"] = json!("a".repeat(64))),
                "must be no more than 63 characters",
            ),
            (
                Box::new(|s| s["spec"]["selector"] = json!(null)),
                "spec.selector: Required value: no selector defined for SidecarSet",
            ),
            (
                Box::new(|s| s["spec"]["selector"] = json!({})),
                "spec.selector: Invalid value: {}: empty selector is not valid for sidecarset.",
            ),
            (
                Box::new(|s| {
                    s["spec"]["selector"] =
                        json!({"matchExpressions": [{"key": "a", "operator": "Near"}]});
                }),
                "\"Near\" is not a valid label selector operator",
            ),
            (
                Box::new(|s| s["spec"]["containers"] = json!([])),
                "spec.containers: Required value: no initContainer or container defined for \
                 SidecarSet",
            ),
        ] {
            let faults = faults(change);
            assert_eq!(faults.len(), 1, "{faults:?}");
            assert!(faults[0].ends_with(wanted), "{faults:?}");
        }
    }

    #[test]
    fn all_faults_are_told_at_once() {
        let faults = faults(|set| set["spec"] = json!({}));
        assert_eq!(faults.len(), 2, "{faults:?}");
    }
}
