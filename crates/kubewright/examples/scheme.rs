//! A scheme: decodes objects by the kind in their text, in several versions.

use k8s_openapi::api::autoscaling::{v1, v2};
use kubewright::prelude::*;
use kubewright::{Kind, Scheme};
use serde_json::{Value, json};

fn scheme() -> Scheme {
    Scheme::default()
        .with::<ConfigMap>()
        .with::<v1::HorizontalPodAutoscaler>()
        .with::<v2::HorizontalPodAutoscaler>()
}

/// Returns a description of each document by its type.
pub(crate) fn sort(documents: Vec<Value>) -> Result<Vec<String>> {
    let scheme = scheme();
    let mut sorted = Vec::new();
    for document in documents {
        let object = scheme.decode(document)?;
        sorted.push(if let Some(map) = object.downcast_ref::<ConfigMap>() {
            format!("map {}", map.name_any())
        } else if let Some(scaler) = object.downcast_ref::<v2::HorizontalPodAutoscaler>() {
            let metrics = scaler.spec.metrics.as_ref();
            format!("v2 autoscaler with {} metrics", metrics.map_or(0, Vec::len))
        } else {
            "v1 autoscaler".to_owned()
        });
    }
    Ok(sorted)
}

/// Returns the kinds of the two types.
pub(crate) fn versions() -> [Option<Kind>; 2] {
    let scheme = scheme();
    [
        scheme.kind_of::<v1::HorizontalPodAutoscaler>().cloned(),
        scheme.kind_of::<v2::HorizontalPodAutoscaler>().cloned(),
    ]
}

#[expect(clippy::print_stdout, reason = "what the example shows")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "letter"}});
    let sorted = sort(vec![map]).map_err(|failure| failure.to_string())?;
    println!("{sorted:?}, and {:?}", versions());
    Ok(())
}
