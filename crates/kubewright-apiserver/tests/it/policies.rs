//! Admission policies, and their order among plugins.

use http::Method;
use serde_json::{Value, json};

use crate::client::{Client, server};

const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn rules(resource: &str) -> Value {
    json!({"resourceRules": [{
        "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE", "DELETE"],
        "resources": [resource],
    }]})
}

/// Makes a validating policy and its binding.
async fn validate(client: &Client, name: &str, validations: Value, actions: Value) {
    validate_of(client, (name, "configmaps"), validations, actions).await;
}

/// The same for a resource of the core group.
async fn validate_of(
    client: &Client,
    (name, resource): (&str, &str),
    validations: Value,
    actions: Value,
) {
    let policy = json!({"metadata": {"name": name}, "spec": {
        "matchConstraints": rules(resource), "validations": validations,
    }});
    let path = format!("{GROUP}/validatingadmissionpolicies");
    let created = client.post(&path, policy).await;
    assert_eq!(created.code, 201, "{}", created.text);
    let binding = json!({"metadata": {"name": name}, "spec": {
        "policyName": name, "validationActions": actions,
    }});
    let path = format!("{GROUP}/validatingadmissionpolicybindings");
    let created = client.post(&path, binding).await;
    assert_eq!(created.code, 201, "{}", created.text);
}

/// Makes a mutating policy and its binding.
async fn mutate(client: &Client, name: &str, resource: &str, mutations: Value) {
    let mut constraints = rules(resource);
    constraints["resourceRules"][0]["operations"] = json!(["CREATE", "UPDATE"]);
    let policy = json!({"metadata": {"name": name}, "spec": {
        "matchConstraints": constraints, "mutations": mutations, "reinvocationPolicy": "Never",
    }});
    let path = format!("{GROUP}/mutatingadmissionpolicies");
    let created = client.post(&path, policy).await;
    assert_eq!(created.code, 201, "{}", created.text);
    let binding = json!({"metadata": {"name": name}, "spec": {"policyName": name}});
    let path = format!("{GROUP}/mutatingadmissionpolicybindings");
    let created = client.post(&path, binding).await;
    assert_eq!(created.code, 201, "{}", created.text);
}

fn patch(expression: &str) -> Value {
    json!({"patchType": "JSONPatch", "jsonPatch": {"expression": expression}})
}

fn map(name: &str, data: Value) -> Value {
    json!({"metadata": {"name": name}, "data": data})
}

#[tokio::test(start_paused = true)]
async fn policy_denies_requests_while_its_binding_exists() {
    let client = Client::admin(&server());
    let rule = json!([{"expression": "object == null || object.data.size() < 2",
        "message": "too large"}]);
    validate(&client, "small", rule, json!(["Deny"])).await;
    assert_eq!(
        client.post(MAPS, map("a", json!({"x": "1"}))).await.code,
        201
    );
    let rejected = client
        .post(MAPS, map("b", json!({"x": "1", "y": "2"})))
        .await;
    assert_eq!(rejected.code, 422, "{}", rejected.text);
    assert_eq!(
        rejected.message(),
        "configmaps \"b\" is forbidden: ValidatingAdmissionPolicy 'small' with binding 'small' \
         denied request: too large"
    );
    let changed = client
        .merge(&format!("{MAPS}/a"), json!({"data": {"y": "2"}}))
        .await;
    assert_eq!(changed.code, 422, "{}", changed.text);
    let gone = client
        .delete(
            &format!("{GROUP}/validatingadmissionpolicybindings/small"),
            json!({}),
        )
        .await;
    assert_eq!(gone.code, 200, "{}", gone.text);
    let passed = client
        .post(MAPS, map("b", json!({"x": "1", "y": "2"})))
        .await;
    assert_eq!(passed.code, 201, "{}", passed.text);
}

#[tokio::test(start_paused = true)]
async fn policy_with_the_action_warn_only_warns() {
    let client = Client::admin(&server());
    let rule =
        json!([{"expression": "false", "messageExpression": "'not ' + object.metadata.name"}]);
    validate(&client, "never", rule, json!(["Warn"])).await;
    let created = client.post(MAPS, map("a", json!({}))).await;
    assert_eq!(created.code, 201, "{}", created.text);
    let message =
        "Validation failed for ValidatingAdmissionPolicy 'never' with binding 'never': not a";
    assert!(
        created
            .warnings()
            .iter()
            .any(|warning| warning.contains(message)),
        "{:?}",
        created.warnings()
    );
}

#[tokio::test(start_paused = true)]
async fn policy_sees_the_stored_object_of_a_deletion() {
    let client = Client::admin(&server());
    client.post(MAPS, map("kept", json!({"keep": "yes"}))).await;
    let rule = json!([{"expression": "object != null || oldObject.data.keep != 'yes'",
        "reason": "Forbidden"}]);
    validate(&client, "keep", rule, json!(["Deny"])).await;
    let rejected = client.delete(&format!("{MAPS}/kept"), json!({})).await;
    assert_eq!(rejected.code, 403, "{}", rejected.text);
    assert_eq!(client.get(&format!("{MAPS}/kept")).await.code, 200);
}

