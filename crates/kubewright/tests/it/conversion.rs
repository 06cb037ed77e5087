//! A kind in three versions: its registration, and its conversion on both clusters.

use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::{Value, json};

mod alpha {
    use kubewright::prelude::*;

    #[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[kube(
        group = "convert.kubewright.dev",
        version = "v1alpha1",
        kind = "Page",
        namespaced
    )]
    pub(crate) struct PageSpec {
        pub(crate) text: String,
        /// A field that the other versions lack.
        pub(crate) note: Option<String>,
    }
}

mod beta {
    use kubewright::prelude::*;

    #[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[kube(
        group = "convert.kubewright.dev",
        version = "v1beta1",
        kind = "Page",
        namespaced
    )]
    pub(crate) struct PageSpec {
        pub(crate) lines: Vec<String>,
    }
}

#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "convert.kubewright.dev",
    version = "v1",
    kind = "Page",
    namespaced
)]
struct PageSpec {
    lines: Vec<String>,
    /// A field that the other versions lack.
    width: Option<u32>,
}

fn from_alpha(old: alpha::Page) -> Result<Page, &'static str> {
    if old.spec.text == "invalid" {
        return Err("the text is invalid");
    }
    let lines = old.spec.text.split('|').map(str::to_owned).collect();
    let spec = PageSpec { lines, width: None };
    Ok(Page {
        metadata: old.metadata,
        spec,
    })
}

fn to_alpha(new: Page) -> alpha::Page {
    let text = new.spec.lines.join("|");
    let spec = alpha::PageSpec { text, note: None };
    alpha::Page {
        metadata: new.metadata,
        spec,
    }
}

fn from_beta(old: beta::Page) -> Page {
    let spec = PageSpec {
        lines: old.spec.lines,
        width: None,
    };
    Page {
        metadata: old.metadata,
        spec,
    }
}

fn to_beta(new: Page) -> beta::Page {
    let spec = beta::PageSpec {
        lines: new.spec.lines,
    };
    beta::Page {
        metadata: new.metadata,
        spec,
    }
}

fn operator() -> Operator {
    Operator::new("pages")
        .webhook(Webhook::converts(from_alpha, to_alpha))
        .webhook(Webhook::converts(from_beta, to_beta))
}

#[test]
fn without_webhooks_the_definition_has_only_the_stored_version() {
    let description = operator().without_webhooks().description();
    let [definition] = description.custom_resources.as_slice() else {
        panic!("{description:?}");
    };
    let versions = definition["spec"]["versions"].as_array().unwrap();
    assert_eq!(versions.len(), 1, "{versions:?}");
    assert_eq!(versions[0]["name"], "v1");
    assert!(!description.serves());
}

#[test]
fn definition_has_all_versions_and_stores_the_hub() {
    let description = operator().description();
    let [definition] = description.custom_resources.as_slice() else {
        panic!("{description:?}");
    };
    let versions: Vec<_> = definition["spec"]["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|version| {
            (
                version["name"].as_str().unwrap(),
                version["storage"] == true,
            )
        })
        .collect();
    assert_eq!(
        versions,
        [("v1", true), ("v1alpha1", false), ("v1beta1", false)]
    );
    let options = kubewright_manifest::ManifestOptions::default();
    let objects = kubewright_manifest::objects(&description, &options);
    let object = |kind: &str| objects.iter().find(|found| found["kind"] == kind);
    assert_eq!(
        object("CustomResourceDefinition").unwrap()["spec"]["conversion"],
        json!({"strategy": "Webhook", "webhook": {
            "conversionReviewVersions": ["v1"],
            "clientConfig": {"service": {
                "name": "pages-webhook", "namespace": "pages-system", "path": "/convert",
            }},
        }})
    );
    assert!(object("Service").is_some());
}

#[tokio::test]
async fn versions_without_a_common_hub_are_an_error_at_the_start() {
    fn alpha_to_beta(old: alpha::Page) -> beta::Page {
        to_beta(from_alpha(old).unwrap())
    }
    fn beta_to_alpha(old: beta::Page) -> alpha::Page {
        to_alpha(from_beta(old))
    }
    let error_of = |operator: Operator| crate::webhooks::error_of(operator).to_string();
    assert_eq!(
        error_of(operator().webhook(Webhook::converts(alpha_to_beta, beta_to_alpha))),
        "convert convert.kubewright.dev/v1alpha1, Kind=Page to convert.kubewright.dev/v1beta1, \
         Kind=Page: a kind has one hub: convert all other versions to the same one"
    );
    assert_eq!(
        error_of(operator().webhook(Webhook::converts(from_beta, to_beta))),
        "convert convert.kubewright.dev/v1beta1, Kind=Page to convert.kubewright.dev/v1, \
         Kind=Page: each version is converted once, and never to itself"
    );
}

