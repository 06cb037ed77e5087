//! The state of the cluster at one moment: samples, objects, Pods and events.

use k8s_openapi::api::core::v1::{Event, Pod};
use kube::Api;
use kube::api::ListParams;
use serde_json::{Value, json};

use super::ready::{Readiness, is_ready_pod};
use super::shown_kinds::ShownKinds;
use crate::error::Error;
use crate::objects::Located;
use crate::output::{print, print_line, table};
use crate::output_format::OutputFormat;

/// The state of the cluster at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Board {
    pub(super) samples: Vec<SampleState>,
    /// Kind, name and conditions of the operator's objects.
    pub(super) objects: Vec<[String; 3]>,
    /// Namespace, name, node, phase and readiness of each Pod.
    pub(super) pods: Vec<[String; 5]>,
    /// One line for each event, oldest first.
    pub(super) events: Vec<String>,
}

/// A sample, and why it is not ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SampleState {
    pub(super) name: String,
    pub(super) missing: Option<String>,
}

impl SampleState {
    /// Returns `ready`, or why the sample is not ready.
    pub(super) fn text(&self) -> &str {
        self.missing.as_deref().unwrap_or("ready")
    }
}

impl Board {
    /// Reads the cluster.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(super) async fn read(
        client: &kube::Client,
        samples: &[Located],
        shown: &ShownKinds,
    ) -> Result<Self, Error> {
        let pods = pods(client).await?;
        let mut board = Self {
            pods: pods.iter().map(row).collect(),
            events: events(client).await,
            ..Self::default()
        };
        let mut found = Vec::new();
        for sample in samples {
            let missing = match sample.find(client).await {
                Ok(Some(object)) => {
                    let missing = missing(sample, &object, &owned(&object, &pods));
                    found.push((sample, object));
                    missing
                }
                Ok(None) => Some("it was deleted".to_owned()),
                // For example, its version needs a conversion and the operator does not run.
                Err(error) => Some(format!("it cannot be read: {}", reason(&error))),
            };
            board.samples.push(SampleState {
                name: sample.to_string(),
                missing,
            });
        }
        board.objects = shown.rows(client, &found).await;
        Ok(board)
    }

    /// Returns the first sample that is not ready, with the reason.
    pub(super) fn unready(&self) -> Option<(&str, &str)> {
        self.samples
            .iter()
            .find_map(|sample| Some((sample.name.as_str(), sample.missing.as_deref()?)))
    }

    /// Returns one line for each part that differs from the previous state.
    pub(super) fn changes_since(&self, previous: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        for sample in &self.samples {
            if !previous.samples.contains(sample) {
                lines.push(format!("sample {}: {}", sample.name, sample.text()));
            }
        }
        for object in &self.objects {
            if !previous.objects.contains(object) {
                let [kind, name, conditions] = object;
                lines.push(format!("object {} {name}: {conditions}", kind.trim_start()));
            }
        }
        for pod in &self.pods {
            if !previous.pods.contains(pod) {
                let [namespace, name, node, phase, ready] = pod;
                lines.push(format!(
                    "pod {namespace}/{name}: {phase} on {node}, ready: {ready}"
                ));
            }
        }
        for event in &self.events {
            if !previous.events.contains(event) {
                lines.push(format!("event {event}"));
            }
        }
        lines
    }

    /// Prints the state as the result of `--once`.
    pub(super) fn print(&self, format: OutputFormat) -> Result<(), Error> {
        match format {
            OutputFormat::Text => {
                self.print_tables();
                Ok(())
            }
            OutputFormat::Json => print(&format!("{:#}\n", self.value())),
        }
    }

    fn value(&self) -> Value {
        let samples = self.samples.iter().map(|sample| {
            let SampleState { name, missing } = sample;
            json!({"sample": name, "ready": missing.is_none(), "missing": missing})
        });
        let pods = self
            .pods
            .iter()
            .map(|[namespace, name, node, phase, ready]| {
                json!({
                    "namespace": namespace, "name": name, "node": node, "phase": phase,
                    "ready": ready == "true",
                })
            });
        let objects = self.objects.iter().map(|[kind, name, conditions]| {
            json!({"kind": kind.trim_start(), "name": name, "conditions": conditions})
        });
        json!({
            "samples": samples.collect::<Vec<_>>(),
            "objects": objects.collect::<Vec<_>>(),
            "pods": pods.collect::<Vec<_>>(),
        })
    }

    fn print_tables(&self) {
        print_line("");
        let pods: Vec<Vec<String>> = self.pods.iter().map(|pod| pod.to_vec()).collect();
        table(&["NAMESPACE", "POD", "NODE", "PHASE", "READY"], &pods);
        print_line("");
        let objects: Vec<Vec<String>> = self.objects.iter().map(|object| object.to_vec()).collect();
        table(&["KIND", "NAME", "CONDITIONS"], &objects);
        print_line("");
        for SampleState { name, missing } in &self.samples {
            match missing {
                None => print_line(format_args!("ready: {name}")),
                Some(missing) => print_line(format_args!("not ready: {name}: {missing}")),
            }
        }
    }
}

/// Returns the message of the API server, or of the error that prevented a response.
fn reason(error: &Error) -> String {
    match error {
        Error::Request { source, .. } => match &**source {
            kube::Error::Api(status) => status.message.clone(),
            source => source.to_string(),
        },
        error => error.to_string(),
    }
}

fn missing(sample: &Located, object: &Value, pods: &[Value]) -> Option<String> {
    let readiness = if sample.reports_status {
        Readiness::of(object, pods)
    } else {
        Readiness::of_pods(pods)
    };
    match readiness {
        Readiness::Ready => None,
        Readiness::Waiting(reason) => Some(reason),
    }
}

async fn pods(client: &kube::Client) -> Result<Vec<Value>, Error> {
    let list = Api::<Pod>::all(client.clone())
        .list(&ListParams::default())
        .await
        .map_err(|source| Error::Request {
            action: "list the Pods".to_owned(),
            source: Box::new(source),
        })?;
    let pods = list.items.iter();
    Ok(pods
        .filter_map(|pod| serde_json::to_value(pod).ok())
        .collect())
}

/// Returns the events of the cluster, oldest first. They are optional: where they cannot be listed,
/// none are shown.
async fn events(client: &kube::Client) -> Vec<String> {
    let list = Api::<Event>::all(client.clone())
        .list(&ListParams::default())
        .await;
    let mut events = list.map(|list| list.items).unwrap_or_default();
    let time = |event: &Event| {
        let precise = event.event_time.as_ref().map(|time| time.0);
        precise.or_else(|| event.last_timestamp.as_ref().map(|time| time.0))
    };
    events.sort_by_key(time);
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let line = |event: &Event| {
        let about = &event.involved_object;
        format!(
            "{} {} {}/{}: {}",
            text(&event.reason),
            text(&about.kind),
            text(&about.namespace),
            text(&about.name),
            text(&event.message)
        )
    };
    events.iter().map(line).collect()
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

fn row(pod: &Value) -> [String; 5] {
    let cell = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    [
        cell(&pod["metadata"]["namespace"]),
        cell(&pod["metadata"]["name"]),
        cell(&pod["spec"]["nodeName"]),
        cell(&pod["status"]["phase"]),
        if is_ready_pod(pod) { "true" } else { "false" }.to_owned(),
    ]
}
