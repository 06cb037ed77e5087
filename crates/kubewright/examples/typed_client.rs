//! A typed client of built-in kinds: get, list, create, update, four types of patches, apply, delete,
//! watch, subresources.

use futures_util::StreamExt as _;
use k8s_openapi::api::apps::v1::ReplicaSet;
use kubewright::client::{connect, load_config};
use kubewright::kube::Client;
use kubewright::kube::api::{
    Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kubewright::prelude::*;
use serde_json::json;

fn letter(name: &str, text: &str) -> ConfigMap {
    let letter = json!({
        "metadata": {"name": name, "labels": {"kind": "letter"}},
        "data": {"text": text},
    });
    serde_json::from_value(letter).unwrap_or_default()
}

/// Sends all types of requests in `namespace`, and returns their results.
pub(crate) async fn work(client: Client, namespace: &str) -> Result<Vec<String>> {
    let letters: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let mut results = Vec::new();
    let post = PostParams::default();
    let created = letters.create(&post, &letter("a", "one")).await?;
    results.push(format!("created {}", created.name_any()));
    let mut changed = letters.get("a").await?;
    changed
        .data
        .get_or_insert_default()
        .insert("text".to_owned(), "two".to_owned());
    letters.replace("a", &post, &changed).await?;
    let params = PatchParams::default();
    let merge = json!({"data": {"merge": "1"}});
    letters.patch("a", &params, &Patch::Merge(&merge)).await?;
    let strategic = json!({"data": {"strategic": "2"}});
    letters
        .patch("a", &params, &Patch::Strategic(&strategic))
        .await?;
    let steps = json!([{"op": "add", "path": "/data/json", "value": "3"}]);
    // A JSON patch needs a feature of kube, so it is sent by path.
    let path = format!("/api/v1/namespaces/{namespace}/configmaps/a");
    let request = http::Request::patch(path)
        .header("content-type", "application/json-patch+json")
        .body(steps.to_string().into_bytes())?;
    client.request::<ConfigMap>(request).await?;
    let applied = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"apply": "4"},
    });
    let apply = PatchParams::apply("example").force();
    let all = letters.patch("a", &apply, &Patch::Apply(&applied)).await?;
    let keys: Vec<String> = all.data.unwrap_or_default().into_keys().collect();
    results.push(format!("patched {}", keys.join(",")));
    letters
        .create(
            &PostParams {
                dry_run: true,
                ..post.clone()
            },
            &letter("dry", ""),
        )
        .await?;
    let selected = ListParams::default().labels("kind=letter");
    let list = letters.list(&selected).await?;
    results.push(format!("listed {}", list.items.len()));
    let version = list.metadata.resource_version.unwrap_or_default();
    let watch = letters
        .watch(&WatchParams::default().labels("kind=letter"), &version)
        .await?;
    let mut watch = std::pin::pin!(watch);
    letters.create(&post, &letter("b", "later")).await?;
    while let Some(event) = watch.next().await {
        if let WatchEvent::Added(letter) = event? {
            results.push(format!("watched {}", letter.name_any()));
            break;
        }
    }
    letters.delete("a", &DeleteParams::default()).await?;
    letters
        .delete_collection(&DeleteParams::default(), &selected)
        .await?;
    results.push(format!(
        "remaining {}",
        letters.list(&selected).await?.items.len()
    ));
    results.push(scale(client, namespace).await?);
    Ok(results)
}

/// Reads and writes the subresource `scale`.
async fn scale(client: Client, namespace: &str) -> Result<String> {
    let sets: Api<ReplicaSet> = Api::namespaced(client, namespace);
    let set = json!({
        "metadata": {"name": "idle"},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "idle"}},
            "template": {
                "metadata": {"labels": {"app": "idle"}},
                "spec": {"containers": [{"name": "idle", "image": "registry.k8s.io/pause:3.10"}]},
            },
        },
    });
    sets.create(&PostParams::default(), &serde_json::from_value(set)?)
        .await?;
    let scale = sets.get_scale("idle").await?;
    let to_one = Patch::Merge(json!({"spec": {"replicas": 1}}));
    let scaled = sets
        .patch_scale("idle", &PatchParams::default(), &to_one)
        .await?;
    sets.delete("idle", &DeleteParams::default()).await?;
    let count = |scale: k8s_openapi::api::autoscaling::v1::Scale| {
        scale
            .spec
            .and_then(|spec| spec.replicas)
            .unwrap_or_default()
    };
    Ok(format!("scaled {} to {}", count(scale), count(scaled)))
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "what the example shows")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = connect(load_config(None).await?, "typed-client-example")?;
    let namespace = client.default_namespace().to_owned();
    let results = work(client, &namespace)
        .await
        .map_err(|error| error.to_string())?;
    println!("{}", results.join("\n"));
    Ok(())
}
