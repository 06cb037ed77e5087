use std::fmt::Write;

use serde_json::{Value, json};

use crate::view::text;

/// A container that has just started for the first time.
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

/// A container that was stopped and started again because its image changed.
pub(super) fn replaced(pod: &Value, container: &Value, old: &Value, now: &str) -> Value {
    let restarts = old["restartCount"].as_u64().unwrap_or_default() + 1;
    let mut status = started(pod, container, true, now);
    status["restartCount"] = restarts.into();
    status["containerID"] = container_id(pod, container, restarts).into();
    status["lastState"] = terminated(old, Ending::Done, now);
    status
}

/// A container that runs before the others has ended, unless it is a sidecar.
pub(super) fn initialized(pod: &Value, container: &Value, now: &str) -> Value {
    let mut status = started(pod, container, true, now);
    if text(container, "/restartPolicy") != "Always" {
        status["started"] = false.into();
        status["state"] = terminated(&status, Ending::Done, now);
    }
    status
}

/// A container that is about to be created.
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

/// A container that has done its work.
pub(super) fn completed(old: &Value, now: &str) -> Value {
    ended(old, Ending::Done, now)
}

/// A container that has failed for good.
pub(super) fn failed(old: &Value, now: &str) -> Value {
    ended(old, Ending::Error, now)
}

/// How a container that is started again and again ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Crash {
    Error,
    Completed,
}

/// The first wait before a container that ended is started again, and the longest, in seconds
/// (`backOffPeriod` and `MaxCrashLoopBackOff` of pkg/kubelet).
const FIRST_WAIT: u64 = 10;
const LAST_WAIT: u64 = 300;

/// How long a container that was restarted so often waits, in seconds.
pub(super) fn crash_wait(restarts: u64) -> u64 {
    let doublings = u32::try_from(restarts.saturating_sub(1)).unwrap_or(u32::MAX);
    let wait = FIRST_WAIT.saturating_mul(1_u64.checked_shl(doublings).unwrap_or(u64::MAX));
    wait.min(LAST_WAIT)
}

/// A container that has ended once more and waits to be started again.
pub(super) fn crashed(pod: &Value, old: &Value, how: Crash, now: &str) -> Value {
    let ending = match how {
        Crash::Error => Ending::Error,
        Crash::Completed => Ending::Done,
    };
    let restarts = old["restartCount"].as_u64().unwrap_or_default() + 1;
    let mut status = ended(old, ending, now);
    status["lastState"] = status["state"].take();
    status["restartCount"] = restarts.into();
    let (name, wait) = (text(old, "/name"), crash_wait(restarts));
    let of = |field: &str| text(pod, &format!("/metadata/{field}"));
    let message = format!(
        "back-off {} restarting failed container={name} pod={}_{}({})",
        go_duration(wait),
        of("name"),
        of("namespace"),
        of("uid")
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

/// A container that runs, whatever it did before.
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

/// What a container ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Done,
    Error,
}

fn ended(old: &Value, ending: Ending, now: &str) -> Value {
    let mut status = old.clone();
    if !status.is_object() {
        return status;
    }
    status["ready"] = false.into();
    status["started"] = false.into();
    status["state"] = terminated(old, ending, now);
    status
}

fn terminated(container: &Value, ending: Ending, now: &str) -> Value {
    let started_at = container.pointer("/state/running/startedAt");
    let (code, reason) = match ending {
        Ending::Done => (0, "Completed"),
        Ending::Error => (1, "Error"),
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

/// Differs from container to container and from one start of it to the next.
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
