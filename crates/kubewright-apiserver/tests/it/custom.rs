//! CustomResourceDefinitions and custom resources.

use serde_json::{Value, json};

use crate::client::{Client, server};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const FOOS: &str = "/apis/ex.io/v1/namespaces/default/foos";

fn version(name: &str, storage: bool) -> Value {
    json!({
        "name": name, "served": true, "storage": storage, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "required": ["size"], "properties": {
                "size": {"type": "integer", "minimum": 1},
                "color": {"type": "string", "default": "red"},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "port": {"x-kubernetes-int-or-string": true},
            }},
            "status": {"type": "object", "properties": {"ready": {"type": "integer"}}},
        }}},
    })
}

fn definition() -> Value {
    json!({
        "metadata": {"name": "foos.ex.io"},
        "spec": {
            "group": "ex.io", "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo", "shortNames": ["fo"]},
            "versions": [version("v1", true), version("v1beta1", false)],
        },
    })
}

/// An object with the kind that every custom resource must be sent with.
fn foo(metadata: Value, spec: Value) -> Value {
    json!({"apiVersion": "ex.io/v1", "kind": "Foo", "metadata": metadata, "spec": spec})
}

async fn defined() -> Client {
    let client = Client::admin(&server());
    let created = client.post(DEFINITIONS, definition()).await;
    assert_eq!(created.code, 201, "{}", created.text);
    client
}

