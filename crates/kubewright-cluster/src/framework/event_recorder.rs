//! Records what a component does as Events.

use kubewright_apiserver::store::{Key, Object};
use kubewright_core::Resource;
use kubewright_kinds::core;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::client::Client;
use super::event::{EventSource, NewEvent};
use super::resources::EVENTS;

impl Client {
    /// Records an event about an object. A failure is only logged: no controller depends on its
    /// events.
    pub(crate) async fn record_event(&self, resource: &Resource, object: &Object, event: NewEvent) {
        let Some(source) = self.event_source() else {
            return;
        };
        if let Err(failure) = self.store_event(resource, object, &event, source).await {
            tracing::debug!(
                reason = event.reason,
                message = failure.message,
                "an event was not stored"
            );
        }
    }

    async fn store_event(
        &self,
        resource: &Resource,
        object: &Object,
        event: &NewEvent,
        source: &EventSource,
    ) -> Result<(), Status> {
        let NewEvent {
            event_type,
            reason,
            message,
        } = event;
        let content = format!("{}\n{event_type}\n{reason}\n{message}", object.uid());
        let stored = source.recorded(&content);
        if let Some(stored) = stored.and_then(|key| self.store().get(&key)) {
            let count = stored.value()["count"].as_u64().unwrap_or(1) + 1;
            let patch = json!({"count": count, "lastTimestamp": self.timestamp()});
            return self.patch(&EVENTS, &stored, patch).await;
        }
        // Events about cluster-scoped objects are stored in `default`.
        let namespace = object.namespace().unwrap_or("default");
        let name = format!("{}.{:x}", object.name(), self.server().random_number());
        let now = self.timestamp();
        let stored = json!({
            "apiVersion": "v1",
            "kind": core::EVENT.kind,
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": reference(resource, object),
            "reason": reason,
            "message": message,
            "source": {"component": source.component},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "type": event_type,
            "reportingComponent": source.component,
            "reportingInstance": "",
        });
        self.create(&EVENTS, Some(namespace), stored).await?;
        source.remember(content, Key::of(&core::EVENT, Some(namespace), &name));
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
