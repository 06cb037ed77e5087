//! Names, labels and ports that several objects of an operator share.

use kubewright_core::Description;
use serde_json::{Value, json};

/// The port of the metrics.
pub(crate) const METRICS_PORT: u16 = 8443;
/// The port of the health probes.
pub(crate) const PROBES_PORT: u16 = 8081;
/// The port of the webhooks.
pub(crate) const WEBHOOK_PORT: u16 = 9443;

/// The name of the Service of an operator's webhooks.
pub fn webhook_service(operator: &str) -> String {
    format!("{operator}-webhook")
}

/// The labels of all objects of the operator.
pub(crate) fn labels(description: &Description) -> Value {
    json!({"app.kubernetes.io/name": description.name})
}
