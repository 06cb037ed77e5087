//! Waits until objects are ready, or gone.

use std::time::Duration;

use serde_json::Value;

use super::report::ReportFormat;
use crate::error::Error;
use crate::objects::Located;

const POLL: Duration = Duration::from_millis(250);

/// The time to wait for an object, and the format of progress lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) timeout: Duration,
    pub(super) format: ReportFormat,
}

/// Waits until every definition is served and every Deployment is available.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn wait_until_ready(
    client: &kube::Client,
    objects: &[Located],
    wait: Wait,
) -> Result<(), Error> {
    for object in objects {
        let missing: fn(Option<&Value>) -> Option<String> = match object.resource.kind.as_str() {
            "CustomResourceDefinition" => definition_problem,
            "Deployment" => deployment_problem,
            _ => continue,
        };
        poll(client, object, wait, missing).await?;
        wait.format.progress(format_args!("ready    {object}"));
    }
    Ok(())
}

/// Waits until the object is gone.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn wait_until_gone(
    client: &kube::Client,
    object: &Located,
    wait: Wait,
) -> Result<(), Error> {
    poll(client, object, wait, |live| {
        let finalizers = &live?["metadata"]["finalizers"];
        Some(match finalizers.as_array() {
            Some(names) => format!("it has the finalizers {}", Value::from(names.clone())),
            None => "it still exists".to_owned(),
        })
    })
    .await
}

/// Polls the object until `problem` returns none, and prints each new problem.
async fn poll(
    client: &kube::Client,
    object: &Located,
    wait: Wait,
    problem: impl Fn(Option<&Value>) -> Option<String>,
) -> Result<(), Error> {
    let mut last = String::new();
    let polling = async {
        while let Some(reason) = problem(object.find(client).await?.as_ref()) {
            if reason != last {
                wait.format
                    .progress(format_args!("waiting  {object}: {reason}"));
                last = reason;
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    };
    match tokio::time::timeout(wait.timeout, polling).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Error::NotReady {
            seconds: wait.timeout.as_secs(),
            object: object.to_string(),
            reason: last,
        }),
    }
}

/// Returns why a definition is not ready.
fn definition_problem(live: Option<&Value>) -> Option<String> {
    let conditions = live.and_then(|live| live["status"]["conditions"].as_array());
    let mut conditions = conditions.into_iter().flatten();
    match conditions.find(|condition| condition["type"] == "Established") {
        Some(established) if established["status"] == "True" => None,
        Some(established) => Some(format!("not served yet: {}", established["message"])),
        None => Some("not served yet".to_owned()),
    }
}

/// Returns why a Deployment is not ready.
fn deployment_problem(live: Option<&Value>) -> Option<String> {
    let live = live?;
    let number = |value: &Value| value.as_i64().unwrap_or_default();
    let status = &live["status"];
    let replicas = live["spec"]["replicas"].as_i64().unwrap_or(1);
    if number(&status["observedGeneration"]) < number(&live["metadata"]["generation"]) {
        return Some("the controller has not seen the change yet".to_owned());
    }
    let (updated, available) = (
        number(&status["updatedReplicas"]),
        number(&status["availableReplicas"]),
    );
    let has_old_pods = number(&status["replicas"]) > replicas;
    if updated < replicas || available < replicas || has_old_pods {
        return Some(format!(
            "{updated} of {replicas} updated, {available} available"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{definition_problem, deployment_problem};

    #[test]
    fn deployment_is_ready_when_all_replicas_are_updated_and_available() {
        let problem = |change: Value| {
            let mut status = json!({
                "observedGeneration": 2, "replicas": 1, "updatedReplicas": 1,
                "availableReplicas": 1,
            });
            for (field, value) in change.as_object().unwrap() {
                status[field] = value.clone();
            }
            let live =
                json!({"metadata": {"generation": 2}, "spec": {"replicas": 1}, "status": status});
            deployment_problem(Some(&live))
        };
        assert_eq!(problem(json!({})), None);
        assert!(problem(json!({"observedGeneration": 1})).is_some());
        assert!(problem(json!({"replicas": 2, "availableReplicas": 2})).is_some());
        assert!(problem(json!({"availableReplicas": 0})).is_some());
    }

    #[test]
    fn definition_is_ready_when_it_is_established() {
        let problem = |status: &str| {
            definition_problem(Some(
                &json!({"status": {"conditions": [{"type": "Established", "status": status}]}}),
            ))
        };
        assert_eq!(problem("True"), None);
        assert!(problem("False").is_some());
        assert!(definition_problem(None).is_some());
    }
}
