//! Job: Pods that run to completion.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::columns::{AGE, Cell, Column, NAME, Row, human_duration};
use crate::field_path::FieldPath;
use crate::groups;
use crate::json::{object_mut, set_absent};
use crate::kind::{BuiltinKind, ControllerSupport, Generation, Propagation, SelectableField};
use crate::pod_spec::warn_template;
use crate::warning_list::Warnings;
use crate::workload::{
    CONTAINERS, IMAGES, SELECTOR, generation_changed, set_labels, template_labels, warn_pod_names,
};

/// Pods that run to completion.
pub static JOB: BuiltinKind = BuiltinKind {
    generation: Generation::Content,
    propagation: Propagation::Orphan,
    default_propagation_warning: Some(
        "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
    ),
    selectable_fields: &[SelectableField::new("status.successful")
        .at("status.succeeded")
        .or("0")],
    pod_spec: Some(&["spec", "template", "spec"]),
    declared_columns: COLUMNS,
    controller: ControllerSupport::Missing,
    defaults: apply_defaults,
    warnings: warn,
    ..BuiltinKind::new(groups::BATCH, "Job", "jobs")
};

const MANY_COMPLETIONS: i64 = 100_000;

const MUCH_AT_ONCE: i64 = 10_000;

const MANY_INDEXES: &str = "In Indexed Jobs with a number of completions higher than 10^5 and a \
     parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a \
     big number of indexes fail";

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("Status", Cell::Computed(job_status)),
    Column::text("Completions", Cell::Computed(completions)),
    Column::text("Duration", Cell::Computed(duration)),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

fn job_status(row: &Row<'_>) -> Value {
    let status = if row.holds("Complete") {
        "Complete"
    } else if row.holds("Failed") {
        "Failed"
    } else if row.is_terminating() {
        "Terminating"
    } else {
        ["Suspended", "FailureTarget", "SuccessCriteriaMet"]
            .into_iter()
            .find(|kind| row.holds(kind))
            .unwrap_or("Running")
    };
    json!(status)
}

fn completions(row: &Row<'_>) -> Value {
    let done = row.number("/status/succeeded");
    let parallelism = row.number("/spec/parallelism");
    json!(match row.at("/spec/completions") {
        Some(wanted) => format!("{done}/{wanted}"),
        None if parallelism > 1 => format!("{done}/1 of {parallelism}"),
        None => format!("{done}/1"),
    })
}

fn duration(row: &Row<'_>) -> Value {
    let time = |path: &str| row.text(path).parse::<Timestamp>().ok();
    let Some(start) = time("/status/startTime") else {
        return json!("");
    };
    let end = time("/status/completionTime").unwrap_or(row.now);
    json!(human_duration(end.as_second() - start.as_second()))
}

/// `SetDefaults_Job`.
fn apply_defaults(object: &mut Map<String, Value>) {
    if let Some(labels) = template_labels(object) {
        set_labels(object, labels);
    }
    if let Some(spec) = object_mut(object, "spec") {
        default_spec(spec);
    }
}

fn default_spec(spec: &mut Map<String, Value>) {
    if !spec.contains_key("completions") && !spec.contains_key("parallelism") {
        spec.insert("completions".to_owned(), json!(1));
    }
    set_absent(spec, "parallelism", json!(1));
    let limit = if spec.contains_key("backoffLimitPerIndex") {
        i32::MAX
    } else {
        6
    };
    set_absent(spec, "backoffLimit", json!(limit));
    let replacement = if spec.contains_key("podFailurePolicy") {
        "Failed"
    } else {
        "TerminatingOrFailed"
    };
    set_absent(spec, "podReplacementPolicy", json!(replacement));
}

fn warn(object: &Value, old: Option<&Value>, warnings: &mut Warnings) {
    if old.is_none() {
        warn_pod_names(object, warnings);
    }
    if old.is_none_or(|old| generation_changed(object, old)) {
        warn_job_spec(FieldPath::new(object, "spec"), warnings);
    }
}

/// `WarningsForJobSpec`.
pub(super) fn warn_job_spec(at: FieldPath<'_>, warnings: &mut Warnings) {
    let count = |field: &'static str| at.field(field).number().unwrap_or(0);
    let is_indexed = at.text_of("completionMode") == "Indexed";
    if is_indexed && count("completions") > MANY_COMPLETIONS && count("parallelism") > MUCH_AT_ONCE
    {
        warnings.add_at(at, MANY_INDEXES);
    }
    warn_template(at.field("template"), warnings);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{JOB, MANY_INDEXES};

    #[test]
    fn job_gets_the_labels_of_its_template() {
        let mut object = json!({"spec": {
            "parallelism": 2, "template": {"metadata": {"labels": {"a": "b"}}},
        }});
        JOB.apply_defaults("v1", &mut object);
        assert_eq!(object["metadata"]["labels"], json!({"a": "b"}));
        assert!(object["spec"].get("completions").is_none());
        assert_eq!(object["spec"]["backoffLimit"], 6);
    }

    #[test]
    fn large_indexed_job_is_warned_about() {
        let job = json!({"metadata": {"name": "a"}, "spec": {
            "completionMode": "Indexed", "completions": 100_001, "parallelism": 10_001,
        }});
        assert_eq!(JOB.warnings(&job, None), [format!("spec: {MANY_INDEXES}")]);
    }
}
