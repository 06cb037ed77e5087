use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ObjectMeta;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A page of text, published as a ConfigMap.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Site", namespaced)]
pub(crate) struct SiteSpec {
    text: String,
}

fn operator() -> Operator {
    Operator::new("sites").controller(Controller::new(reconcile).owns(kind::<ConfigMap>()))
}

async fn reconcile(site: Arc<Site>, cx: Context<Site>) -> Result<Outcome> {
    let page = ConfigMap {
        metadata: ObjectMeta {
            name: site.metadata.name.clone(),
            ..ObjectMeta::default()
        },
        data: Some([("index.html".to_owned(), site.spec.text.clone())].into()),
        ..ConfigMap::default()
    };
    cx.apply(&page).await?;
    Ok(Outcome::done())
}

fn site(text: &str) -> Site {
    let spec = SiteSpec {
        text: text.to_owned(),
    };
    Site::new("home", spec)
}

async fn text(cluster: &Cluster) -> Option<String> {
    let page = cluster.get::<ConfigMap>("home").await?;
    page.data?.remove("index.html")
}

#[kubewright_testing::test]
async fn an_operator_works_under_the_role_of_its_manifests(cluster: Cluster) {
    cluster.run(operator).await;
    cluster.apply(site("hello")).await;
    cluster
        .eventually("a page", async |c| {
            text(c).await.as_deref() == Some("hello")
        })
        .await;
}

#[kubewright_testing::test]
async fn an_operator_that_was_down_catches_up(cluster: Cluster) {
    cluster.run(operator).await;
    cluster.apply(site("one")).await;
    cluster
        .eventually("a page", async |c| text(c).await.as_deref() == Some("one"))
        .await;
    cluster.restart_operator().await;
    cluster.apply(site("two")).await;
    cluster
        .eventually("the new page", async |c| {
            text(c).await.as_deref() == Some("two")
        })
        .await;
}
