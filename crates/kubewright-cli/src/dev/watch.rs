use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::ListParams;
use serde_json::Value;

use super::ready::{Readiness, is_ready_pod};
use super::samples::Sample;
use crate::embedded::Embedded;
use crate::error::Error;
use crate::output::{say, table};

/// Waits until every sample is ready, telling what happens, and prints the table of what is there.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn until_ready(
    cluster: &Embedded,
    samples: &[Sample],
    timeout: Duration,
) -> Result<(), Error> {
    let mut waiting = BTreeMap::new();
    let all_ready = async {
        let mut revisions = cluster.server().revisions();
        let client = cluster.admin();
        let mut told = BTreeMap::new();
        loop {
            revisions.borrow_and_update();
            let pods = pods(&client).await?;
            tell_changes(&mut told, &pods);
            waiting = look(&client, samples, &pods).await?;
            if waiting.is_empty() {
                print_table(samples, &pods);
                return Ok(());
            }
            // The server lives as long as the cluster that is borrowed here.
            if revisions.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    };
    match tokio::time::timeout(timeout, all_ready).await {
        Ok(outcome) => outcome,
        Err(_) => {
            let (object, reason) = waiting.into_iter().next().unwrap_or_default();
            Err(Error::NotReady {
                seconds: timeout.as_secs(),
                object,
                reason,
            })
        }
    }
}

/// What is missing, by sample.
async fn look(
    client: &kube::Client,
    samples: &[Sample],
    pods: &[Value],
) -> Result<BTreeMap<String, String>, Error> {
    let mut waiting = BTreeMap::new();
    for sample in samples {
        let object = sample.read(client).await?;
        let pods = owned(&object, pods);
        let readiness = match sample.reports_status() {
            true => Readiness::of(&object, &pods),
            false => Readiness::of_pods(&pods),
        };
        if let Readiness::Waiting(why) = readiness {
            waiting.insert(sample.to_string(), why);
        }
    }
    Ok(waiting)
}

async fn pods(client: &kube::Client) -> Result<Vec<Value>, Error> {
    let list = Api::<Pod>::all(client.clone())
        .list(&ListParams::default())
        .await
        .map_err(|source| Error::Request {
            action: "list the Pods".to_owned(),
            source: Box::new(source),
        })?;
    Ok(list
        .items
        .iter()
        .filter_map(|pod| serde_json::to_value(pod).ok())
        .collect())
}

fn owned(object: &Value, pods: &[Value]) -> Vec<Value> {
    let uid = &object["metadata"]["uid"];
    let is_owner = |owners: &Value| {
        owners
            .as_array()
            .is_some_and(|owners| owners.iter().any(|owner| &owner["uid"] == uid))
    };
    pods.iter()
        .filter(|pod| is_owner(&pod["metadata"]["ownerReferences"]))
        .cloned()
        .collect()
}

fn row(pod: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    vec![
        text(&pod["metadata"]["namespace"]),
        text(&pod["metadata"]["name"]),
        text(&pod["spec"]["nodeName"]),
        text(&pod["status"]["phase"]),
        if is_ready_pod(pod) { "true" } else { "false" }.to_owned(),
    ]
}

/// Says one line for each Pod that looks different from the last time.
fn tell_changes(told: &mut BTreeMap<String, Vec<String>>, pods: &[Value]) {
    for pod in pods {
        let row = row(pod);
        let key = format!("{}/{}", row[0], row[1]);
        if told.get(&key) != Some(&row) {
            say(format_args!(
                "pod {key}: {} on {}, ready: {}",
                row[3], row[2], row[4]
            ));
            told.insert(key, row);
        }
    }
}

fn print_table(samples: &[Sample], pods: &[Value]) {
    say("");
    table(
        &["NAMESPACE", "POD", "NODE", "PHASE", "READY"],
        &pods.iter().map(row).collect::<Vec<_>>(),
    );
    say("");
    for sample in samples {
        say(format_args!("ready: {sample}"));
    }
}
