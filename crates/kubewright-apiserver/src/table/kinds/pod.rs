use jiff::Timestamp;
use serde_json::{Value, json};

use crate::table::age::human;
use crate::table::cell::{Cell, Row};
use crate::table::column::{AGE, Column, NAME};

pub(super) const POD: &[Column] = &[
    NAME,
    Column::text("Ready", Cell::Made(ready)),
    Column::text("Status", Cell::Made(|row| json!(Summary::of(row).reason))),
    Column::text("Restarts", Cell::Made(restarts)),
    AGE,
    Column::text("IP", Cell::TextOr("/status/podIPs/0/ip", "<none>")).wide(),
    Column::text("Node", Cell::TextOr("/spec/nodeName", "<none>")).wide(),
    Column::text(
        "Nominated Node",
        Cell::TextOr("/status/nominatedNodeName", "<none>"),
    )
    .wide(),
    Column::text("Readiness Gates", Cell::Made(readiness_gates)).wide(),
];

pub(super) const POD_TEMPLATE: &[Column] = &[
    NAME,
    Column::text("Containers", Cell::Names("/template/spec/containers")),
    Column::text("Images", Cell::Images("/template/spec/containers")),
    Column::text("Pod Labels", Cell::Labels("/template/metadata/labels")),
];

/// What the row of a Pod that has ended says besides its cells.
pub(in crate::table) fn completion(phase: &str) -> Option<Value> {
    let (reason, message) = match phase {
        "Succeeded" => ("Succeeded", "The pod has completed successfully."),
        "Failed" => ("Failed", "The pod failed."),
        _ => return None,
    };
    Some(json!([
        {"type": "Completed", "status": "True", "reason": reason, "message": message},
    ]))
}

/// What a Pod's containers come to.
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
        let is_over = matches!(row.text("/status/phase"), "Succeeded" | "Failed");
        if row.is_terminating() && row.text("/status/reason") == "NodeLost" {
            "Unknown".clone_into(&mut summary.reason);
        } else if row.is_terminating() && !is_over {
            "Terminating".clone_into(&mut summary.reason);
        }
        summary
    }

    fn count_restarts(&mut self, status: &Value) {
        self.restarts += status["restartCount"].as_i64().unwrap_or_default();
        let finished = status["lastState"]["terminated"]["finishedAt"].as_str();
        let finished = finished.and_then(|time| time.parse().ok());
        self.last_restart = self.last_restart.max(finished);
    }

    /// Whether one of them is still to finish, and what holds it up.
    fn add_init_containers(&mut self, row: &Row<'_>, sidecars: &mut Self) -> bool {
        let statuses = row.list("/status/initContainerStatuses");
        for (index, status) in statuses.iter().enumerate() {
            let is_sidecar = is_sidecar(row, status["name"].as_str().unwrap_or_default());
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
            let why = waiting["reason"].as_str().unwrap_or_default();
            self.reason = if terminated.is_object() {
                format!("Init:{}", ending(terminated))
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
            let waiting = state["waiting"]["reason"].as_str().unwrap_or_default();
            if !waiting.is_empty() {
                waiting.clone_into(&mut self.reason);
            } else if state["terminated"].is_object() {
                self.reason = ending(&state["terminated"]);
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
        // One container that runs on makes the Pod a running one.
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
    containers.any(|one| one["name"] == name && one["restartPolicy"] == "Always")
}

/// Why a container ended.
fn ending(terminated: &Value) -> String {
    let reason = terminated["reason"].as_str().unwrap_or_default();
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
    let sidecars = row.list("/spec/initContainers").iter();
    let sidecars = sidecars.filter(|one| one["restartPolicy"] == "Always");
    let total = row.count("/spec/containers") + sidecars.count();
    json!(format!("{}/{total}", Summary::of(row).ready))
}

fn restarts(row: &Row<'_>) -> Value {
    let summary = Summary::of(row);
    let shown = match summary.last_restart {
        Some(time) if summary.restarts != 0 => {
            let ago = human(row.now.as_second() - time.as_second());
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
    let open = gates.iter().filter(|gate| {
        let kind = gate["conditionType"].as_str().unwrap_or_default();
        row.holds(kind)
    });
    json!(format!("{}/{}", open.count(), gates.len()))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::{POD, Row};

    fn cells(object: &Value) -> Vec<Value> {
        let now: Timestamp = "2026-01-01T00:10:00Z".parse().unwrap();
        let row = Row { object, now };
        POD.iter()
            .take(4)
            .map(|column| column.cell.value(&row))
            .collect()
    }

    #[test]
    fn the_status_of_a_pod_is_that_of_the_container_that_holds_it_up() {
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