#[tokio::test(start_paused = true)]
async fn new_definition_is_served_at_once() {
    let client = Client::admin(&server());
    assert_eq!(client.get(FOOS).await.text, "404 page not found\n");
    let created = client.post(DEFINITIONS, definition()).await;
    let status = &created.body["status"];
    assert_eq!(status["storedVersions"], json!(["v1"]));
    assert_eq!(status["acceptedNames"]["listKind"], "FooList");
    let conditions: Vec<_> = status["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| format!("{}={}", one["type"], one["status"]))
        .collect();
    assert_eq!(
        conditions,
        [r#""NamesAccepted"="True""#, r#""Established"="True""#]
    );
    let list = client.get(FOOS).await;
    assert_eq!(list.body["kind"], "FooList");
    assert_eq!(list.body["items"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn custom_resources_are_pruned_defaulted_and_validated() {
    let client = defined().await;
    let spec = json!({"size": 1, "color": null, "other": 1, "free": {"any": [1]}, "port": "80%"});
    let created = client.post(FOOS, foo(json!({"name": "a"}), spec)).await;
    assert_eq!(created.code, 201, "{}", created.text);
    assert_eq!(
        created.body["spec"],
        json!({"size": 1, "color": "red", "free": {"any": [1]}, "port": "80%"})
    );
    assert_eq!(
        created.warnings(),
        ["299 - \"unknown field \\\"spec.other\\\"\""]
    );
    assert_eq!(created.body["metadata"]["generation"], 1);
    for (spec, message) in [
        (
            json!({}),
            "Foo.ex.io \"b\" is invalid: spec.size: Required value",
        ),
        (
            json!({"size": "x"}),
            "Foo.ex.io \"b\" is invalid: spec.size: Invalid value: \"string\": spec.size in body \
             must be of type integer: \"string\"",
        ),
        (
            json!({"size": 0}),
            "Foo.ex.io \"b\" is invalid: spec.size: Invalid value: 0: spec.size in body should be \
             greater than or equal to 1",
        ),
    ] {
        let body = foo(json!({"name": "b"}), spec);
        let rejected = client.post(FOOS, body).await;
        assert_eq!((rejected.code, rejected.message()), (422, message));
    }
}

#[tokio::test(start_paused = true)]
async fn custom_resource_is_served_in_every_version() {
    let client = defined().await;
    let beta = FOOS.replace("v1", "v1beta1");
    let mut body = foo(json!({"name": "a"}), json!({"size": 1}));
    body["apiVersion"] = json!("ex.io/v1beta1");
    client.post(&beta, body).await;
    let stable = client.get(&format!("{FOOS}/a")).await;
    assert_eq!(stable.body["apiVersion"], "ex.io/v1");
    let shown = client.get(&format!("{beta}/a")).await;
    assert_eq!(shown.body["apiVersion"], "ex.io/v1beta1");
    let list = client.get(&beta).await;
    assert_eq!(list.body["items"][0]["apiVersion"], "ex.io/v1beta1");
    assert_eq!(
        shown.body["metadata"]["managedFields"][0]["apiVersion"],
        "ex.io/v1beta1"
    );
}

#[tokio::test(start_paused = true)]
async fn status_and_spec_are_written_separately() {
    let client = defined().await;
    let path = format!("{FOOS}/a");
    let mut body = foo(json!({"name": "a"}), json!({"size": 1}));
    body["status"] = json!({"ready": 1});
    let created = client.post(FOOS, body).await;
    assert!(created.body.get("status").is_none());
    let patch = json!({
        "metadata": {"labels": {"a": "b"}}, "spec": {"size": 2}, "status": {"ready": 2},
    });
    let status = client.merge(&format!("{path}/status"), patch).await;
    assert_eq!(status.body["status"]["ready"], 2, "{}", status.text);
    assert_eq!(status.body["spec"]["size"], 1);
    assert!(status.body["metadata"].get("labels").is_none());
    assert_eq!(status.body["metadata"]["generation"], 1);
    let spec = client.merge(&path, json!({"spec": {"size": 3}})).await;
    assert_eq!(spec.body["metadata"]["generation"], 2);
    let unversioned = foo(json!({"name": "a"}), json!({"size": 4}));
    assert_eq!(client.put(&path, unversioned).await.code, 422);
}

#[tokio::test(start_paused = true)]
async fn apply_uses_the_schema_of_the_definition() {
    let client = defined().await;
    let path = format!("{FOOS}/a?fieldManager=m");
    let intent = foo(json!({"name": "a"}), json!({"size": 1}));
    let applied = client.apply(&path, intent).await;
    assert_eq!(applied.code, 201, "{}", applied.text);
    assert_eq!(applied.body["spec"]["color"], "red");
    assert_eq!(
        applied.body["metadata"]["managedFields"][0]["fieldsV1"],
        json!({"f:spec": {"f:size": {}}})
    );
    let intent = foo(json!({"name": "a"}), json!({"nope": 1}));
    let rejected = client.apply(&path, intent).await;
    assert_eq!(rejected.code, 500);
    assert!(
        rejected
            .message()
            .ends_with(".spec.nope: field not declared in schema"),
        "{}",
        rejected.message()
    );
}

#[tokio::test(start_paused = true)]
async fn deletion_of_a_definition_deletes_its_objects_first() {
    let client = defined().await;
    for (name, finalizers) in [("a", json!([])), ("b", json!(["ex.io/f"]))] {
        let metadata = json!({"name": name, "finalizers": finalizers});
        let body = foo(metadata, json!({"size": 1}));
        assert_eq!(client.post(FOOS, body).await.code, 201);
    }
    let path = format!("{DEFINITIONS}/foos.ex.io");
    client.delete(&path, json!({})).await;
    assert_eq!(client.get(&format!("{FOOS}/a")).await.code, 404);
    let waiting = client.get(&path).await;
    assert!(waiting.body["metadata"]["deletionTimestamp"].is_string());
    let going = &waiting.body["status"]["conditions"][2];
    assert_eq!(going["reason"], "InstanceDeletionInProgress");
    let body = foo(json!({"name": "c"}), json!({"size": 1}));
    let rejected = client.post(FOOS, body).await;
    assert_eq!(
        (rejected.code, rejected.message()),
        (
            403,
            "foos.ex.io \"c\" is forbidden: create not allowed while custom resource definition \
             is terminating"
        )
    );
    let release = json!({"metadata": {"finalizers": null}});
    client.merge(&format!("{FOOS}/b"), release).await;
    assert_eq!(client.get(&path).await.code, 404);
    assert_eq!(client.get(FOOS).await.text, "404 page not found\n");
}

#[tokio::test(start_paused = true)]
async fn definition_with_taken_names_is_not_accepted() {
    let client = defined().await;
    let mut other = definition();
    other["metadata"]["name"] = json!("bars.ex.io");
    other["spec"]["names"]["plural"] = json!("bars");
    let created = client.post(DEFINITIONS, other).await;
    let condition = &created.body["status"]["conditions"][0];
    assert_eq!(condition["status"], "False");
    assert_eq!(condition["reason"], "ListKindConflict");
    assert_eq!(condition["message"], "\"FooList\" is already in use");
}

#[tokio::test(start_paused = true)]
async fn custom_resource_without_kind_or_of_another_kind_is_rejected() {
    let client = defined().await;
    let nameless = client.post(FOOS, json!({"metadata": {"name": "a"}})).await;
    assert_eq!(nameless.code, 400);
    assert!(
        nameless.message().contains("Object 'Kind' is missing in"),
        "{}",
        nameless.text
    );
    let mut other = foo(json!({"name": "a"}), json!({"size": 1}));
    other["kind"] = json!("Bar");
    let rejected = client.post(FOOS, other.clone()).await;
    assert_eq!(
        (rejected.code, rejected.message()),
        (
            422,
            "Bar.ex.io \"a\" is invalid: kind: Invalid value: \"Bar\": must be Foo"
        )
    );
    other["apiVersion"] = json!("ex.io/v1beta1");
    assert_eq!(client.post(FOOS, other).await.code, 400);
}

#[tokio::test(start_paused = true)]
async fn patch_cannot_change_the_kind_of_a_custom_resource() {
    let client = defined().await;
    let created = client.post(FOOS, foo(json!({"name": "a"}), json!({"size": 1})));
    assert_eq!(created.await.code, 201);
    let path = format!("{FOOS}/a");
    assert_eq!(client.merge(&path, json!({"kind": "Bar"})).await.code, 422);
    let other = json!({"apiVersion": "ex.io/v1beta1"});
    assert_eq!(client.merge(&path, other).await.code, 400);
    let removed = json!({"kind": null, "apiVersion": null});
    assert_eq!(client.merge(&path, removed).await.code, 200);
    let stored = client.get(&path).await.body;
    assert_eq!(
        (&stored["kind"], &stored["apiVersion"]),
        (&json!("Foo"), &json!("ex.io/v1"))
    );
}

#[tokio::test(start_paused = true)]
async fn metadata_of_custom_resources_is_checked_against_object_meta() {
    let client = defined().await;
    let labels = foo(json!({"name": "a", "labels": {"l": 1}}), json!({"size": 1}));
    let rejected = client.post(FOOS, labels).await;
    assert_eq!(
        (rejected.code, rejected.message()),
        (
            400,
            "Foo in version \"v1\" cannot be handled as a Foo: json: cannot unmarshal number into \
             Go struct field ObjectMeta.labels of type string"
        )
    );
    for metadata in [
        json!([]),
        json!({"name": 7}),
        json!({"name": "a", "finalizers": "ex.io/f"}),
        json!({"name": "a", "ownerReferences": [{"controller": "yes"}]}),
    ] {
        let response = client
            .post(FOOS, foo(metadata.clone(), json!({"size": 1})))
            .await;
        assert_eq!(response.code, 400, "{metadata}: {}", response.text);
    }
    let strange = foo(json!({"name": "a", "color": "red"}), json!({"size": 1}));
    let created = client.post(FOOS, strange).await;
    assert_eq!(created.code, 201, "{}", created.text);
    assert_eq!(
        created.warnings(),
        ["299 - \"unknown field \\\"metadata.color\\\"\""]
    );
    let path = format!("{FOOS}/a");
    let bad = json!({"metadata": {"annotations": {"a": {}}}});
    assert_eq!(client.merge(&path, bad).await.code, 400);
}

#[tokio::test(start_paused = true)]
async fn validation_rules_reject_new_violations_and_ratchet_old_ones() {
    let client = defined().await;
    let path = format!("{FOOS}/a");
    client
        .post(FOOS, foo(json!({"name": "a"}), json!({"size": 3})))
        .await;
    let mut ruled = definition();
    let rules = json!([{"rule": "self.size < 3", "message": "too big"}]);
    for version in [0, 1] {
        let schema = &mut ruled["spec"]["versions"][version]["schema"]["openAPIV3Schema"];
        schema["properties"]["spec"]["x-kubernetes-validations"] = rules.clone();
    }
    let versions = json!({"spec": {"versions": ruled["spec"]["versions"]}});
    let changed = client
        .merge(&format!("{DEFINITIONS}/foos.ex.io"), versions)
        .await;
    assert_eq!(changed.code, 200, "{}", changed.text);
    let rejected = client
        .post(FOOS, foo(json!({"name": "b"}), json!({"size": 4})))
        .await;
    assert_eq!(
        (rejected.code, rejected.message()),
        (
            422,
            "Foo.ex.io \"b\" is invalid: spec: Invalid value: too big"
        )
    );
    let labelled = client
        .merge(&path, json!({"metadata": {"labels": {"a": "b"}}}))
        .await;
    assert_eq!(labelled.code, 200, "{}", labelled.text);
    assert_eq!(
        labelled.warnings(),
        ["299 - \"spec: Invalid value: too big\""]
    );
    let grown = client.merge(&path, json!({"spec": {"size": 5}})).await;
    assert_eq!(grown.code, 422, "{}", grown.text);
}

#[tokio::test(start_paused = true)]
async fn new_default_applies_to_stored_objects_at_once() {
    let client = defined().await;
    client
        .post(FOOS, foo(json!({"name": "a"}), json!({"size": 1})))
        .await;
    let mut later = definition();
    for version in [0, 1] {
        let schema = &mut later["spec"]["versions"][version]["schema"]["openAPIV3Schema"];
        let properties = &mut schema["properties"]["spec"]["properties"];
        properties["shape"] = json!({"type": "string", "default": "round"});
    }
    let versions = json!({"spec": {"versions": later["spec"]["versions"]}});
    client
        .merge(&format!("{DEFINITIONS}/foos.ex.io"), versions)
        .await;
    let path = format!("{FOOS}/a");
    let one = client.get(&path).await;
    assert_eq!(one.body["spec"]["shape"], "round", "{}", one.text);
    let list = client.get(FOOS).await;
    assert_eq!(list.body["items"][0]["spec"]["shape"], "round");
    assert_eq!(
        one.body["metadata"]["resourceVersion"],
        list.body["items"][0]["metadata"]["resourceVersion"]
    );
    // A write stores it.
    let written = client
        .merge(&path, json!({"metadata": {"labels": {"a": "b"}}}))
        .await;
    assert_eq!(written.body["spec"]["shape"], "round");
    assert_eq!(written.body["metadata"]["generation"], 1);
}
