//! CronJob: Jobs on a schedule.

use serde_json::{Value, json};

use super::job::warn_job_spec;
use crate::columns::{AGE, Cell, Column, NAME, Row};
use crate::field_path::FieldPath;
use crate::groups;
use crate::kind::{BuiltinKind, ControllerSupport, Generation};
use crate::warning_list::Warnings;
use crate::workload::{generation_changed, warn_pod_names};

/// Jobs on a schedule.
pub static CRON_JOB: BuiltinKind = BuiltinKind {
    generation: Generation::Content,
    pod_spec: Some(&["spec", "jobTemplate", "spec", "template", "spec"]),
    declared_columns: COLUMNS,
    controller: ControllerSupport::Missing,
    warnings: warn,
    ..BuiltinKind::new(groups::BATCH, "CronJob", "cronjobs")
};

const JOB_TEMPLATE: &str = "/spec/jobTemplate/spec/template/spec/containers";

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("Schedule", Cell::Text("/spec/schedule")),
    Column::text("Timezone", Cell::TextOr("/spec/timeZone", "<none>")),
    Column::boolean("Suspend", Cell::Computed(suspended)),
    Column::integer("Active", Cell::Count("/status/active")),
    Column::text("Last Schedule", Cell::Computed(last_schedule)),
    AGE,
    Column::text("Containers", Cell::Names(JOB_TEMPLATE)).wide(),
    Column::text("Images", Cell::Images(JOB_TEMPLATE)).wide(),
    Column::text(
        "Selector",
        Cell::Selector("/spec/jobTemplate/spec/selector"),
    )
    .wide(),
];

fn suspended(row: &Row<'_>) -> Value {
    json!(match row.flag("/spec/suspend") {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    })
}

fn last_schedule(row: &Row<'_>) -> Value {
    json!(match row.at("/status/lastScheduleTime") {
        Some(_) => row.since("/status/lastScheduleTime"),
        None => "<none>".to_owned(),
    })
}

fn warn(object: &Value, old: Option<&Value>, warnings: &mut Warnings) {
    if old.is_none() {
        warn_pod_names(object, warnings);
    }
    let spec = FieldPath::new(object, "spec");
    if old.is_none_or(|old| generation_changed(object, old)) {
        let made = spec.field("jobTemplate");
        warn_job_spec(made.field("spec"), warnings);
    }
    if old.is_some() && spec.text_of("schedule").contains("TZ") {
        warnings.add(
            "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
             https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details",
        );
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::CRON_JOB;

    #[test]
    fn time_zone_in_the_schedule_is_warned_about_on_update() {
        let cron = json!({"metadata": {"name": "a"}, "spec": {
            "schedule": "CRON_TZ=UTC * * * * *", "jobTemplate": {"spec": {}},
        }});
        assert!(CRON_JOB.warnings(&cron, None).is_empty());
        assert_eq!(
            CRON_JOB.warnings(&cron, Some(&cron)),
            [
                "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
                 https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more \
                 details"
            ]
        );
    }
}
