use std::time::Duration;

use serde_json::Value;

use super::report::AnswerForm;
use crate::error::Error;
use crate::objects::Located;

const POLL: Duration = Duration::from_millis(250);

/// Waits until every definition is served and every Deployment runs, saying what is missing.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn until_ready(
    client: &kube::Client,
    places: &[Located],
    timeout: Duration,
    form: AnswerForm,
) -> Result<(), Error> {
    for place in places {
        let judge: fn(Option<&Value>) -> Option<String> = match place.resource.kind.as_str() {
            "CustomResourceDefinition" => unserved,
            "Deployment" => unavailable,
            _ => continue,
        };
        let patience = Patience { timeout, form };
        until(client, place, patience, judge).await?;
        form.tell(format_args!("ready    {place}"));
    }
    Ok(())
}

/// Waits until the object is gone.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn until_gone(
    client: &kube::Client,
    place: &Located,
    timeout: Duration,
    form: AnswerForm,
) -> Result<(), Error> {
    let patience = Patience { timeout, form };
    until(client, place, patience, |live| {
        let finalizers = &live?["metadata"]["finalizers"];
        Some(match finalizers.as_array() {
            Some(names) => format!("it is held by {}", Value::from(names.clone())),
            None => "it is still there".to_owned(),
        })
    })
    .await
}

/// How long to wait, and how to tell what for.
#[derive(Clone, Copy, Debug)]
struct Patience {
    timeout: Duration,
    form: AnswerForm,
}

/// Polls until nothing is missing, and says what is missing whenever that changes.
async fn until(
    client: &kube::Client,
    place: &Located,
    patience: Patience,
    missing: impl Fn(Option<&Value>) -> Option<String>,
) -> Result<(), Error> {
    let mut said = String::new();
    let all = async {
        while let Some(reason) = missing(place.find(client).await?.as_ref()) {
            if reason != said {
                patience
                    .form
                    .tell(format_args!("waiting  {place}: {reason}"));
                said = reason;
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    };
    match tokio::time::timeout(patience.timeout, all).await {
        Ok(done) => done,
        Err(_) => Err(Error::NotReady {
            seconds: patience.timeout.as_secs(),
            object: place.to_string(),
            reason: said,
        }),
    }
}

/// What a definition lacks.
fn unserved(live: Option<&Value>) -> Option<String> {
    let conditions = live.and_then(|live| live["status"]["conditions"].as_array());
    let mut conditions = conditions.into_iter().flatten();
    match conditions.find(|one| one["type"] == "Established") {
        Some(one) if one["status"] == "True" => None,
        Some(one) => Some(format!("not served yet: {}", one["message"])),
        None => Some("not served yet".to_owned()),
    }
}

/// What a Deployment lacks.
fn unavailable(live: Option<&Value>) -> Option<String> {
    let live = live?;
    let number = |value: &Value| value.as_i64().unwrap_or_default();
    let status = &live["status"];
    let wanted = live["spec"]["replicas"].as_i64().unwrap_or(1);
    if number(&status["observedGeneration"]) < number(&live["metadata"]["generation"]) {
        return Some("no controller has seen the change yet".to_owned());
    }
    let (updated, available) = (
        number(&status["updatedReplicas"]),
        number(&status["availableReplicas"]),
    );
    if updated < wanted || available < wanted || number(&status["replicas"]) > wanted {
        return Some(format!(
            "{updated} of {wanted} updated, {available} available"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{unavailable, unserved};

    #[test]
    fn a_deployment_is_ready_when_all_replicas_are_new_and_available() {
        let deployment = |observed: i64, replicas: i64, updated: i64, available: i64| {
            let live = json!({
                "metadata": {"generation": 2}, "spec": {"replicas": 1},
                "status": {"observedGeneration": observed, "replicas": replicas,
                           "updatedReplicas": updated, "availableReplicas": available},
            });
            unavailable(Some(&live))
        };
        assert_eq!(deployment(2, 1, 1, 1), None);
        assert!(deployment(1, 1, 1, 1).is_some(), "an old status");
        assert!(deployment(2, 2, 1, 2).is_some(), "an old Pod is left");
        assert!(deployment(2, 1, 1, 0).is_some(), "not available");
    }

    #[test]
    fn a_definition_is_ready_when_it_is_served() {
        let crd = |status: &str| {
            unserved(Some(
                &json!({"status": {"conditions": [{"type": "Established", "status": status}]}}),
            ))
        };
        assert_eq!(crd("True"), None);
        assert!(crd("False").is_some());
        assert!(unserved(None).is_some());
    }
}
