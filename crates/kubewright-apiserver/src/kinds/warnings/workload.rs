use serde_json::Value;

use super::amounts::claimed;
use super::pod::{host_name, template};
use super::{At, Told};

const MANY_COMPLETIONS: i64 = 100_000;
const MUCH_AT_ONCE: i64 = 10_000;
const MANY_INDEXES: &str = "In Indexed Jobs with a number of completions higher than 10^5 and a \
     parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a \
     big number of indexes fail";

/// A Deployment or a ReplicaSet.
pub(super) fn replicated(object: &Value, old: Option<&Value>, told: &mut Told) {
    let spec = At::top(object, "spec");
    match old {
        None => names_pods(object, told),
        Some(old) if !is_counted(object, old) => return,
        Some(_) => {}
    }
    template(spec.field("template"), told);
}

/// When it changes, Kubernetes looks at the template that goes.
pub(super) fn replication_controller(object: &Value, old: Option<&Value>, told: &mut Told) {
    let looked_at = match old {
        None => {
            names_pods(object, told);
            object
        }
        Some(old) if !is_counted(object, old) => return,
        Some(old) => old,
    };
    let spec = At::top(looked_at, "spec");
    template(spec.field("template"), told);
}

pub(super) fn pod_template(object: &Value, old: Option<&Value>, told: &mut Told) {
    if old.is_none_or(|old| is_counted(object, old)) {
        template(At::top(object, "template"), told);
    }
}

/// Its templates are counted apart from the rest of it.
pub(super) fn daemon_set(object: &Value, old: Option<&Value>, told: &mut Told) {
    let is_new = |old: &Value| object.pointer("/spec/template") != old.pointer("/spec/template");
    if old.is_none_or(is_new) {
        let spec = At::top(object, "spec");
        template(spec.field("template"), told);
    }
}

pub(super) fn stateful_set(object: &Value, old: Option<&Value>, told: &mut Told) {
    let spec = At::top(object, "spec");
    if old.is_none_or(|old| is_counted(object, old)) {
        template(spec.field("template"), told);
    }
    for claim in spec.field("volumeClaimTemplates").items() {
        let own = claim.field("spec");
        // Neither path is that of the claim's specification.
        match old {
            None => claimed(claim.with(own.value()), told),
            Some(_) => claimed(claim.field("Spec").with(own.value()), told),
        }
    }
    let history = spec.field("revisionHistoryLimit");
    if history.number().is_some_and(|limit| limit < 0) {
        let detail =
            "a negative value retains all historical revisions; a value >= 0 is recommended";
        told.at(history, detail);
    }
}

pub(super) fn job(object: &Value, old: Option<&Value>, told: &mut Told) {
    if old.is_none() {
        names_pods(object, told);
    }
    if old.is_none_or(|old| is_counted(object, old)) {
        job_spec(At::top(object, "spec"), told);
    }
}

pub(super) fn cron_job(object: &Value, old: Option<&Value>, told: &mut Told) {
    if old.is_none() {
        names_pods(object, told);
    }
    let spec = At::top(object, "spec");
    if old.is_none_or(|old| is_counted(object, old)) {
        let made = spec.field("jobTemplate");
        job_spec(made.field("spec"), told);
    }
    if old.is_some() && spec.text_of("schedule").contains("TZ") {
        told.say(
            "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
             https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details",
        );
    }
}

/// `WarningsForJobSpec`.
fn job_spec(at: At<'_>, told: &mut Told) {
    let count = |field: &'static str| at.field(field).number().unwrap_or(0);
    let is_indexed = at.text_of("completionMode") == "Indexed";
    if is_indexed && count("completions") > MANY_COMPLETIONS && count("parallelism") > MUCH_AT_ONCE
    {
        told.at(at, MANY_INDEXES);
    }
    template(at.field("template"), told);
}

fn names_pods(object: &Value, told: &mut Told) {
    let metadata = At::top(object, "metadata");
    host_name(metadata.field("name"), "Pod names and hostnames", told);
}

/// Whether a change is one of the specification.
fn is_counted(object: &Value, old: &Value) -> bool {
    let generation = |value: &Value| value["metadata"]["generation"].as_i64().unwrap_or(0);
    generation(object) != generation(old)
}

#[cfg(test)]
mod tests {
    use kubewright_core::Kind;
    use serde_json::{Value, json};

