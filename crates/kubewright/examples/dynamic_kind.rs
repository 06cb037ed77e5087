//! A kind that is known only at run time: each of its objects is annotated with the number of objects
//! in its namespace.

use std::process::ExitCode;

use kubewright::kube::core::DynamicObject;
use kubewright::prelude::*;
use kubewright::{Kind, Resource, Scope, Verb, kind_of};
use serde_json::json;

/// Counts the objects of any kind.
pub(crate) fn operator(counted: Resource) -> Operator {
    let resource = counted.clone();
    let reconcile = move |_: Arc<DynamicObject>, cx: Context<DynamicObject>| {
        let resource = resource.clone();
        async move { annotate(&resource, &cx).await }
    };
    Operator::new("census").controller(
        Controller::of(counted.clone(), reconcile)
            .watches(kind_of(counted.clone()), enqueue::all())
            .writes(kind_of(counted), [Verb::Create, Verb::Patch]),
    )
}

async fn annotate(resource: &Resource, cx: &Context<DynamicObject>) -> Result<Outcome> {
    let objects = cx.of(resource).list()?;
    let in_namespace = objects
        .iter()
        .filter(|object| object.namespace().as_deref() == cx.key().namespace());
    let count = in_namespace.count().to_string();
    let annotated = DynamicObject {
        types: None,
        metadata: ObjectMeta {
            name: Some(cx.key().name().to_owned()),
            annotations: Some([("examples.kubewright.dev/count".to_owned(), count)].into()),
            ..ObjectMeta::default()
        },
        data: json!({}),
    };
    cx.of(resource).apply(&annotated).unowned().await?;
    Ok(Outcome::done())
}

fn main() -> ExitCode {
    let services = Resource::new(
        Kind::new("", "v1", "Service"),
        "services",
        Scope::Namespaced,
    );
    operator(services).main()
}