#[tokio::test(start_paused = true)]
async fn policies_do_not_see_policies() {
    let client = Client::admin(&server());
    let path = format!("{GROUP}/validatingadmissionpolicies");
    let policy = json!({"metadata": {"name": "all"}, "spec": {
        "matchConstraints": {"resourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"],
            "operations": ["*"], "resources": ["*/*"]}]},
        "validations": [{"expression": "false"}],
    }});
    assert_eq!(client.post(&path, policy).await.code, 201);
    let binding = json!({"metadata": {"name": "all"}, "spec": {"policyName": "all",
        "validationActions": ["Deny"]}});
    let bindings = format!("{GROUP}/validatingadmissionpolicybindings");
    assert_eq!(client.post(&bindings, binding).await.code, 201);
    assert_eq!(client.post(MAPS, map("a", json!({}))).await.code, 422);
    let namespace = json!({"metadata": {"name": "other"}});
    assert_eq!(client.post("/api/v1/namespaces", namespace).await.code, 422);
    let gone = client.delete(&format!("{path}/all"), json!({})).await;
    assert_eq!(gone.code, 200, "{}", gone.text);
    assert_eq!(client.post(MAPS, map("a", json!({}))).await.code, 201);
}

#[tokio::test(start_paused = true)]
async fn mutating_policy_injects_a_container() {
    let client = Client::admin(&server());
    let inject = patch(
        "[JSONPatch{op: 'add', path: '/spec/containers/0', value: Object.spec.containers{\
         name: 'side', image: 'side:1'}}]",
    );
    let label = json!({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression":
        "Object{metadata: Object.metadata{labels: {'injected': 'yes'}}, \
         spec: Object.spec{containers: [Object.spec.containers{name: 'last', image: 'last:1'}]}}"}});
    mutate(&client, "inject", "pods", json!([inject, label])).await;
    let pod = json!({"metadata": {"name": "a"}, "spec": {"containers": [
        {"name": "main", "image": "main:1"}]}});
    let created = client.post("/api/v1/namespaces/default/pods", pod).await;
    assert_eq!(created.code, 201, "{}", created.text);
    let containers = created.body["spec"]["containers"].as_array().unwrap();
    let names: Vec<&Value> = containers.iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["side", "main", "last"]);
    assert_eq!(containers[0]["imagePullPolicy"], "IfNotPresent");
    assert_eq!(created.body["metadata"]["labels"]["injected"], "yes");
}

