use std::collections::BTreeMap;
use std::sync::Arc;

use kubewright_core::Resource;
use kubewright_wire::status::Status;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::Client;
use super::client::EVENTS;
use kubewright_apiserver::store::{Key, Object};

/// How many different reports a part remembers, to count those that come again
/// (`maxLruCacheEntries` of client-go/tools/record).
const REMEMBERED: usize = 4096;

/// What a part of the cluster tells about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Report {
    kind: &'static str,
    reason: &'static str,
    message: String,
}

impl Report {
    pub(super) fn normal(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind: "Normal",
            reason,
            message: message.into(),
        }
    }

    pub(super) fn warning(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind: "Warning",
            ..Self::normal(reason, message)
        }
    }

    /// The same with another text.
    pub(super) fn saying(self, message: String) -> Self {
        Self { message, ..self }
    }
}

/// The reports that a part has made, by what they said.
#[derive(Clone, Debug, Default)]
pub(super) struct Reports {
    made: Arc<Mutex<BTreeMap<String, Key>>>,
}

impl Reports {
    fn find(&self, said: &str) -> Option<Key> {
        self.made.lock().get(said).cloned()
    }

    fn note(&self, said: String, event: Key) {
        let mut made = self.made.lock();
        if made.len() >= REMEMBERED {
            made.clear();
        }
        made.insert(said, event);
    }
}

impl Client {
    /// Tells something about an object in an Event. That is a courtesy: when it fails, the work
    /// goes on.
    pub(super) async fn report(&self, resource: &Resource, object: &Object, report: Report) {
        let Some((component, reports)) = self.reporter() else {
            return;
        };
        let told = self.tell(resource, object, &report, (component, reports));
        if let Err(failure) = told.await {
            tracing::debug!(
                reason = report.reason,
                message = failure.message,
                "an event was not stored"
            );
        }
    }

    async fn tell(
        &self,
        resource: &Resource,
        object: &Object,
        report: &Report,
        (component, reports): (&str, &Reports),
    ) -> Result<(), Status> {
        let Report {
            kind,
            reason,
            message,
        } = report;
        let said = format!("{}\n{kind}\n{reason}\n{message}", object.uid());
        if let Some(event) = reports.find(&said).and_then(|key| self.store().get(&key)) {
            let count = event.value()["count"].as_u64().unwrap_or(1) + 1;
            let patch = json!({"count": count, "lastTimestamp": self.timestamp()});
            return self.patch(&EVENTS, &event, patch).await;
        }
        // Events about what has no namespace are in `default`.
        let namespace = object.namespace().unwrap_or("default");
        let name = format!("{}.{:x}", object.name(), self.server().random_number());
        let now = self.timestamp();
        let event = json!({
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": reference(resource, object),
            "reason": reason,
            "message": message,
            "source": {"component": component},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "type": kind,
            "reportingComponent": component,
            "reportingInstance": "",
        });
        self.create(&EVENTS, Some(namespace), event).await?;
        reports.note(said, Key::new("events", Some(namespace), &name));
        Ok(())
    }
}

fn reference(resource: &Resource, object: &Object) -> Value {
    let mut reference = json!({
        "apiVersion": resource.kind.api_version(),
        "kind": resource.kind.kind,
        "name": object.name(),
        "uid": object.uid(),
        "resourceVersion": object.revision().to_string(),
    });
    if let Some(namespace) = object.namespace() {
        reference["namespace"] = namespace.into();
    }
    reference
}
