//! The table of Pods.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::columns::{AGE, Cell, Column, NAME, Row, human_duration};
use crate::json::text;

pub(super) const COLUMNS: &[Column] = &[
    NAME,
    Column::text("Ready", Cell::Computed(ready)),
    Column::text(
        "Status",
        Cell::Computed(|row| json!(Summary::of(row).reason)),
    ),
    Column::text("Restarts", Cell::Computed(restarts)),
    AGE,
    Column::text("IP", Cell::TextOr("/status/podIPs/0/ip", "<none>")).wide(),
    Column::text("Node", Cell::TextOr("/spec/nodeName", "<none>")).wide(),
    Column::text(
        "Nominated Node",
        Cell::TextOr("/status/nominatedNodeName", "<none>"),
    )
    .wide(),
    Column::text("Readiness Gates", Cell::Computed(readiness_gates)).wide(),
];

/// The condition of the row of a Pod that has completed.
pub(super) fn row_conditions(pod: &Value) -> Option<Value> {
    let (reason, message) = match text(&pod["status"]["phase"]) {
        "Succeeded" => ("Succeeded", "The pod has completed successfully."),
        "Failed" => ("Failed", "The pod failed."),
        _ => return None,
    };
    Some(json!([
        {"type": "Completed", "status": "True", "reason": reason, "message": message},
    ]))
}

/// What the statuses of all containers add up to.
#[derive(Debug, Default)]
struct Summary {
    ready: usize,
    reason: String,
    restarts: i64,
    last_restart: Option<Timestamp>,
}

impl Summary {
    fn of(row: &Row<'_>) -> Self {
        let mut summary = Self {
            reason: row
                .text_or("/status/reason", row.text("/status/phase"))
                .to_owned(),
            ..Self::default()
        };
        let gated = row.condition("PodScheduled");
        if gated.is_some_and(|condition| condition["reason"] == "SchedulingGated") {
            "SchedulingGated".clone_into(&mut summary.reason);
        }
        let mut sidecars = Self::default();
        let is_initializing = summary.add_init_containers(row, &mut sidecars);
        if !is_initializing || row.holds("Initialized") {
            summary.restarts = sidecars.restarts;
            summary.last_restart = sidecars.last_restart;
            summary.add_containers(row);
        }
        let is_completed = matches!(row.text("/status/phase"), "Succeeded" | "Failed");
        if row.is_terminating() && row.text("/status/reason") == "NodeLost" {
            "Unknown".clone_into(&mut summary.reason);
        } else if row.is_terminating() && !is_completed {
            "Terminating".clone_into(&mut summary.reason);
        }
        summary
    }

    fn count_restarts(&mut self, status: &Value) {
        self.restarts += status["restartCount"].as_i64().unwrap_or_default();
        let finished = text(&status["lastState"]["terminated"]["finishedAt"]);
        self.last_restart = self.last_restart.max(finished.parse().ok());
    }

    /// Returns whether an init container is not done yet, and sets the reason.
    fn add_init_containers(&mut self, row: &Row<'_>, sidecars: &mut Self) -> bool {
        let statuses = row.list("/status/initContainerStatuses");
        for (index, status) in statuses.iter().enumerate() {
            let is_sidecar = is_sidecar(row, text(&status["name"]));
            self.count_restarts(status);
            if is_sidecar {
                sidecars.count_restarts(status);
            }
            let (terminated, waiting) =
                (&status["state"]["terminated"], &status["state"]["waiting"]);
            if terminated.is_object() && terminated["exitCode"] == 0 {
                continue;
            }
            if is_sidecar && status["started"] == true {
                self.ready += usize::from(status["ready"] == true);
                continue;
            }
            let why = text(&waiting["reason"]);
            self.reason = if terminated.is_object() {
                format!("Init:{}", termination_reason(terminated))
            } else if !why.is_empty() && why != "PodInitializing" {
                format!("Init:{why}")
            } else {
                format!("Init:{index}/{}", row.count("/spec/initContainers"))
            };
            return true;
        }
        false
    }

