//! Warnings about workloads.

use serde_json::Value;

use crate::field_path::FieldPath;
use crate::pod_spec::warn_host_name;
use crate::warning_list::Warnings;

/// Warns about a name that is not a DNS label.
pub(crate) fn warn_pod_names(object: &Value, warnings: &mut Warnings) {
    let metadata = FieldPath::new(object, "metadata");
    warn_host_name(metadata.field("name"), "Pod names and hostnames", warnings);
}

/// Whether an update changes the spec.
pub(crate) fn generation_changed(object: &Value, old: &Value) -> bool {
    let generation = |value: &Value| value["metadata"]["generation"].as_i64().unwrap_or(0);
    generation(object) != generation(old)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::apps::{DAEMON_SET, DEPLOYMENT, REPLICA_SET, STATEFUL_SET};
    use crate::batch::{CRON_JOB, JOB};
    use crate::core::{POD_TEMPLATE, REPLICATION_CONTROLLER};

    const LABEL: &str = "nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use \
         \"kubernetes.io/os\" instead";

    fn template() -> Value {
        json!({"spec": {"nodeSelector": {"beta.kubernetes.io/os": "linux"}}})
    }

    fn with_template(generation: i64) -> Value {
        json!({
            "metadata": {"name": "a", "generation": generation},
            "spec": {"template": template()},
        })
    }

    #[test]
    fn template_of_a_new_workload_is_checked() {
        let plain = with_template(1);
        for kind in [
            &REPLICATION_CONTROLLER,
            &DEPLOYMENT,
            &REPLICA_SET,
            &DAEMON_SET,
            &STATEFUL_SET,
            &JOB,
        ] {
            let expected = [format!("spec.template.spec.{LABEL}")];
            assert_eq!(kind.warnings(&plain, None), expected, "{}", kind.kind);
        }
        let alone = json!({"metadata": {"name": "a"}, "template": template()});
        assert_eq!(
            POD_TEMPLATE.warnings(&alone, None),
            [format!("template.spec.{LABEL}")]
        );
        let cron = json!({"metadata": {"name": "a"}, "spec": {
            "schedule": "TZ=UTC * * * * *", "jobTemplate": {"spec": {"template": template()}},
        }});
        assert_eq!(
            CRON_JOB.warnings(&cron, None),
            [format!("spec.jobTemplate.spec.template.spec.{LABEL}")]
        );
    }

    #[test]
    fn template_of_an_updated_workload_is_checked_when_the_generation_changes() {
        let (old, same, new) = (with_template(1), with_template(1), with_template(2));
        for kind in [&DEPLOYMENT, &REPLICA_SET, &STATEFUL_SET] {
            assert!(kind.warnings(&same, Some(&old)).is_empty());
            assert_eq!(kind.warnings(&new, Some(&old)).len(), 1);
        }
        // A DaemonSet compares the template itself.
        assert!(DAEMON_SET.warnings(&new, Some(&old)).is_empty());
        let bare = json!({"metadata": {"name": "a"}, "spec": {"template": {}}});
        assert_eq!(DAEMON_SET.warnings(&new, Some(&bare)).len(), 1);
        // Kubernetes checks the old template of a ReplicationController.
        assert_eq!(REPLICATION_CONTROLLER.warnings(&bare, Some(&old)).len(), 1);
        assert!(
            REPLICATION_CONTROLLER
                .warnings(&new, Some(&bare))
                .is_empty()
        );
    }

    #[test]
    fn name_that_is_not_a_dns_label_is_warned_about_on_create() {
        let dotted = json!({"metadata": {"name": "a.b"}, "spec": {}});
        let warning = "metadata.name: this is used in Pod names and hostnames, which can result \
             in surprising behavior; a DNS label is recommended: [must not contain dots]";
        for kind in [
            &REPLICATION_CONTROLLER,
            &DEPLOYMENT,
            &REPLICA_SET,
            &JOB,
            &CRON_JOB,
        ] {
            assert_eq!(kind.warnings(&dotted, None), [warning]);
            assert!(kind.warnings(&dotted, Some(&dotted)).is_empty());
        }
        assert!(DAEMON_SET.warnings(&dotted, None).is_empty());
    }
}
