//! The status of a built-in kind: each Service of type LoadBalancer gets an address.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::process::ExitCode;

use kubewright::prelude::*;
use serde_json::json;

async fn reconcile(service: Arc<Service>, cx: Context<Service>) -> Result<Outcome> {
    let kind = service.spec.as_ref().and_then(|spec| spec.type_.as_deref());
    if kind != Some("LoadBalancer") {
        return Ok(Outcome::done());
    }
    let address = address_of(&service.uid().unwrap_or_default());
    cx.apply_status(&json!({"loadBalancer": {"ingress": [{"ip": address}]}}))
        .await?;
    Ok(Outcome::done())
}

/// Returns an address of a network for examples (RFC 5737), always the same for one Service.
fn address_of(uid: &str) -> String {
    let mut hasher = DefaultHasher::new();
    uid.hash(&mut hasher);
    format!("203.0.113.{}", hasher.finish() % 254 + 1)
}

pub(crate) fn operator() -> Operator {
    Operator::new("balancer").controller(Controller::new(reconcile))
}

fn main() -> ExitCode {
    operator().main()
}