    fn add_containers(&mut self, row: &Row<'_>) {
        let (mut is_running, mut error) = (false, None);
        for status in row.list("/status/containerStatuses").iter().rev() {
            self.count_restarts(status);
            let state = &status["state"];
            let waiting = text(&state["waiting"]["reason"]);
            if !waiting.is_empty() {
                waiting.clone_into(&mut self.reason);
            } else if state["terminated"].is_object() {
                self.reason = termination_reason(&state["terminated"]);
                if state["terminated"]["exitCode"] != 0 {
                    error = Some(self.reason.clone());
                }
            } else if status["ready"] == true && state["running"].is_object() {
                is_running = true;
                self.ready += 1;
            }
        }
        if self.reason != "Completed" {
            return;
        }
        // The Pod is running as long as one of its containers runs.
        if is_running && row.holds("Ready") {
            "Running".clone_into(&mut self.reason);
        } else if let Some(error) = error {
            self.reason = error;
        } else if is_running {
            "NotReady".clone_into(&mut self.reason);
        }
    }
}

fn is_sidecar(row: &Row<'_>, name: &str) -> bool {
    let mut containers = row.list("/spec/initContainers").iter();
    containers.any(|container| container["name"] == name && container["restartPolicy"] == "Always")
}

/// The reason of a terminated container, or else its signal or exit code.
fn termination_reason(terminated: &Value) -> String {
    let reason = text(&terminated["reason"]);
    let signal = terminated["signal"].as_i64().unwrap_or_default();
    match (reason, signal) {
        ("", 0) => {
            let code = terminated["exitCode"].as_i64().unwrap_or_default();
            format!("ExitCode:{code}")
        }
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

fn ready(row: &Row<'_>) -> Value {
    let init_containers = row.list("/spec/initContainers").iter();
    let sidecars = init_containers.filter(|container| container["restartPolicy"] == "Always");
    let total = row.count("/spec/containers") + sidecars.count();
    json!(format!("{}/{total}", Summary::of(row).ready))
}

fn restarts(row: &Row<'_>) -> Value {
    let summary = Summary::of(row);
    let shown = match summary.last_restart {
        Some(time) if summary.restarts != 0 => {
            let ago = human_duration(row.now.as_second() - time.as_second());
            format!("{} ({ago} ago)", summary.restarts)
        }
        _ => summary.restarts.to_string(),
    };
    json!(shown)
}

fn readiness_gates(row: &Row<'_>) -> Value {
    let gates = row.list("/spec/readinessGates");
    if gates.is_empty() {
        return json!("<none>");
    }
    let open = gates
        .iter()
        .filter(|gate| row.holds(text(&gate["conditionType"])));
    json!(format!("{}/{}", open.count(), gates.len()))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::{COLUMNS, Row};

    fn cells(object: &Value) -> Vec<Value> {
        let now: Timestamp = "2026-01-01T00:10:00Z".parse().unwrap();
        let row = Row { object, now };
        COLUMNS
            .iter()
            .take(4)
            .map(|column| column.cell(&row))
            .collect()
    }

    #[test]
    fn status_is_that_of_the_container_that_is_not_ready() {
        let pod = |status: Value| {
            json!({
                "metadata": {"name": "p"},
                "spec": {
                    "initContainers": [{"name": "i"}, {"name": "s", "restartPolicy": "Always"}],
                    "containers": [{"name": "c"}],
                },
                "status": status,
            })
        };
        for (status, wanted) in [
            (json!({"phase": "Pending"}), ["0/2", "Pending", "0"]),
            (
                json!({"phase": "Pending", "initContainerStatuses": [
                    {"name": "i", "state": {"waiting": {"reason": "PodInitializing"}}},
                ]}),
                ["0/2", "Init:0/2", "0"],
            ),
            (
                json!({"phase": "Pending", "initContainerStatuses": [
                    {"name": "i", "state": {"terminated": {"exitCode": 3}}},
                ]}),
                ["0/2", "Init:ExitCode:3", "0"],
            ),
            (
                json!({
                    "phase": "Running",
                    "initContainerStatuses": [
                        {"name": "i", "state": {"terminated": {"exitCode": 0}}},
                        {"name": "s", "started": true, "ready": true, "state": {"running": {}}},
                    ],
                    "containerStatuses": [{
                        "name": "c", "restartCount": 2,
                        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                        "lastState": {"terminated": {"finishedAt": "2026-01-01T00:09:00Z"}},
                    }],
                }),
                ["1/2", "CrashLoopBackOff", "2 (60s ago)"],
            ),
            (
                json!({"phase": "Running", "containerStatuses": [
                    {"name": "c", "ready": true, "state": {"running": {}}},
                ]}),
                ["1/2", "Running", "0"],
            ),
        ] {
            let [_, shown @ ..] = <[Value; 4]>::try_from(cells(&pod(status))).unwrap();
            assert_eq!(shown, wanted.map(|text| json!(text)));
        }
    }
}
