use jiff::Timestamp;
use serde_json::{Value, json};

use crate::table::age::human;
use crate::table::cell::{Cell, Row};
use crate::table::column::{AGE, Column, NAME};

const TEMPLATE: &str = "/spec/template/spec/containers";
const CONTAINERS: Column = Column::text("Containers", Cell::Names(TEMPLATE)).wide();
const IMAGES: Column = Column::text("Images", Cell::Images(TEMPLATE)).wide();
const SELECTOR: Column = Column::text("Selector", Cell::Selector("/spec/selector")).wide();
const READY_OF_DESIRED: Column = Column::text("Ready", Cell::Made(ready_of_desired));

pub(super) const DEPLOYMENT: &[Column] = &[
    NAME,
    READY_OF_DESIRED,
    Column::text("Up-to-date", Cell::Number("/status/updatedReplicas")),
    Column::text("Available", Cell::Number("/status/availableReplicas")),
    AGE,
    CONTAINERS,
    IMAGES,
    Column::text("Selector", Cell::Made(deployment_selector)).wide(),
];

pub(super) const REPLICA_SET: &[Column] = &[
    NAME,
    Column::integer("Desired", Cell::Number("/spec/replicas")),
    Column::integer("Current", Cell::Number("/status/replicas")),
    Column::integer("Ready", Cell::Number("/status/readyReplicas")),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const REPLICATION_CONTROLLER: &[Column] = &[
    NAME,
    Column::integer("Desired", Cell::Number("/spec/replicas")),
    Column::integer("Current", Cell::Number("/status/replicas")),
    Column::integer("Ready", Cell::Number("/status/readyReplicas")),
    AGE,
    CONTAINERS,
    IMAGES,
    Column::text("Selector", Cell::Labels("/spec/selector")).wide(),
];

pub(super) const STATEFUL_SET: &[Column] = &[NAME, READY_OF_DESIRED, AGE, CONTAINERS, IMAGES];

pub(super) const DAEMON_SET: &[Column] = &[
    NAME,
    Column::integer("Desired", Cell::Number("/status/desiredNumberScheduled")),
    Column::integer("Current", Cell::Number("/status/currentNumberScheduled")),
    Column::integer("Ready", Cell::Number("/status/numberReady")),
    Column::integer("Up-to-date", Cell::Number("/status/updatedNumberScheduled")),
    Column::integer("Available", Cell::Number("/status/numberAvailable")),
    Column::text(
        "Node Selector",
        Cell::Labels("/spec/template/spec/nodeSelector"),
    ),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const CONTROLLER_REVISION: &[Column] = &[
    NAME,
    Column::text("Controller", Cell::Made(controller)),
    Column::text("Revision", Cell::Number("/revision")),
    AGE,
];

pub(super) const JOB: &[Column] = &[
    NAME,
    Column::text("Status", Cell::Made(job_status)),
    Column::text("Completions", Cell::Made(completions)),
    Column::text("Duration", Cell::Made(duration)),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

const JOB_TEMPLATE: &str = "/spec/jobTemplate/spec/template/spec/containers";

pub(super) const CRON_JOB: &[Column] = &[
    NAME,
    Column::text("Schedule", Cell::Text("/spec/schedule")),
    Column::text("Timezone", Cell::TextOr("/spec/timeZone", "<none>")),
    Column::boolean("Suspend", Cell::Made(suspended)),
    Column::integer("Active", Cell::Count("/status/active")),
    Column::text("Last Schedule", Cell::Made(last_schedule)),
    AGE,
    Column::text("Containers", Cell::Names(JOB_TEMPLATE)).wide(),
    Column::text("Images", Cell::Images(JOB_TEMPLATE)).wide(),
    Column::text(
        "Selector",
        Cell::Selector("/spec/jobTemplate/spec/selector"),
    )
    .wide(),
];

pub(super) const DISRUPTION_BUDGET: &[Column] = &[
    NAME,
    Column::text(
        "Min Available",
        Cell::Made(|row| bound(row, "/spec/minAvailable")),
    ),
    Column::text(
        "Max Unavailable",
        Cell::Made(|row| bound(row, "/spec/maxUnavailable")),
    ),
    Column::integer(
        "Allowed Disruptions",
        Cell::Number("/status/disruptionsAllowed"),
    ),
    AGE,
];

/// What the part of an object that scales it shows.
pub(super) const SCALE: &[Column] = &[
    Column::text("Name", Cell::Text("/metadata/name")),
    Column::integer("Desired", Cell::Number("/spec/replicas")),
    Column::integer("Available", Cell::Number("/status/replicas")),
    AGE,
];

fn ready_of_desired(row: &Row<'_>) -> Value {
    let ready = row.number("/status/readyReplicas");
    json!(format!("{ready}/{}", row.number("/spec/replicas")))
}

/// Unlike others, a Deployment shows an empty selector as nothing.
fn deployment_selector(row: &Row<'_>) -> Value {
    match row.selector("/spec/selector") {
        none if none == "<none>" => json!(""),
        selector => json!(selector),
    }
}

fn bound(row: &Row<'_>, path: &str) -> Value {
    json!(row.shown(path).unwrap_or_else(|| "N/A".to_owned()))
}

fn controller(row: &Row<'_>) -> Value {
    let mut owners = row.list("/metadata/ownerReferences").iter();
    let Some(owner) = owners.find(|owner| owner["controller"] == true) else {
        return json!("<none>");
    };
    let text = |field: &str| owner[field].as_str().unwrap_or_default();
    let kind = match text("apiVersion").split_once('/') {
        Some((group, _)) => format!("{}.{group}", text("kind")),
        None => text("kind").to_owned(),
    };
    json!(format!("{}/{}", kind.to_lowercase(), text("name")))
}

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
    json!(human(end.as_second() - start.as_second()))
}

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
