//! Creation, update, status and ownership of objects.

use http::Method;
use serde_json::json;

use crate::client::{Client, Response, server};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test(start_paused = true)]
async fn object_is_created_read_patched_and_deleted() {
    let client = Client::admin(&server());
    let body = json!({"metadata": {"name": "a"}, "data": {"k": "v"}});
    let created = client.post(MAPS, body).await;
    assert_eq!(created.code, 201, "{}", created.text);
    assert_eq!(
        created.body["metadata"]["creationTimestamp"],
        "2026-01-01T00:00:00Z"
    );
    assert_eq!(created.body["kind"], "ConfigMap");
    let path = format!("{MAPS}/a");
    let got = client.get(&path).await;
    assert_eq!(got.body, created.body);
    let patched = client.merge(&path, json!({"data": {"k": "w"}})).await;
    assert_eq!(patched.body["data"]["k"], "w");
    let deleted = client.delete(&path, json!({})).await;
    assert_eq!(deleted.code, 200, "{}", deleted.text);
    assert_eq!(deleted.body["kind"], "Status");
    assert_eq!(
        deleted.body["details"]["uid"],
        created.body["metadata"]["uid"]
    );
    let gone = client.get(&path).await;
    assert_eq!(
        (gone.code, gone.message()),
        (404, "configmaps \"a\" not found")
    );
}

#[tokio::test(start_paused = true)]
async fn creator_owns_the_fields_of_a_new_object() {
    let client = Client::admin(&server());
    let body = json!({"metadata": {"name": "a"}, "data": {"k": "v"}});
    let created = client.post(MAPS, body).await;
    assert_eq!(
        created.body["metadata"]["managedFields"],
        json!([{
            "manager": "it", "operation": "Update", "apiVersion": "v1",
            "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {".": {}, "f:k": {}}},
        }])
    );
}

#[tokio::test(start_paused = true)]
async fn system_fields_of_a_create_are_ignored_or_rejected() {
    let client = Client::admin(&server());
    let metadata = json!({
        "name": "a", "uid": "mine", "creationTimestamp": "2001-01-01T00:00:00Z",
        "deletionTimestamp": "2001-01-01T00:00:00Z", "generation": 7,
    });
    let created = client.post(MAPS, json!({"metadata": metadata})).await;
    assert_eq!(created.code, 201, "{}", created.text);
    let metadata = &created.body["metadata"];
    assert_ne!(metadata["uid"], "mine");
    assert!(metadata.get("deletionTimestamp").is_none());
    // A kind that does not count its generations keeps what it was given.
    assert_eq!(metadata["generation"], 7);
    let versioned = json!({"metadata": {"name": "b", "resourceVersion": "3"}});
    let rejected = client.post(MAPS, versioned).await;
    assert_eq!(
        (rejected.code, rejected.message()),
        (
            500,
            "resourceVersion should not be set on objects to be created"
        )
    );
    assert!(rejected.body.get("reason").is_none());
}

