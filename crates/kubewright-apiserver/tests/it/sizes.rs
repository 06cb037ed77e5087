//! Large requests: what the server does for them grows with their size, and not with its square.

use std::time::Duration;

use http::Method;
use kubewright_apiserver::{Server, User};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use crate::client::{Client, server};

const NAMESPACE: &str = "/api/v1/namespaces/default";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const POTS: &str = "/apis/ex.io/v1/namespaces/default/pots";
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
/// What is linear needs about a second of the processor at most, without full optimization. What is
/// quadratic needs many times as much.
const LIMIT: Duration = Duration::from_secs(4);

/// Stands for the revision of the last response.
const REVISION: &str = "{revision}";

/// One request, and what prepares it.
struct Probe {
    name: &'static str,
    requests: Vec<Request>,
}

struct Request {
    method: Method,
    path: String,
    media_type: &'static str,
    body: String,
}

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

fn post(path: impl Into<String>, body: &Value) -> Request {
    request(Method::POST, path, JSON, body)
}

fn patch(path: impl Into<String>, media_type: &'static str, body: &Value) -> Request {
    request(Method::PATCH, path, media_type, body)
}

fn request(
    method: Method,
    path: impl Into<String>,
    media_type: &'static str,
    body: &Value,
) -> Request {
    Request {
        method,
        path: path.into(),
        media_type,
        body: body.to_string(),
    }
}

fn many(count: usize, of: impl Fn(usize) -> Value) -> Value {
    Value::Array((0..count).map(of).collect())
}

fn members(count: usize, of: impl Fn(usize) -> (String, Value)) -> Value {
    Value::Object((0..count).map(of).collect())
}

fn owner(n: usize) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "name": "o", "uid": format!("{n:08}")})
}

fn map(metadata: Value) -> Value {
    let mut metadata = metadata;
    metadata["name"] = json!("a");
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
}

fn pod(spec: Value) -> Value {
    let mut spec = spec;
    if spec["containers"].is_null() {
        spec["containers"] = json!([{"name": "c", "image": "i"}]);
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec})
}

fn deployment(pod: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod["spec"]},
        },
    })
}

