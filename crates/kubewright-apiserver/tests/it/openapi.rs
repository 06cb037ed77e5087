//! OpenAPI documents.

use kubewright_apiserver::{Server, ServerOptions};
use serde_json::json;

use crate::client::Client;

#[tokio::test(start_paused = true)]
async fn index_lists_a_document_for_every_version() {
    let server = Server::new(ServerOptions::default());
    let admin = Client::admin(&server);
    let index = admin.get("/openapi/v3").await.ok();
    let paths = index["paths"].as_object().expect("paths");
    assert!(paths.contains_key("api/v1") && paths.contains_key("apis/apps/v1"));
    for entry in paths.values() {
        let url = entry["serverRelativeURL"].as_str().expect("a url");
        let document = admin.get(url).await.ok();
        assert_eq!(document["openapi"], "3.0.0", "{url}");
    }
    assert_eq!(admin.get("/openapi/v3/apis/apps/v9").await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn document_has_what_clients_need_to_validate_and_patch() {
    let server = Server::new(ServerOptions::default());
    let admin = Client::admin(&server);
    let document = admin.get("/openapi/v3/apis/apps/v1").await.ok();
    let patch =
        &document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
    let own = json!({"group": "apps", "version": "v1", "kind": "Deployment"});
    assert_eq!(patch["x-kubernetes-group-version-kind"], own);
    let parameters = patch["parameters"].as_array().expect("parameters");
    assert!(
        parameters
            .iter()
            .any(|one| one["name"] == "fieldValidation")
    );
    let types = patch["requestBody"]["content"].as_object().expect("types");
    assert!(types.contains_key("application/strategic-merge-patch+json"));
    let schemas = &document["components"]["schemas"];
    let containers = &schemas["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"];
    assert_eq!(containers["x-kubernetes-patch-merge-key"], "name");
}

#[tokio::test(start_paused = true)]
async fn custom_resource_has_a_document() {
    let server = Server::new(ServerOptions::default());
    let admin = Client::admin(&server);
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "toys.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "toys", "singular": "toy", "kind": "Toy", "listKind": "ToyList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {"spec": {"type": "object", "properties": {
                        "color": {"type": "string"},
                    }}},
                }},
            }],
        },
    });
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let before = admin.get("/openapi/v3").await.ok();
    assert_eq!(before["paths"].get("apis/example.com/v1"), None);
    admin.post(path, &definition).await.ok();
    let document = admin.get("/openapi/v3/apis/example.com/v1").await.ok();
    let toy = &document["components"]["schemas"]["com.example.v1.Toy"];
    assert_eq!(
        toy["properties"]["spec"]["properties"]["color"]["type"],
        "string"
    );
    let item = "/apis/example.com/v1/namespaces/{namespace}/toys/{name}";
    let types = &document["paths"][item]["patch"]["requestBody"]["content"];
    assert!(
        types
            .get("application/strategic-merge-patch+json")
            .is_none()
    );
}
