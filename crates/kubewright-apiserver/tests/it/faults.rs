//! Malformed requests and unsupported features.

use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

use crate::client::{Client, server};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test(start_paused = true)]
async fn malformed_bodies_fail_with_400() {
    let client = Client::admin(&server());
    let deep = format!("{{\"data\":{}", "[".repeat(200_000));
    let deep_yaml = "[".repeat(50_000);
    for (kind, body) in [
        ("application/json", b"{\"metadata\":".to_vec()),
        ("application/json", b"[]".to_vec()),
        ("application/json", b"".to_vec()),
        (
            "application/json",
            b"{\"data\":{\"a\":\"\xff\xfe\"}}".to_vec(),
        ),
        ("application/json", deep.into_bytes()),
        ("application/yaml", b"a: [".to_vec()),
        ("application/yaml", b"\xff\xfe".to_vec()),
        ("application/yaml", deep_yaml.into_bytes()),
        ("application/json", b"{\"metadata\":[]}".to_vec()),
        ("application/json", b"{\"metadata\":{\"name\":7}}".to_vec()),
        ("application/json", b"{\"data\":{\"a\":1}}".to_vec()),
    ] {
        let shown = String::from_utf8_lossy(body.get(..40).unwrap_or(&body)).into_owned();
        let response = client.send(Method::POST, MAPS, kind, body).await;
        assert_eq!(response.code, 400, "{kind} {shown}: {}", response.text);
        assert_eq!(response.body["kind"], "Status");
        assert_eq!(response.body["reason"], "BadRequest");
    }
}

#[tokio::test(start_paused = true)]
async fn malformed_patches_fail_with_400() {
    let client = Client::admin(&server());
    client.post(MAPS, json!({"metadata": {"name": "a"}})).await;
    let path = format!("{MAPS}/a?fieldManager=m");
    for kind in [
        "application/merge-patch+json",
        "application/json-patch+json",
        "application/apply-patch+yaml",
    ] {
        for body in ["", "{", "3", "\"x\"", "{}}"] {
            let response = client.send(Method::PATCH, &path, kind, body).await;
            assert_eq!(response.code, 400, "{kind} {body}: {}", response.text);
        }
    }
    let wrong = client
        .merge(&path, json!({"data": {"k": {"deep": 1}}}))
        .await;
    assert_eq!(wrong.code, 422, "{}", wrong.text);
    let broken = client.merge(&path, json!({"metadata": null})).await;
    assert_eq!(broken.code, 400, "{}", broken.text);
}

#[tokio::test(start_paused = true)]
async fn body_beyond_the_limit_fails_with_413() {
    let client = Client::admin(&server());
    let large = vec![b' '; 3 * 1024 * 1024 + 1];
    let response = client
        .send(Method::POST, MAPS, "application/json", large)
        .await;
    assert_eq!(
        (response.code, response.message()),
        (413, "Request entity too large: limit is 3145728")
    );
}

#[tokio::test(start_paused = true)]
async fn protobuf_of_unknown_kinds_and_protobuf_responses_are_unsupported() {
    let client = Client::admin(&server());
    let protobuf = "application/vnd.kubernetes.protobuf";
    let response = client.send(Method::POST, MAPS, protobuf, "k8s\0").await;
    assert_eq!(response.code, 415);
    assert_eq!(
        client.accept(MAPS, protobuf).await.code,
        406,
        "only protobuf is accepted"
    );
    let both = format!("{protobuf}, */*");
    assert_eq!(client.accept(MAPS, &both).await.code, 200);
}

#[tokio::test(start_paused = true)]
async fn unknown_resources_paths_and_methods_have_different_errors() {
    let client = Client::admin(&server());
    let unknown = client.get("/api/v1/unicorns").await;
    assert_eq!(
        (unknown.code, unknown.message()),
        (404, "the server could not find the requested resource")
    );
    for path in ["/apis/nope/v1/things", "/nope", "/api/v1/a/b/c/d/e"] {
        let response = client.get(path).await;
        assert_eq!(response.code, 404, "{path}");
    }
    let wrong = client
        .send(Method::POST, "/api/v1/pods", "application/json", "{}")
        .await;
    assert_eq!(
        (wrong.code, wrong.message()),
        (
            405,
            "the server does not allow this method on the requested resource"
        )
    );
    let subresource = client.get(&format!("{MAPS}/a/nope")).await;
    assert_eq!(subresource.code, 404);
}

