//! The Lease object.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// A Lease of `coordination.k8s.io/v1`. Fields of other writers, such as labels, are preserved.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lease(Value);

/// The duration of a released Lease, as in client-go.
const RELEASED_SECONDS: u64 = 1;

impl Lease {
    pub(super) fn new(namespace: &str, name: &str) -> Self {
        Self(json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"namespace": namespace, "name": name},
        }))
    }

    /// `None` when the value is not a Lease.
    pub(super) fn from_json(value: Value) -> Option<Self> {
        value["metadata"]["name"].is_string().then_some(Self(value))
    }

    pub(super) fn as_json(&self) -> &Value {
        &self.0
    }

    /// The identity of the holder; `None` when the Lease was released.
    pub(super) fn holder(&self) -> Option<&str> {
        let holder = self.spec("holderIdentity").as_str();
        holder.filter(|holder| !holder.is_empty())
    }

    /// How long the Lease is valid after it was seen to change.
    pub(super) fn duration(&self) -> Duration {
        let seconds = self.spec("leaseDurationSeconds").as_u64();
        Duration::from_secs(seconds.unwrap_or_default())
    }

    /// Whether both have the same spec: a change of labels is not a renewal.
    pub(super) fn has_spec_of(&self, other: &Self) -> bool {
        self.0.get("spec") == other.0.get("spec")
    }

    /// The Lease after `identity` took or renewed it at `now`.
    pub(super) fn held_by(&self, identity: &str, lease: Duration, now: Timestamp) -> Self {
        let was_ours = self.holder() == Some(identity);
        let mut spec = self.spec_fields();
        if !was_ours {
            // The first acquisition of a Lease is not a transition.
            let former = self.spec("leaseTransitions").as_u64();
            let transitions = former.map_or(0, |count| count + 1);
            spec.insert("leaseTransitions".to_owned(), json!(transitions));
            spec.insert("acquireTime".to_owned(), micro_time(now));
        }
        spec.insert("holderIdentity".to_owned(), json!(identity));
        spec.insert("leaseDurationSeconds".to_owned(), json!(lease.as_secs()));
        spec.insert("renewTime".to_owned(), micro_time(now));
        self.with_spec(spec)
    }

    /// The Lease after its holder released it.
    pub(super) fn released(&self, now: Timestamp) -> Self {
        let mut spec = self.spec_fields();
        spec.insert("holderIdentity".to_owned(), json!(""));
        spec.insert("leaseDurationSeconds".to_owned(), json!(RELEASED_SECONDS));
        spec.insert("acquireTime".to_owned(), micro_time(now));
        spec.insert("renewTime".to_owned(), micro_time(now));
        self.with_spec(spec)
    }

    fn spec(&self, field: &str) -> &Value {
        &self.0["spec"][field]
    }

    fn spec_fields(&self) -> Map<String, Value> {
        self.0["spec"].as_object().cloned().unwrap_or_default()
    }

    fn with_spec(&self, spec: Map<String, Value>) -> Self {
        let mut value = self.0.clone();
        value["spec"] = Value::Object(spec);
        Self(value)
    }
}

/// The format of `MicroTime` in Kubernetes.
fn micro_time(time: Timestamp) -> Value {
    json!(time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::Lease;

    const TERM: Duration = Duration::from_secs(15);

    #[test]
    fn change_of_holder_is_counted_and_renewal_is_not() {
        let at = |second: i64| jiff::Timestamp::from_second(second).unwrap();
        let first = Lease::new("shop", "web").held_by("a", TERM, at(0));
        assert_eq!(first.spec("leaseTransitions"), 0);
        let renewed = first.held_by("a", TERM, at(2));
        assert_eq!(renewed.spec("leaseTransitions"), 0);
        assert_eq!(renewed.spec("acquireTime"), "1970-01-01T00:00:00.000000Z");
        assert_eq!(renewed.spec("renewTime"), "1970-01-01T00:00:02.000000Z");
        let released = renewed.released(at(3));
        assert_eq!(released.holder(), None);
        let taken = released.held_by("b", TERM, at(4));
        assert_eq!(taken.spec("leaseTransitions"), 1);
        assert_eq!(taken.holder(), Some("b"));
        assert_eq!(taken.duration(), TERM);
    }

    #[test]
    fn fields_of_other_writers_are_preserved() {
        let lease = Lease::from_json(json!({
            "metadata": {"name": "web", "labels": {"team": "a"}, "resourceVersion": "7"},
            "spec": {"strategy": "OldestEmulationVersion"},
        }));
        let held = lease
            .unwrap()
            .held_by("a", TERM, jiff::Timestamp::UNIX_EPOCH);
        assert_eq!(held.as_json()["metadata"]["labels"]["team"], "a");
        assert_eq!(held.as_json()["metadata"]["resourceVersion"], "7");
        assert_eq!(held.spec("strategy"), "OldestEmulationVersion");
    }
}