    use crate::kinds::warnings;

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
    fn each_kind_looks_into_its_template() {
        let plain = with_template(1);
        for (group, kind) in [
            ("", "ReplicationController"),
            ("apps", "Deployment"),
            ("apps", "ReplicaSet"),
            ("apps", "DaemonSet"),
            ("apps", "StatefulSet"),
            ("batch", "Job"),
        ] {
            let told = warnings(&Kind::new(group, "v1", kind), &plain, None);
            assert_eq!(told, [format!("spec.template.spec.{LABEL}")], "{kind}");
        }
        let alone = json!({"metadata": {"name": "a"}, "template": template()});
        let told = warnings(&Kind::new("", "v1", "PodTemplate"), &alone, None);
        assert_eq!(told, [format!("template.spec.{LABEL}")]);
        let cron = json!({"metadata": {"name": "a"}, "spec": {
            "schedule": "TZ=UTC * * * * *", "jobTemplate": {"spec": {"template": template()}},
        }});
        let told = warnings(&Kind::new("batch", "v1", "CronJob"), &cron, None);
        let path = "spec.jobTemplate.spec.template.spec";
        assert_eq!(told, [format!("{path}.{LABEL}")]);
    }

    #[test]
    fn a_change_is_told_of_its_template_only_when_the_specification_changes() {
        let (old, same, new) = (with_template(1), with_template(1), with_template(2));
        for kind in ["Deployment", "ReplicaSet", "StatefulSet"] {
            let kind = Kind::new("apps", "v1", kind);
            assert!(warnings(&kind, &same, Some(&old)).is_empty());
            assert_eq!(warnings(&kind, &new, Some(&old)).len(), 1);
        }
        // What counts for a DaemonSet is the template itself.
        let set = Kind::new("apps", "v1", "DaemonSet");
        assert!(warnings(&set, &new, Some(&old)).is_empty());
        let bare = json!({"metadata": {"name": "a"}, "spec": {"template": {}}});
        assert_eq!(warnings(&set, &new, Some(&bare)).len(), 1);
        // A ReplicationController is told of the template it had.
        let controller = Kind::new("", "v1", "ReplicationController");
        assert_eq!(warnings(&controller, &bare, Some(&old)).len(), 1);
        assert!(warnings(&controller, &new, Some(&bare)).is_empty());
    }

    #[test]
    fn what_names_pods_should_be_named_by_a_label() {
        let dotted = json!({"metadata": {"name": "a.b"}, "spec": {}});
        let wanted = "metadata.name: this is used in Pod names and hostnames, which can result in \
             surprising behavior; a DNS label is recommended: [must not contain dots]";
        for (group, kind) in [
            ("", "ReplicationController"),
            ("apps", "Deployment"),
            ("apps", "ReplicaSet"),
            ("batch", "Job"),
            ("batch", "CronJob"),
        ] {
            let kind = Kind::new(group, "v1", kind);
            assert_eq!(warnings(&kind, &dotted, None), [wanted]);
            assert!(warnings(&kind, &dotted, Some(&dotted)).is_empty());
        }
        let set = Kind::new("apps", "v1", "DaemonSet");
        assert!(warnings(&set, &dotted, None).is_empty());
    }

    #[test]
    fn a_stateful_set_is_told_of_its_claims_and_its_history() {
        let set = json!({"metadata": {"name": "a"}, "spec": {
            "revisionHistoryLimit": -1,
            "volumeClaimTemplates": [
                {"spec": {"resources": {"requests": {"storage": "500m"}}}},
            ],
        }});
        let kind = Kind::new("apps", "v1", "StatefulSet");
        let history = "spec.revisionHistoryLimit: a negative value retains all historical \
             revisions; a value >= 0 is recommended"
            .to_owned();
        let claim = |path: &str| {
            format!(
                "spec.volumeClaimTemplates[0]{path}.resources.requests[storage]: fractional byte \
                 value \"500m\" is invalid, must be an integer"
            )
        };
        assert_eq!(warnings(&kind, &set, None), [claim(""), history.clone()]);
        assert_eq!(warnings(&kind, &set, Some(&set)), [claim(".Spec"), history]);
    }

    #[test]
    fn large_indexed_jobs_and_zones_in_schedules_are_told() {
        let large = json!({
            "completionMode": "Indexed", "completions": 100_001, "parallelism": 10_001,
        });
        let job = json!({"metadata": {"name": "a"}, "spec": large});
        let told = warnings(&Kind::new("batch", "v1", "Job"), &job, None);
        assert_eq!(told, [format!("spec: {}", super::MANY_INDEXES)]);
        let cron = json!({"metadata": {"name": "a"}, "spec": {
            "schedule": "CRON_TZ=UTC * * * * *", "jobTemplate": {"spec": large},
        }});
        let told = warnings(&Kind::new("batch", "v1", "CronJob"), &cron, Some(&cron));
        assert_eq!(
            told,
            [
                "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
                 https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more \
                 details"
            ]
        );
    }
}