fn definition(schema: &Value) -> Value {
    json!({
        "metadata": {"name": "pots.ex.io"},
        "spec": {
            "group": "ex.io", "scope": "Namespaced", "names": {"plural": "pots", "kind": "Pot"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": schema}}}}],
        },
    })
}

fn pot(spec: &Value) -> Value {
    json!({"apiVersion": "ex.io/v1", "kind": "Pot", "metadata": {"name": "a"}, "spec": spec})
}

/// The same object made, replaced, patched and applied.
fn all_ways(name: &'static str, path: &str, before: Vec<Request>, object: &Value) -> Vec<Probe> {
    let one = format!("{path}/a");
    let applied = format!("{one}?fieldManager=m&force=true");
    let empty = |object: &Value| {
        let mut empty = object.clone();
        empty["metadata"] = json!({"name": "a"});
        empty
    };
    let probe = |requests: Vec<Request>| Probe { name, requests };
    let with = |last: Vec<Request>| {
        let before = before.iter().map(|request| Request {
            method: request.method.clone(),
            path: request.path.clone(),
            media_type: request.media_type,
            body: request.body.clone(),
        });
        probe(before.chain(last).collect())
    };
    let mut changed = object.clone();
    changed["metadata"]["labels"] = json!({"changed": "yes"});
    let mut replaced = changed.clone();
    replaced["metadata"]["resourceVersion"] = json!(REVISION);
    vec![
        with(vec![
            post(path, object),
            patch(&one, MERGE, &changed),
            patch(
                &one,
                JSON_PATCH,
                &json!([{"op": "add", "path": "/metadata/labels", "value": {"x": "y"}}]),
            ),
            request(Method::PUT, &one, JSON, &replaced),
            patch(&applied, APPLY, &changed),
            patch(&applied, APPLY, object),
        ]),
        with(vec![
            patch(&applied, APPLY, object),
            patch(&applied, APPLY, &changed),
            patch(&applied, APPLY, &empty(object)),
        ]),
    ]
}

fn metadata() -> Vec<Probe> {
    let maps = format!("{NAMESPACE}/configmaps");
    let mut probes = Vec::new();
    for (name, metadata) in [
        (
            "owner references",
            json!({"ownerReferences": many(7_000, owner)}),
        ),
        (
            "controllers",
            json!({"ownerReferences": many(6_250, |n| {
                let mut owner = owner(n);
                owner["controller"] = json!(true);
                owner
            })}),
        ),
        (
            "equal owner references",
            json!({"ownerReferences": many(7_000, |_| owner(1))}),
        ),
        (
            "finalizers",
            json!({"finalizers": many(25_000, |n| json!(format!("a.b/c{n}")))}),
        ),
        (
            "labels",
            json!({"labels": members(15_000, |n| (format!("a.b/c{n}"), json!("x")))}),
        ),
        (
            "annotations",
            json!({"annotations": members(5_000, |n| (format!("a.b/c{n}"), json!("")))}),
        ),
        (
            "managed fields",
            json!({"managedFields": many(3_750, |n| json!({
                "manager": format!("m{n}"), "operation": "Update", "apiVersion": "v1",
                "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {format!("f:k{n}"): {}}},
            }))}),
        ),
    ] {
        probes.extend(all_ways(name, &maps, Vec::new(), &map(metadata)));
    }
    let mut data = map(json!({}));
    data["data"] = members(25_000, |n| (format!("k{n}"), json!("x")));
    probes.extend(all_ways("keys", &maps, Vec::new(), &data));
    probes
}

fn pod_specs() -> Vec<(&'static str, Value)> {
    let container = |n: usize| json!({"name": format!("c{n}"), "image": "i"});
    vec![
        ("containers", json!({"containers": many(10_000, container)})),
        (
            "init containers",
            json!({"initContainers": many(10_000, container)}),
        ),
        (
            "equal containers",
            json!({"containers": many(10_000, |_| container(1))}),
        ),
        (
            "environment",
            json!({"containers": [{"name": "c", "image": "i",
                "env": many(15_000, |n| json!({"name": format!("E{n}"), "value": "x"}))}]}),
        ),
        (
            "ports",
            json!({"containers": [{"name": "c", "image": "i", "ports": many(10_000, |n| {
                json!({"name": format!("p{n}"), "containerPort": n % 60_000 + 1, "hostPort": n % 60_000 + 1})
            })}], "hostNetwork": true}),
        ),
        (
            "volumes",
            json!({
                "volumes": many(7_500, |n| json!({"name": format!("v{n}"), "emptyDir": {}})),
                "containers": [{"name": "c", "image": "i", "volumeMounts":
                    many(6_250, |n| json!({"name": format!("v{n}"), "mountPath": format!("/m{n}")}))}],
            }),
        ),
        (
            "tolerations",
            json!({"tolerations": many(10_000, |n| json!({"key": format!("k{n}"), "operator": "Exists"}))}),
        ),
        (
            "affinity",
            json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                many(5_000, |n| json!({"topologyKey": format!("k{n}"), "labelSelector": {"matchLabels": {"a": "b"}}}))}}}),
        ),
        (
            "spread",
            json!({"topologySpreadConstraints": many(5_000, |n| json!({
                "maxSkew": 1, "topologyKey": format!("k{n}"), "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"a": "b"}}}))}),
        ),
        (
            "gates and secrets",
            json!({
                "schedulingGates": many(10_000, |n| json!({"name": format!("a.b/g{n}")})),
                "imagePullSecrets": many(10_000, |n| json!({"name": format!("s{n}")})),
                "hostAliases": many(5_000, |n| json!({"ip": "1.2.3.4", "hostnames": [format!("h{n}")]})),
            }),
        ),
    ]
}

fn pods() -> Vec<Probe> {
    let mut probes = Vec::new();
    for (name, spec) in pod_specs() {
        let pod = pod(spec);
        let deployments = "/apis/apps/v1/namespaces/default/deployments";
        let deployment = deployment(&pod);
        probes.push(Probe {
            name,
            requests: vec![
                post(deployments, &deployment),
                patch(
                    format!("{deployments}/a"),
                    STRATEGIC,
                    &json!({"spec": {"template": {"spec": pod["spec"]}}}),
                ),
            ],
        });
        probes.extend(all_ways(
            name,
            &format!("{NAMESPACE}/pods"),
            Vec::new(),
            &pod,
        ));
    }
    probes.push(strategic_patches());
    probes
}

fn strategic_patches() -> Probe {
    let small = pod(json!({}));
    Probe {
        name: "strategic patch that adds",
        requests: vec![
            post(format!("{NAMESPACE}/pods"), &small),
            patch(
                format!("{NAMESPACE}/pods/a"),
                STRATEGIC,
                &json!({"spec": {"tolerations": many(10_000, |n| json!({"key": format!("k{n}"), "operator": "Exists"}))}}),
            ),
            patch(
                format!("{NAMESPACE}/pods/a"),
                STRATEGIC,
                &json!({"metadata": {
                    "$deleteFromPrimitiveList/finalizers": many(15_000, |n| json!(format!("a.b/c{n}"))),
                    "finalizers": many(15_000, |n| json!(format!("a.b/d{n}"))),
                }}),
            ),
            patch(
                format!("{NAMESPACE}/pods/a"),
                STRATEGIC,
                &json!({"spec": {
                    "$setElementOrder/containers": many(15_000, |n| json!({"name": format!("c{n}")})),
                    "containers": many(7_500, |n| json!({"$patch": "delete", "name": format!("c{n}")})),
                }}),
            ),
        ],
    }
}

/// Custom resources that are large.
fn custom_objects() -> Vec<Probe> {
    let list = |kind: &str, keys: Value, items: Value| {
        let mut list = json!({"type": "array", "x-kubernetes-list-type": kind, "items": items});
        if !keys.is_null() {
            list["x-kubernetes-list-map-keys"] = keys;
        }
        json!({"type": "object", "properties": {"l": list}})
    };
    let entry = json!({"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}});
    let entries = |n: usize| json!({"k": format!("k{n}"), "v": n});
    let mut probes = Vec::new();
    for (name, schema, spec) in [
        (
            "list map",
            list("map", json!(["k"]), entry.clone()),
            json!({"l": many(15_000, entries)}),
        ),
        (
            "list map of equal keys",
            list("map", json!(["k"]), entry.clone()),
            json!({"l": many(15_000, |_| entries(1))}),
        ),
        (
            "list set",
            list("set", Value::Null, json!({"type": "string"})),
            json!({"l": many(37_500, |n| json!(format!("k{n}")))}),
        ),
        (
            "atomic list",
            list("atomic", Value::Null, entry.clone()),
            json!({"l": many(15_000, entries)}),
        ),
        (
            "unknown fields",
            json!({"type": "object"}),
            members(20_000, |n| (format!("field{n}"), json!(n))),
        ),
        (
            "free fields",
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
            members(20_000, |n| (format!("field{n}"), json!(n))),
        ),
        (
            "map",
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
            members(20_000, |n| (format!("field{n}"), json!(n))),
        ),
        (
            "unique enum",
            json!({"type": "object", "properties": {"l": {"type": "array", "maxItems": 25_000, "items": {"type": "string", "enum": many(500, |n| json!(format!("k{n}")))}}}}),
            json!({"l": many(25_000, |n| json!(format!("k{}", n % 500)))}),
        ),
    ] {
        let before = vec![post(DEFINITIONS, &definition(&schema))];
        probes.extend(all_ways(name, POTS, before, &pot(&spec)));
    }
    probes
}

/// Schemas that are large.
fn custom_schemas() -> Vec<Probe> {
    let mut probes = Vec::new();
    for (name, schema) in [
        (
            "properties",
            json!({"type": "object", "properties": members(12_500, |n| (format!("p{n}"), json!({"type": "string"})))}),
        ),
        (
            "required",
            json!({"type": "object", "required": many(20_000, |n| json!(format!("p{n}"))), "properties": {}}),
        ),
        (
            "enumeration",
            json!({"type": "object", "properties": {"e": {"type": "string", "enum": many(37_500, |n| json!(format!("v{n}")))}}}),
        ),
        (
            "rules",
            json!({"type": "object", "properties": {"n": {"type": "integer"}}, "x-kubernetes-validations":
                many(5_000, |n| json!({"rule": format!("self.n != {n}"), "message": "m"}))}),
        ),
        (
            "defaults",
            json!({"type": "object", "properties": members(7_500, |n| (format!("p{n}"), json!({"type": "string", "default": "x"})))}),
        ),
    ] {
        let definition = definition(&schema);
        probes.push(Probe {
            name,
            requests: vec![
                post(DEFINITIONS, &definition),
                patch(
                    format!("{DEFINITIONS}/pots.ex.io"),
                    MERGE,
                    &json!({"metadata": {"labels": {"x": "y"}}}),
                ),
                post(POTS, &pot(&json!({"n": 1}))),
            ],
        });
    }
    probes
}

/// Definitions that are large outside of their schemas.
fn definitions() -> Vec<Probe> {
    let mut probes = Vec::new();
    let mut versions = definition(&json!({"type": "object"}));
    versions["spec"]["versions"] = many(3_750, |n| {
        json!({"name": format!("v{}", n + 1), "served": true, "storage": n == 0,
            "schema": {"openAPIV3Schema": {"type": "object"}}})
    });
    let mut columns = definition(&json!({"type": "object"}));
    columns["spec"]["versions"][0]["additionalPrinterColumns"] = many(
        40_000,
        |n| json!({"name": format!("c{n}"), "type": "string", "jsonPath": ".spec.x"}),
    );
    let mut names = definition(&json!({"type": "object"}));
    names["spec"]["names"]["shortNames"] = many(37_500, |n| json!(format!("s{n}")));
    names["spec"]["names"]["categories"] = many(25_000, |n| json!(format!("c{n}")));
    for (name, definition) in [
        ("versions", versions),
        ("columns", columns),
        ("names", names),
    ] {
        probes.push(Probe {
            name,
            requests: vec![post(DEFINITIONS, &definition)],
        });
    }
    probes
}

fn json_patches() -> Vec<Probe> {
    let operations = |op: &'static str| {
        many(2_500, move |n| match op {
            "remove" => json!({"op": "remove", "path": "/data/l/0"}),
            "test" => json!({"op": "test", "path": "/spec", "value": {"l": n}}),
            "copy" => json!({"op": "copy", "from": "/spec/l/0", "path": "/spec/l/0"}),
            "move" => json!({"op": "move", "from": "/spec/l/0", "path": "/spec/l/-"}),
            _ => json!({"op": "add", "path": "/spec/l/0", "value": n}),
        })
    };
    let list = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let mut probes: Vec<Probe> = ["add", "copy", "move", "test", "remove"]
        .into_iter()
        .map(|op| Probe {
            name: op,
            requests: vec![
                post(DEFINITIONS, &definition(&list)),
                post(POTS, &pot(&json!({"l": many(50_000, |n| json!(n))}))),
                patch(format!("{POTS}/a"), JSON_PATCH, &operations(op)),
            ],
        })
        .collect();
    probes.push(Probe {
        name: "tests that succeed",
        requests: vec![
            post(DEFINITIONS, &definition(&list)),
            post(POTS, &pot(&json!({"l": many(50_000, |n| json!(n))}))),
            patch(
                format!("{POTS}/a"),
                JSON_PATCH,
                &many(
                    10_000,
                    |_| json!({"op": "test", "path": "/spec/l/25000", "value": 100_000}),
                ),
            ),
        ],
    });
    probes
}

fn of_one(name: &'static str, path: impl Into<String>, body: &Value) -> Probe {
    Probe {
        name,
        requests: vec![post(path, body)],
    }
}

fn policies() -> Vec<Probe> {
    let rule = |n: usize| json!({"apiGroups": ["ex.io"], "resources": [format!("r{n}")], "verbs": ["get"]});
    let mut probes = vec![Probe {
        name: "roles",
        requests: vec![
            post(
                format!("{RBAC}/clusterroles"),
                &json!({"metadata": {"name": "a"}, "rules": many(6_250, rule)}),
            ),
            post(
                format!("{RBAC}/clusterrolebindings"),
                &json!({"metadata": {"name": "a"},
                    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "a"},
                    "subjects": many(5_000, |n| json!({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": format!("u{n}")}))}),
            ),
        ],
    }];
    probes.push(Probe {
        name: "webhooks",
        requests: vec![post(
            "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
            &json!({"metadata": {"name": "a"}, "webhooks": many(1_250, |n| json!({
                "name": format!("a{n}.b.c"), "sideEffects": "None", "admissionReviewVersions": ["v1"],
                "clientConfig": {"url": "https://localhost"}, "failurePolicy": "Ignore",
                "matchConditions": [{"name": "never", "expression": "false"}],
                "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]}))}),
        ),
        post(format!("{NAMESPACE}/configmaps"), &map(json!({})))],
    });
    probes.push(of_one(
        "policy",
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
        &json!({"metadata": {"name": "a"}, "spec": {
            "matchConstraints": {"resourceRules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]},
            "variables": many(2_000, |n| json!({"name": format!("v{n}"), "expression": "1"})),
            "validations": many(2_000, |n| json!({"expression": format!("variables.v{n} == 1")})),
        }}),
    ));
    probes
}

fn other_kinds() -> Vec<Probe> {
    vec![
        of_one(
            "service",
            format!("{NAMESPACE}/services"),
            &json!({"metadata": {"name": "a"}, "spec": {"ports": many(10_000, |n| json!({"name": format!("p{n}"), "port": n % 65_000 + 1}))}}),
        ),
        of_one(
            "node",
            "/api/v1/nodes",
            &json!({"metadata": {"name": "a"}, "spec": {"taints": many(10_000, |n| json!({"key": format!("k{n}"), "effect": "NoSchedule"}))}}),
        ),
        Probe {
            name: "quota",
            requests: vec![
                post(
                    format!("{NAMESPACE}/resourcequotas"),
                    &json!({"metadata": {"name": "a"}, "spec": {"hard": members(15_000, |n| (format!("count/r{n}.ex.io"), json!("1")))}}),
                ),
                post(format!("{NAMESPACE}/configmaps"), &map(json!({}))),
            ],
        },
        of_one(
            "limits",
            format!("{NAMESPACE}/limitranges"),
            &json!({"metadata": {"name": "a"}, "spec": {"limits": many(7_500, |n| json!({"type": "Container", "max": {format!("ex.io/r{n}"): "1"}}))}}),
        ),
        of_one(
            "secret",
            format!("{NAMESPACE}/secrets"),
            &json!({"metadata": {"name": "a"}, "stringData": members(15_000, |n| (format!("k{n}"), json!("x"))), "data": members(10_000, |n| (format!("l{n}"), json!("eA==")))}),
        ),
        of_one(
            "endpoints",
            "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
            &json!({"metadata": {"name": "a"}, "addressType": "IPv4", "ports": many(5_000, |n| json!({"name": format!("p{n}"), "port": 1})),
                "endpoints": many(7_500, |n| json!({"addresses": [format!("10.{}.{}.1", n / 250, n % 250)]}))}),
        ),
        Probe {
            name: "duplicate members",
            requests: vec![Request {
                method: Method::POST,
                path: format!("{NAMESPACE}/configmaps"),
                media_type: JSON,
                body: format!(
                    "{{\"metadata\":{{\"name\":\"a\"}},\"data\":{{{}\"z\":\"\"}}}}",
                    "\"k\":\"x\",".repeat(70_000)
                ),
            }],
        },
    ]
}

/// What this thread has used of the processor: the server of the test runs on it alone, and other
/// tests do not count.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("a time after the start")
}

/// Sends the requests of a probe; returns those that took too long.
async fn slow(server: &Server, probe: &Probe) -> Vec<String> {
    let client = Client::new(server, User::admin());
    let mut slow = Vec::new();
    let mut revision = String::new();
    for request in &probe.requests {
        let body = request.body.replace(REVISION, &revision);
        let before = processor_time();
        let sent = client.send(
            request.method.clone(),
            &request.path,
            request.media_type,
            body,
        );
        let response = sent.await;
        let took = processor_time() - before;
        if let Some(found) = response.body["metadata"]["resourceVersion"].as_str() {
            revision = found.to_owned();
        }
        if took > LIMIT {
            let Request { method, path, .. } = request;
            slow.push(format!("{}: {method} {path}: {took:?}", probe.name));
        }
    }
    slow
}

#[tokio::test]
async fn processing_time_of_large_requests_is_linear() {
    let mut found = Vec::new();
    let probes = [
        metadata(),
        pods(),
        custom_objects(),
        custom_schemas(),
        definitions(),
        json_patches(),
        policies(),
        other_kinds(),
    ];
    for probe in probes.into_iter().flatten() {
        found.extend(slow(&server(), &probe).await);
    }
    assert!(found.is_empty(), "{found:#?}");
}
