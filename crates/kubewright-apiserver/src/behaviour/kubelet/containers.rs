use std::fmt::Write;

use serde_json::{Value, json};

use crate::behaviour::view::text;

/// A container that has just started for the first time.
pub(super) fn started(pod: &Value, container: &Value, now: &str) -> Value {
    let image = text(container, "/image");
    json!({
        "containerID": container_id(pod, container, 0),
        "image": image,
        "imageID": image_id(image),
        "lastState": {},
        "name": container["name"],
        "ready": true,
        "restartCount": 0,
        "started": true,
        "state": {"running": {"startedAt": now}},
    })
}

/// A container that was stopped and started again because its image changed.
pub(super) fn replaced(pod: &Value, container: &Value, old: &Value, now: &str) -> Value {
    let restarts = old["restartCount"].as_u64().unwrap_or_default() + 1;
    let mut status = started(pod, container, now);
    status["restartCount"] = restarts.into();
    status["containerID"] = container_id(pod, container, restarts).into();
    status["lastState"] = terminated(old, &old["state"]["running"]["startedAt"], now);
    status
}

/// A container that runs before the others has ended, unless it is a sidecar.
pub(super) fn initialized(pod: &Value, container: &Value, now: &str) -> Value {
    let mut status = started(pod, container, now);
    if text(container, "/restartPolicy") != "Always" {
        status["started"] = false.into();
        status["state"] = terminated(&status, &json!(now), now);
    }
    status
}

/// A container that has done its work.
pub(super) fn completed(old: &Value, now: &str) -> Value {
    let mut status = old.clone();
    if !status.is_object() {
        return status;
    }
    status["ready"] = false.into();
    status["started"] = false.into();
    status["state"] = terminated(old, &old["state"]["running"]["startedAt"], now);
    status
}

fn terminated(container: &Value, started_at: &Value, now: &str) -> Value {
    json!({"terminated": {
        "containerID": container["containerID"],
        "exitCode": 0,
        "finishedAt": now,
        "reason": "Completed",
        "startedAt": started_at,
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
