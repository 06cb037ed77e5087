//! The validating webhook.

use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use kubewright_testing::Cluster;
use mydaemonset::{MyDaemonSet, operator};
use serde_json::json;

use crate::set::sample;

#[kubewright_testing::test]
async fn empty_image_is_rejected_with_its_field(cluster: Cluster) {
    cluster.run(operator).await;
    let sets: Api<MyDaemonSet> = Api::namespaced(cluster.client(), cluster.namespace());
    let mut empty = sample();
    empty.metadata.name = Some("empty".to_owned());
    empty.spec.image = String::new();
    let result = sets.create(&PostParams::default(), &empty).await;
    let Err(kube::Error::Api(status)) = result else {
        panic!("the set was stored: {result:?}");
    };
    assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));
    assert_eq!(
        status.message,
        "admission webhook \"vmydaemonset-v1beta1.mydaemonset.apps.kubewright.dev\" denied the \
         request: MyDaemonSet.apps.kubewright.dev \"empty\" is invalid: spec.image: Required \
         value: image is required"
    );
    let causes = status
        .details
        .map(|details| details.causes)
        .unwrap_or_default();
    let fields: Vec<&str> = causes.iter().map(|cause| cause.field.as_str()).collect();
    assert_eq!(fields, ["spec.image"]);

    cluster.apply(sample()).await;
    let blank = json!({"spec": {"image": " "}});
    let patched = sets
        .patch("sample", &PatchParams::default(), &Patch::Merge(&blank))
        .await;
    assert!(
        matches!(&patched, Err(kube::Error::Api(status)) if status.code == 422),
        "{patched:?}"
    );
}

#[kubewright_testing::test]
async fn set_is_rejected_while_its_operator_is_down(cluster: Cluster) {
    cluster.run(operator).await;
    cluster.stop_operator().await;
    let sets: Api<MyDaemonSet> = Api::namespaced(cluster.client(), cluster.namespace());
    let result = sets.create(&PostParams::default(), &sample()).await;
    let Err(kube::Error::Api(status)) = result else {
        panic!("the set was stored: {result:?}");
    };
    assert_eq!(
        (status.code, status.reason.as_str()),
        (500, "InternalError")
    );
    let prefix = "Internal error occurred: failed calling webhook \
                 \"vmydaemonset-v1beta1.mydaemonset.apps.kubewright.dev\": failed to call webhook: \
                 Post \"https://";
    assert!(status.message.starts_with(prefix), "{status:?}");
    assert!(status.message.ends_with("connection refused"), "{status:?}");
}
