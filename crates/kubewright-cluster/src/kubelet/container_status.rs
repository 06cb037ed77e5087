//! Container statuses: the entries of `status.containerStatuses`.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::framework::text;

/// The status of a container that has started for the first time.
pub(super) fn started(pod: &Value, container: &Value, is_ready: bool, now: &str) -> Value {
    let image = text(container, "/image");
    json!({
        "containerID": container_id(pod, container, 0),
        "image": image,
        "imageID": image_id(image),
        "lastState": {},
        "name": container["name"],
        "ready": is_ready,
        "restartCount": 0,
        "started": true,
        "state": {"running": {"startedAt": now}},
    })
}

/// The status of a container that was restarted because its image changed.
pub(super) fn restarted(pod: &Value, container: &Value, old: &Value, now: &str) -> Value {
    let restarts = old["restartCount"].as_u64().unwrap_or_default() + 1;
    let mut status = started(pod, container, true, now);
    status["restartCount"] = restarts.into();
    status["containerID"] = container_id(pod, container, restarts).into();
    status["lastState"] = terminated(old, Exit::Completed, now);
    status
}

/// The status of an init container: it has completed, unless it is a sidecar.
pub(super) fn initialized(pod: &Value, container: &Value, now: &str) -> Value {
    let mut status = started(pod, container, true, now);
    if text(container, "/restartPolicy") != "Always" {
        status["started"] = false.into();
        status["state"] = terminated(&status, Exit::Completed, now);
    }
    status
}

/// The status of a container that is being created.
pub(super) fn waiting(container: &Value) -> Value {
    json!({
        "image": text(container, "/image"),
        "imageID": "",
        "lastState": {},
        "name": container["name"],
        "ready": false,
        "restartCount": 0,
        "started": false,
        "state": {"waiting": {"reason": "ContainerCreating"}},
    })
}

/// The status of a container that has exited with code 0.
pub(super) fn completed(old: &Value, now: &str) -> Value {
    exited(old, Exit::Completed, now)
}

/// The status of a container that has failed and is not restarted.
pub(super) fn failed(old: &Value, now: &str) -> Value {
    exited(old, Exit::Error, now)
}

/// How a container exits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// With code 0.
    Completed,
    /// With code 1.
    Error,
}

/// The first and the longest backoff before a container is restarted, in seconds (`backOffPeriod`
/// and `MaxCrashLoopBackOff` of pkg/kubelet).
const FIRST_BACKOFF: u64 = 10;
const MAX_BACKOFF: u64 = 300;

/// The backoff before the given restart of a container, in seconds.
pub(super) fn crash_backoff(restarts: u64) -> u64 {
    let doublings = u32::try_from(restarts.saturating_sub(1)).unwrap_or(u32::MAX);
    let backoff = FIRST_BACKOFF.saturating_mul(1_u64.checked_shl(doublings).unwrap_or(u64::MAX));
    backoff.min(MAX_BACKOFF)
}

/// The status of a container that has exited again and waits to be restarted.
pub(super) fn crashed(pod: &Value, old: &Value, exit: Exit, now: &str) -> Value {
    let restarts = old["restartCount"].as_u64().unwrap_or_default() + 1;
    let mut status = exited(old, exit, now);
    status["lastState"] = status["state"].take();
    status["restartCount"] = restarts.into();
    let name = text(old, "/name");
    let metadata = |field: &str| text(pod, &format!("/metadata/{field}"));
    let message = format!(
        "back-off {} restarting failed container={name} pod={}_{}({})",
        go_duration(crash_backoff(restarts)),
        metadata("name"),
        metadata("namespace"),
        metadata("uid")
    );
    status["state"] = json!({"waiting": {"reason": "CrashLoopBackOff", "message": message}});
    status
}

/// Seconds as Go prints a duration: `10s`, `1m20s`, `5m0s`.
fn go_duration(seconds: u64) -> String {
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds}s"),
        (minutes, seconds) => format!("{minutes}m{seconds}s"),
    }
}

/// The status of a container that runs, whatever it did before.
pub(super) fn recovered(old: &Value, is_ready: bool, now: &str) -> Value {
    let mut status = old.clone();
    if !status.is_object() {
        return status;
    }
    if old.pointer("/state/running").is_none() {
        status["state"] = json!({"running": {"startedAt": now}});
    }
    status["started"] = true.into();
    status["ready"] = is_ready.into();
    status
}

fn exited(old: &Value, exit: Exit, now: &str) -> Value {
    let mut status = old.clone();
    if !status.is_object() {
        return status;
    }
    status["ready"] = false.into();
    status["started"] = false.into();
    status["state"] = terminated(old, exit, now);
    status
}

fn terminated(container: &Value, exit: Exit, now: &str) -> Value {
    let started_at = container.pointer("/state/running/startedAt");
    let (code, reason) = match exit {
        Exit::Completed => (0, "Completed"),
        Exit::Error => (1, "Error"),
    };
    json!({"terminated": {
        "containerID": container["containerID"],
        "exitCode": code,
        "finishedAt": now,
        "reason": reason,
        "startedAt": started_at.cloned().unwrap_or_else(|| json!(now)),
    }})
}

fn image_id(image: &str) -> String {
    format!("sim@sha256:{}", hash(image))
}

/// An identifier that differs between containers and between the starts of one container.
fn container_id(pod: &Value, container: &Value, restarts: u64) -> String {
    let uid = text(pod, "/metadata/uid");
    let name = text(container, "/name");
    format!("sim://{}", hash(&format!("{uid}/{name}/{restarts}")))
}

fn hash(text: &str) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    digest.as_ref().iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("writing to a string does not fail");
        hex
    })
}