/// Sends a request for a page in a version, and returns its spec or the message of the error.
async fn send(
    cluster: &Cluster,
    method: &str,
    version: &str,
    body: Value,
) -> Result<Value, String> {
    let namespace = cluster.namespace();
    let base = format!("/apis/convert.kubewright.dev/{version}/namespaces/{namespace}/pages");
    let (path, media_type) = match method {
        "POST" => (base, "application/json"),
        "PATCH" => (format!("{base}/p"), "application/merge-patch+json"),
        _ => (format!("{base}/p"), "application/json"),
    };
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("Content-Type", media_type)
        .body(body.to_string().into_bytes())
        .expect("a request");
    let response: Result<Value, kube::Error> = cluster.client().request(request).await;
    match response {
        Ok(object) => Ok(object["spec"].clone()),
        Err(kube::Error::Api(status)) => Err(status.message),
        Err(error) => Err(error.to_string()),
    }
}

fn page(version: &str, spec: Value) -> Value {
    json!({"apiVersion": format!("convert.kubewright.dev/{version}"), "kind": "Page",
        "metadata": {"name": "p"}, "spec": spec})
}

#[kubewright_testing::test]
async fn object_is_read_and_written_in_every_version_without_loss(cluster: Cluster) {
    cluster.run(operator).await;
    let new = page("v1alpha1", json!({"text": "a|b", "note": "mine"}));
    let created = send(&cluster, "POST", "v1alpha1", new).await;
    assert_eq!(created, Ok(json!({"text": "a|b", "note": "mine"})));
    let hub = send(&cluster, "GET", "v1", Value::Null).await;
    assert_eq!(hub, Ok(json!({"lines": ["a", "b"]})));
    let patch = json!({"spec": {"lines": ["a", "c"], "width": 80}});
    let widened = send(&cluster, "PATCH", "v1", patch).await;
    assert_eq!(widened, Ok(json!({"lines": ["a", "c"], "width": 80})));
    let old = send(&cluster, "GET", "v1alpha1", Value::Null).await;
    assert_eq!(old, Ok(json!({"text": "a|c", "note": "mine"})));
    let patch = json!({"spec": {"lines": ["z"]}});
    let edited = send(&cluster, "PATCH", "v1beta1", patch).await;
    assert_eq!(edited, Ok(json!({"lines": ["z"]})));
    let hub = send(&cluster, "GET", "v1", Value::Null).await;
    assert_eq!(hub, Ok(json!({"lines": ["z"], "width": 80})));
    let old = send(&cluster, "GET", "v1alpha1", Value::Null).await;
    assert_eq!(old, Ok(json!({"text": "z", "note": "mine"})));
}

#[kubewright_testing::test]
async fn client_gets_the_error_of_a_conversion(cluster: Cluster) {
    cluster.run(operator).await;
    let new = page("v1alpha1", json!({"text": "invalid"}));
    let created = send(&cluster, "POST", "v1alpha1", new).await;
    let error = created.expect_err("a failed conversion");
    assert!(
        error.contains(
            "conversion webhook for convert.kubewright.dev/v1alpha1, Kind=Page failed: the text \
             is invalid"
        ),
        "{error}"
    );
}

#[kubewright_testing::test]
async fn stored_version_is_readable_while_the_operator_is_down(cluster: Cluster) {
    cluster.run(operator).await;
    let created = send(&cluster, "POST", "v1", page("v1", json!({"lines": ["a"]}))).await;
    assert_eq!(created, Ok(json!({"lines": ["a"]})));
    cluster.stop_operator().await;
    assert!(
        send(&cluster, "GET", "v1alpha1", Value::Null)
            .await
            .is_err()
    );
    let hub = send(&cluster, "GET", "v1", Value::Null).await;
    assert_eq!(hub, Ok(json!({"lines": ["a"]})));
}
