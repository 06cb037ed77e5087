use k8s_openapi::api::core::v1::{Event, Pod};
use kube::Api;
use kube::api::ListParams;
use serde_json::{Value, json};

use super::objects::Shown;
use super::ready::{Readiness, is_ready_pod};
use crate::error::Error;
use crate::objects::Located;
use crate::output::{print, say, table};
use crate::output_format::OutputFormat;

/// What there is to see: the samples, objects, Pods and events of the cluster at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Board {
    /// Each sample, and what it still lacks.
    pub(super) samples: Vec<(String, Option<String>)>,
    /// Kind, name and conditions of the operator's objects.
    pub(super) objects: Vec<[String; 3]>,
    /// Namespace, name, node, phase and readiness of each Pod.
    pub(super) pods: Vec<[String; 5]>,
    /// One line by event, oldest first.
    pub(super) events: Vec<String>,
}

impl Board {
    /// Looks at the cluster.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(super) async fn look(
        client: &kube::Client,
        samples: &[Located],
        shown: &Shown,
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
                Ok(None) => Some("it is gone".to_owned()),
                // Such as one that the operator would convert if it ran.
                Err(error) => Some(format!("it cannot be read: {}", reason(&error))),
            };
            board.samples.push((sample.to_string(), missing));
        }
        board.objects = shown.look(client, &found).await;
        Ok(board)
    }

    /// The first sample that lacks something, with that.
    pub(super) fn unready<'a>(&'a self) -> Option<(&'a str, &'a str)> {
        let lacking = |(name, missing): &'a (String, Option<String>)| {
            missing.as_deref().map(|missing| (name.as_str(), missing))
        };
        self.samples.iter().find_map(lacking)
    }

    /// One line for each thing that looks different from the last time.
    pub(super) fn changes_since(&self, former: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        for sample in self
            .samples
            .iter()
            .filter(|one| !former.samples.contains(one))
        {
            let (name, missing) = sample;
            let state = missing.as_deref().unwrap_or("ready");
            lines.push(format!("sample {name}: {state}"));
        }
        let changed = |one: &&[String; 3]| !former.objects.contains(one);
        for [kind, name, conditions] in self.objects.iter().filter(changed) {
            lines.push(format!("object {} {name}: {conditions}", kind.trim_start()));
        }
        for pod in self.pods.iter().filter(|pod| !former.pods.contains(pod)) {
            let [namespace, name, node, phase, ready] = pod;
            lines.push(format!(
                "pod {namespace}/{name}: {phase} on {node}, ready: {ready}"
            ));
        }
        let new = self
            .events
            .iter()
            .filter(|event| !former.events.contains(event));
        lines.extend(new.map(|event| format!("event {event}")));
        lines
    }

    /// Prints what is there.
    pub(super) fn give(&self, form: OutputFormat) -> Result<(), Error> {
        match form {
            OutputFormat::Text => {
                self.print();
                Ok(())
            }
            OutputFormat::Json => print(&format!("{:#}\n", self.value())),
        }
    }

    fn value(&self) -> Value {
        let samples = self.samples.iter().map(|(name, missing)| {
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

    fn print(&self) {
        say("");
        let rows: Vec<Vec<String>> = self.pods.iter().map(|pod| pod.to_vec()).collect();
        table(&["NAMESPACE", "POD", "NODE", "PHASE", "READY"], &rows);
        say("");
        let rows: Vec<Vec<String>> = self.objects.iter().map(|one| one.to_vec()).collect();
        table(&["KIND", "NAME", "CONDITIONS"], &rows);
        say("");
        for (name, missing) in &self.samples {
            match missing {
                None => say(format_args!("ready: {name}")),
                Some(missing) => say(format_args!("not ready: {name}: {missing}")),
            }
        }
    }
}

/// What the API server says, or what came in its place.
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
    let readiness = match sample.reports_status() {
        true => Readiness::of(object, pods),
        false => Readiness::of_pods(pods),
    };
    match readiness {
        Readiness::Ready => None,
        Readiness::Waiting(why) => Some(why),
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

/// Events are a courtesy: a cluster that does not show them is no failure.
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
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    [
        text(&pod["metadata"]["namespace"]),
        text(&pod["metadata"]["name"]),
        text(&pod["spec"]["nodeName"]),
        text(&pod["status"]["phase"]),
        if is_ready_pod(pod) { "true" } else { "false" }.to_owned(),
    ]
}