#[tokio::test(start_paused = true)]
async fn unimplemented_endpoints_fail_with_501() {
    let client = Client::admin(&server());
    for path in [
        "/openapi/v2",
        "/api/v1/namespaces/default/pods/p/log",
        "/apis/autoscaling/v1/horizontalpodautoscalers",
        "/api/v1/componentstatuses",
    ] {
        let response = client.get(path).await;
        assert_eq!(response.code, 501, "{path}: {}", response.text);
        assert!(response.message().contains("not implemented yet"), "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn policy_with_an_unsupported_variable_fails_with_501() {
    let client = Client::admin(&server());
    let path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
    let body = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "x"},
        "spec": {
            "matchConstraints": {"resourceRules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"],
                "resources": ["pods"],
            }]},
            "validations": [{"expression": "authorizer.path('/').check('get').allowed()"}],
        },
    });
    let response = client.post(path, body.clone()).await;
    assert_eq!(response.code, 501, "{}", response.text);
    assert!(response.message().contains("the variable authorizer"));
    let applied = client
        .apply(&format!("{path}/x?fieldManager=m"), body.clone())
        .await;
    assert_eq!(applied.code, 501, "{}", applied.text);
    assert_eq!(client.get(path).await.body["items"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn empty_object_of_every_kind_is_handled() {
    let server = server();
    let client = Client::admin(&server);
    for (index, resource) in server.resources().into_iter().enumerate() {
        let path = resource.path(Some("default"));
        // Events of both groups are the same objects, so each kind has a name of its own.
        let name = match resource.plural.as_str() {
            "customresourcedefinitions" => "x.y.io".to_owned(),
            _ => format!("x{index}"),
        };
        let body = json!({"metadata": {"name": name}});
        let response = client.post(&path, body).await;
        assert!(
            matches!(response.code, 201 | 400 | 405 | 422 | 501),
            "{path}: {}",
            response.text
        );
        let listed = client.get(&path).await;
        assert!(
            matches!(listed.code, 200 | 405 | 501),
            "{path}: {}",
            listed.text
        );
    }
}

#[tokio::test(start_paused = true)]
async fn response_headers_are_those_of_kubernetes() {
    let client = Client::admin(&server());
    let request = Request::get("/version")
        .header("audit-id", "mine")
        .body(Full::default())
        .expect("the test's request is one");
    let response = client.open(request).await;
    assert_eq!(response.headers()["audit-id"], "mine");
    assert_eq!(response.headers()["cache-control"], "no-cache, private");
    let Ok(body) = response.into_body().collect().await;
    let version: Value = serde_json::from_slice(&body.to_bytes()).unwrap();
    assert_eq!(version["gitVersion"], "v1.36.3-kubewright");
}

#[tokio::test(start_paused = true)]
async fn delete_with_malformed_options_deletes_nothing() {
    let client = Client::admin(&server());
    client.post(MAPS, json!({"metadata": {"name": "a"}})).await;
    let path = format!("{MAPS}/a");
    for body in ["{", "[]", "3", "\"x\"", "{\"gracePeriodSeconds\":\"x\"}"] {
        let kind = "application/json";
        let response = client.send(Method::DELETE, &path, kind, body).await;
        assert_eq!(response.code, 400, "{body}: {}", response.text);
    }
    assert_eq!(client.get(&path).await.code, 200);
}

#[tokio::test(start_paused = true)]
async fn duplicate_fields_are_warned_about_or_rejected() {
    let client = Client::admin(&server());
    let body = r#"{"metadata":{"name":"a"},"data":{"k":"1","k":"2"}}"#;
    let kind = "application/json";
    let strict = format!("{MAPS}?fieldValidation=Strict");
    let rejected = client.send(Method::POST, &strict, kind, body).await;
    assert_eq!(
        (rejected.code, rejected.message()),
        (
            400,
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: \
             duplicate field \"data.k\""
        )
    );
    let warned = client.send(Method::POST, MAPS, kind, body).await;
    assert_eq!(warned.body["data"]["k"], "2");
    assert_eq!(
        warned.warnings()[0],
        "299 - \"duplicate field \\\"data.k\\\"\""
    );
}