#[tokio::test(start_paused = true)]
async fn names_are_generated_and_validated() {
    let client = Client::admin(&server());
    let generated = client
        .post(MAPS, json!({"metadata": {"generateName": "a-"}}))
        .await;
    let name = generated.body["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(name.starts_with("a-") && name.len() == 7, "{name}");
    let taken = client.post(MAPS, json!({"metadata": {"name": name}})).await;
    assert_eq!(taken.code, 409);
    assert_eq!(
        taken.message(),
        format!("configmaps \"{name}\" already exists")
    );
    let nameless = client.post(MAPS, json!({})).await;
    assert_eq!(
        (nameless.code, nameless.message()),
        (
            422,
            "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is \
             required"
        )
    );
    let bad = client.post(MAPS, json!({"metadata": {"name": "A"}})).await;
    assert_eq!(bad.code, 422);
    assert_eq!(bad.body["details"]["causes"][0]["field"], "metadata.name");
}

/// The response to a create with `generateName` while objects of these names exist.
async fn generate_name_beside(names: &[String]) -> Response {
    let client = Client::admin(&server());
    // The number of requests decides which names are generated.
    for number in 0..8 {
        let other = format!("other{number}");
        let name = names.get(number).unwrap_or(&other);
        client
            .post(MAPS, json!({"metadata": {"name": name}}))
            .await
            .ok();
    }
    let map = json!({"metadata": {"generateName": "a-"}});
    client.post(MAPS, map).await
}

#[tokio::test(start_paused = true)]
async fn create_fails_after_eight_generated_names_that_exist() {
    let mut names = Vec::new();
    for _ in 0..8 {
        let created = generate_name_beside(&names).await.ok();
        let name = created["metadata"]["name"].as_str().unwrap_or_default();
        names.push(name.to_owned());
    }
    let rejected = generate_name_beside(&names).await;
    let message = format!(
        "configmaps \"{}\" already exists, the server was not able to generate a unique name for \
         the object",
        names[7]
    );
    assert_eq!(rejected.failure(), (409, message.as_str()));
    assert_eq!(rejected.body["reason"], "AlreadyExists");
    assert_eq!(rejected.body["details"]["retryAfterSeconds"], 1);
    assert_eq!(rejected.headers["retry-after"], "1");
}

#[tokio::test(start_paused = true)]
async fn status_is_read_not_older_than_the_requested_revision() {
    let client = Client::admin(&server());
    let path = "/api/v1/namespaces/default/status";
    assert_eq!(client.get(path).await.code, 200);
    let early = client.get(&format!("{path}?resourceVersion=999999")).await;
    assert_eq!(early.code, 504, "{}", early.text);
    let invalid = client.get(&format!("{path}?resourceVersion=x")).await;
    assert_eq!(invalid.code, 500, "{}", invalid.text);
}

#[tokio::test(start_paused = true)]
async fn update_with_an_outdated_revision_is_a_conflict() {
    let client = Client::admin(&server());
    let path = format!("{MAPS}/a");
    let created = client.post(MAPS, json!({"metadata": {"name": "a"}})).await;
    let mut update = created.body.clone();
    update["data"] = json!({"k": "1"});
    let first = client.put(&path, update.clone()).await;
    assert_eq!(first.code, 200, "{}", first.text);
    update["data"] = json!({"k": "2"});
    let second = client.put(&path, update.clone()).await;
    assert_eq!(
        (second.code, second.message()),
        (
            409,
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; \
             please apply your changes to the latest version and try again"
        )
    );
    update["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("resourceVersion");
    assert_eq!(client.put(&path, update.clone()).await.code, 200);
    update["metadata"]["uid"] = json!("other");
    let other = client.put(&path, update).await;
    assert_eq!(other.code, 409);
    assert!(
        other.message().contains("UID in precondition: other"),
        "{}",
        other.text
    );
}

#[tokio::test(start_paused = true)]
async fn write_without_a_change_keeps_the_revision() {
    let client = Client::admin(&server());
    let path = format!("{MAPS}/a");
    let body = json!({"metadata": {"name": "a"}, "data": {"k": "v"}});
    let created = client.post(MAPS, body.clone()).await;
    tokio::time::advance(std::time::Duration::from_secs(5)).await;
    let patched = client.merge(&path, json!({"data": {"k": "v"}})).await;
    assert_eq!(patched.body, created.body);
    let put = client.put(&path, body).await;
    assert_eq!(put.body, created.body);
}

#[tokio::test(start_paused = true)]
async fn status_is_written_only_by_its_subresource() {
    let client = Client::admin(&server());
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({
        "metadata": {"name": "p"}, "status": {"phase": "Running"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    let created = client.post(pods, pod).await;
    assert_eq!(created.code, 201, "{}", created.text);
    assert_eq!(created.body["status"]["phase"], "Pending");
    assert_eq!(created.body["metadata"]["generation"], 1);
    let path = format!("{pods}/p");
    let patch = json!({"status": {"phase": "Running"}, "spec": {"activeDeadlineSeconds": 60}});
    let main = client.merge(&path, patch.clone()).await;
    assert_eq!(main.body["status"]["phase"], "Pending");
    assert_eq!(main.body["metadata"]["generation"], 2);
    let status = client.merge(&format!("{path}/status"), patch).await;
    assert_eq!(status.body["status"]["phase"], "Running");
    assert_eq!(status.body["metadata"]["generation"], 2);
}

#[tokio::test(start_paused = true)]
async fn dry_run_stores_nothing() {
    let client = Client::admin(&server());
    let path = format!("{MAPS}?dryRun=All");
    let shown = client.post(&path, json!({"metadata": {"name": "a"}})).await;
    assert_eq!(shown.code, 201);
    assert!(shown.body["metadata"]["uid"].is_string());
    assert!(shown.body["metadata"].get("resourceVersion").is_none());
    assert_eq!(client.get(&format!("{MAPS}/a")).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn unknown_fields_are_dropped_with_a_warning_or_rejected() {
    let client = Client::admin(&server());
    let body = |name: &str| json!({"metadata": {"name": name}, "color": 1});
    let warned = client.post(MAPS, body("a")).await;
    assert!(warned.body.get("color").is_none());
    assert!(
        warned
            .warnings()
            .contains(&"299 - \"unknown field \\\"color\\\"\""),
        "{:?}",
        warned.warnings()
    );
    let rejected = client.post(MAPS, body("-")).await;
    assert_eq!(
        (rejected.code, rejected.warnings()),
        (422, vec!["299 - \"unknown field \\\"color\\\"\""])
    );
    let strict = client
        .post(&format!("{MAPS}?fieldValidation=Strict"), body("b"))
        .await;
    assert_eq!(
        (strict.code, strict.message()),
        (
            400,
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: \
             unknown field \"color\""
        )
    );
    let silent = client
        .post(&format!("{MAPS}?fieldValidation=Ignore"), body("c"))
        .await;
    assert!(silent.warnings().is_empty());
}

#[tokio::test(start_paused = true)]
async fn put_creates_only_kinds_that_allow_it() {
    let client = Client::admin(&server());
    let lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
    let created = client.put(lease, json!({"metadata": {"name": "l"}})).await;
    assert_eq!(created.code, 201, "{}", created.text);
    let unversioned = client.put(lease, json!({"metadata": {"name": "l"}})).await;
    assert_eq!(
        (unversioned.code, unversioned.message()),
        (
            422,
            "leases.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid \
             value: 0: must be specified for an update"
        )
    );
    let map = format!("{MAPS}/absent");
    let absent = client
        .put(&map, json!({"metadata": {"name": "absent"}}))
        .await;
    assert_eq!(absent.code, 404);
}

#[tokio::test(start_paused = true)]
async fn create_in_a_missing_or_other_namespace_fails() {
    let client = Client::admin(&server());
    let path = "/api/v1/namespaces/gone/configmaps";
    let rejected = client.post(path, json!({"metadata": {"name": "a"}})).await;
    assert_eq!(
        (rejected.code, rejected.message()),
        (404, "namespaces \"gone\" not found")
    );
    let other = json!({"metadata": {"name": "a", "namespace": "other"}});
    let rejected = client.post(MAPS, other).await;
    assert_eq!(
        (rejected.code, rejected.message()),
        (
            400,
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    );
}

#[tokio::test(start_paused = true)]
async fn fork_does_not_see_later_writes() {
    let server = server();
    let client = Client::admin(&server);
    client.post(MAPS, json!({"metadata": {"name": "a"}})).await;
    let fork = Client::admin(&server.fork());
    assert_eq!(fork.get(&format!("{MAPS}/a")).await.code, 200);
    fork.post(MAPS, json!({"metadata": {"name": "b"}})).await;
    assert_eq!(client.get(&format!("{MAPS}/b")).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn protobuf_bodies_are_decoded() {
    let field = |number: u8, inside: &[u8]| {
        let length = u8::try_from(inside.len()).expect("short");
        [&[number << 3 | 2, length], inside].concat()
    };
    let data = [field(1, b"k"), field(2, b"v")].concat();
    let raw = [field(1, &field(1, b"a")), field(2, &data)].concat();
    let body = |kind: &[u8]| {
        let meta = [field(1, b"v1"), field(2, kind)].concat();
        [b"k8s\0".to_vec(), field(1, &meta), field(2, &raw)].concat()
    };
    let client = Client::admin(&server());
    let protobuf = "application/vnd.kubernetes.protobuf";
    let created = client
        .send(Method::POST, MAPS, protobuf, body(b"ConfigMap"))
        .await;
    assert_eq!(
        (created.code, &created.body["data"]),
        (201, &json!({"k": "v"}))
    );
    let other = client
        .send(Method::POST, MAPS, protobuf, body(b"Toy"))
        .await;
    assert_eq!(other.code, 415);
    let junk = client.send(Method::POST, MAPS, protobuf, "{}").await;
    assert_eq!(junk.code, 400);
}

#[tokio::test(start_paused = true)]
async fn namespace_with_an_unsupported_pod_security_level_fails_with_501() {
    let client = Client::admin(&server());
    let namespace = |label: &str, value: &str| {
        let label = format!("pod-security.kubernetes.io/{label}");
        json!({"metadata": {"name": "safe", "labels": {label: value}}})
    };
    let namespaces = "/api/v1/namespaces";
    let rejected = client
        .post(namespaces, namespace("enforce", "restricted"))
        .await;
    assert_eq!(rejected.code, 501, "{}", rejected.text);
    assert!(rejected.message().contains("PodSecurity level restricted"));
    let wrong = client.post(namespaces, namespace("enforce", "foo")).await;
    assert_eq!(wrong.code, 422, "{}", wrong.text);
    assert_eq!(
        wrong.message(),
        "Namespace \"safe\" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: \
         Invalid value: \"foo\": must be one of privileged, baseline, restricted"
    );
    let wrong = client
        .post(namespaces, namespace("warn-version", "v1.01"))
        .await;
    assert!(wrong.message().ends_with("must be \"latest\" or \"v1.x\""));
    let fine = client
        .post(namespaces, namespace("enforce", "privileged"))
        .await;
    assert_eq!(fine.code, 201, "{}", fine.text);
    let later = namespace("enforce", "baseline");
    let rejected = client.merge("/api/v1/namespaces/safe", later).await;
    assert_eq!(rejected.code, 501, "{}", rejected.text);
}