#[tokio::test(start_paused = true)]
async fn failed_mutation_denies_the_request() {
    let client = Client::admin(&server());
    let mutations = json!([
        patch("[JSONPatch{op: 'remove', path: '/data/none'}]"),
        patch("[JSONPatch{op: 'add', path: '/data/a', value: object.data.none}]"),
    ]);
    mutate(&client, "broken", "configmaps", mutations).await;
    let rejected = client.post(MAPS, map("a", json!({"b": "c"}))).await;
    assert_eq!(rejected.code, 403, "{}", rejected.text);
    assert_eq!(rejected.body["reason"], "Invalid");
    assert_eq!(
        rejected.message(),
        "policy 'broken' with binding 'broken' denied request: JSON Patch: error in remove for \
         path: '/data/none': Unable to remove nonexistent key: none: missing value"
    );
    let causes = rejected.body["details"]["causes"].as_array().unwrap();
    assert_eq!(causes.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn mutation_with_an_unknown_field_fails_the_request() {
    let client = Client::admin(&server());
    let mutations = json!([patch("[JSONPatch{op: 'add', path: '/nope', value: 1}]")]);
    mutate(&client, "strict", "configmaps", mutations).await;
    let rejected = client.post(MAPS, map("a", json!({}))).await;
    assert_eq!(rejected.code, 500, "{}", rejected.text);
    assert_eq!(
        rejected.message(),
        "Internal error occurred: strict decoding error: unknown field \"nope\""
    );
}

#[tokio::test(start_paused = true)]
async fn quota_does_not_count_objects_that_a_policy_denies() {
    let client = Client::admin(&server());
    let quotas = "/api/v1/namespaces/default/resourcequotas";
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": {"configmaps": "5"}}});
    let created = client.post(quotas, quota).await;
    assert_eq!(created.code, 201, "{}", created.text);
    let status = json!({"status": {"hard": {"configmaps": "5"}, "used": {"configmaps": "1"}}});
    let counted = client.merge(&format!("{quotas}/q/status"), status).await;
    assert_eq!(counted.code, 200, "{}", counted.text);
    let rule = json!([{"expression": "object.metadata.name != 'bad'"}]);
    validate(&client, "named", rule, json!(["Deny"])).await;
    for (name, code, used) in [("bad", 422, "1"), ("good", 201, "2")] {
        let response = client.post(MAPS, map(name, json!({}))).await;
        assert_eq!(response.code, code, "{}", response.text);
        let quota = client.get(&format!("{quotas}/q")).await;
        assert_eq!(quota.body["status"]["used"]["configmaps"], used, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn limit_range_is_evaluated_before_policies() {
    let client = Client::admin(&server());
    let range = json!({"metadata": {"name": "small"}, "spec": {"limits": [
        {"type": "Container", "max": {"cpu": "1"}}]}});
    let created = client
        .post("/api/v1/namespaces/default/limitranges", range)
        .await;
    assert_eq!(created.code, 201, "{}", created.text);
    let never = json!([{"expression": "false"}]);
    validate_of(&client, ("never", "pods"), never, json!(["Deny"])).await;
    let pod = |cpu: &str| {
        json!({"metadata": {"name": "a"}, "spec": {"containers": [
            {"name": "main", "image": "main:1", "resources": {"limits": {"cpu": cpu}}}]}})
    };
    let pods = "/api/v1/namespaces/default/pods";
    let both = client.post(pods, pod("2")).await;
    assert_eq!(both.code, 403, "{}", both.text);
    assert!(
        both.message()
            .contains("maximum cpu usage per Container is 1"),
        "{}",
        both.message()
    );
    let rejected = client.post(pods, pod("1")).await;
    assert_eq!(rejected.code, 422, "{}", rejected.text);
}

#[tokio::test(start_paused = true)]
async fn failed_conversion_for_a_policy_is_subject_to_its_failure_policy() {
    let client = Client::admin(&server());
    let version = |name: &str, storage: bool| {
        json!({"name": name, "served": true, "storage": storage,
            "schema": {"openAPIV3Schema": {"type": "object"}}})
    };
    let definition = json!({"metadata": {"name": "foos.ex.io"}, "spec": {
        "group": "ex.io", "scope": "Namespaced", "names": {"plural": "foos", "kind": "Foo"},
        "versions": [version("v1", true), version("v2", false)],
        "conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
            "clientConfig": {"service": {"namespace": "default", "name": "nobody"}}}},
    }});
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let created = client.post(definitions, definition).await;
    assert_eq!(created.code, 201, "{}", created.text);
    let mutations = json!([patch("[JSONPatch{op: 'add', path: '/x', value: 1}]")]);
    mutate(&client, "second", "foos", mutations).await;
    let policy = format!("{GROUP}/mutatingadmissionpolicies/second");
    let rule = json!({"apiGroups": ["ex.io"], "apiVersions": ["v2"], "operations": ["CREATE"],
        "resources": ["foos"]});
    let about = json!({"spec": {"matchConstraints": {"resourceRules": [rule]}}});
    let changed = client.merge(&policy, about).await;
    assert_eq!(changed.code, 200, "{}", changed.text);
    let foos = "/apis/ex.io/v1/namespaces/default/foos";
    let foo = json!({"apiVersion": "ex.io/v1", "kind": "Foo", "metadata": {"name": "a"}});
    let rejected = client.post(foos, foo.clone()).await;
    assert_eq!(rejected.code, 403, "{}", rejected.text);
    let message = "policy \"second\" denied request: failed to configure policy: conversion webhook \
                for ex.io/v1, Kind=Foo failed: ";
    assert!(
        rejected.message().starts_with(message),
        "{}",
        rejected.message()
    );
    let forgiving = json!({"spec": {"failurePolicy": "Ignore"}});
    let changed = client.merge(&policy, forgiving).await;
    assert_eq!(changed.code, 200, "{}", changed.text);
    let passed = client.post(foos, foo).await;
    assert_eq!(passed.code, 201, "{}", passed.text);
}

#[tokio::test(start_paused = true)]
async fn policy_sees_the_options_of_a_deletion() {
    let client = Client::admin(&server());
    let rule = json!([{"expression": "request.operation != 'DELETE' || \
        request.options.propagationPolicy == 'Background'"}]);
    validate(&client, "background", rule, json!(["Deny"])).await;
    let in_query = "?propagationPolicy=Background";
    let in_body = json!({"propagationPolicy": "Background"});
    for (name, query, body) in [("a", in_query, json!(null)), ("b", "", in_body)] {
        client.post(MAPS, map(name, json!({}))).await.ok();
        let path = format!("{MAPS}/{name}");
        let other = json!({"propagationPolicy": "Orphan"});
        assert_eq!(client.delete(&path, other).await.code, 422);
        let path = format!("{path}{query}");
        let deleted = if body.is_null() {
            client
                .send(Method::DELETE, &path, "application/json", "")
                .await
        } else {
            client.delete(&path, body).await
        };
        assert_eq!(deleted.code, 200, "{}", deleted.text);
    }
}
