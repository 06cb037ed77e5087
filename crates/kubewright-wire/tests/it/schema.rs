//! The schema of Kubernetes' own kinds, and the functions that use it.

use kubewright_core::Kind;
use kubewright_wire::schema::{
    ListType, Schema, SchemaType, conform, drop_empty_fields, from_crd, prune,
};
use serde_json::{Value, json};

fn builtin(group: &str, version: &str, kind: &str) -> SchemaType<'static> {
    let kind = Kind::new(group, version, kind);
    Schema::builtin().kind(&kind).expect("a kind of Kubernetes")
}

fn at<'s>(schema: SchemaType<'s>, path: &str) -> SchemaType<'s> {
    path.split('.').fold(schema, |schema, step| match step {
        "[]" => schema.item().expect("a list"),
        name => schema.field(name).expect("a known field"),
    })
}

#[test]
fn schema_has_the_keys_of_apply_and_of_strategic_merge() {
    let container = at(builtin("", "v1", "Pod"), "spec.containers.[]");
    let ports = container.declared("ports").expect("a field of containers");
    let keys = ["containerPort", "protocol"].map(str::to_owned).to_vec();
    let list = at(container, "ports").list().expect("a list");
    assert_eq!(list.list_type, ListType::Map(keys));
    let patch = ports.patch.as_ref().expect("a strategy");
    assert_eq!(patch.merge_key.as_deref(), Some("containerPort"));
    let port = at(container, "ports.[]");
    assert_eq!(
        port.declared("protocol").and_then(|f| f.default.clone()),
        Some(json!("TCP"))
    );
    assert_eq!(
        port.declared("containerPort")
            .and_then(|f| f.default.clone()),
        Some(json!(0))
    );

    let strategy = at(builtin("apps", "v1", "Deployment"), "spec")
        .declared("strategy")
        .and_then(|field| field.patch.as_ref());
    assert!(strategy.is_some_and(|patch| patch.retain_keys && !patch.merge));
}

#[test]
fn property_overrides_whether_its_type_is_atomic() {
    let selector = at(builtin("apps", "v1", "Deployment"), "spec.selector");
    assert!(selector.map().is_some_and(|map| map.atomic));
    let status = at(builtin("", "v1", "PersistentVolumeClaim"), "status");
    let resources = at(status, "allocatedResourceStatuses");
    assert!(resources.map().is_some_and(|map| !map.atomic));
    let claim = at(builtin("", "v1", "PersistentVolume"), "spec.claimRef");
    assert!(claim.map().is_some_and(|map| !map.atomic));
    let reference = at(
        builtin("", "v1", "Endpoints"),
        "subsets.[].addresses.[].targetRef",
    );
    assert!(reference.map().is_some_and(|map| map.atomic));
}

#[test]
fn zero_values_equal_those_of_go() {
    assert_eq!(
        builtin("apps", "v1", "Deployment").zero(),
        json!({
            "metadata": {},
            "spec": {
                "selector": null,
                "strategy": {},
                "template": {"metadata": {}, "spec": {"containers": null}},
            },
            "status": {},
        })
    );
    assert_eq!(
        builtin("", "v1", "ConfigMap").zero(),
        json!({"metadata": {}})
    );
    assert_eq!(
        builtin("apps", "v1", "ReplicaSet").zero()["status"],
        json!({"replicas": 0})
    );
}

#[test]
fn object_is_decoded_as_in_the_api_server() {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "x", "labels": null, "creationTimestamp": "2026-01-01T02:00:00.7+01:00"},
        "spec": {"colour": "red", "containers": [
            {"name": "a", "resources": {"limits": {"cpu": 0.5, "memory": "1024Mi"}}, "shape": 1},
            {"name": "b", "ports": [{"containerPort": 80}]},
        ]},
    });
    let mut unknown = conform(&mut pod, builtin("", "v1", "Pod")).expect("a Pod");
    unknown.sort();
    assert_eq!(unknown, ["spec.colour", "spec.containers[0].shape"]);
    assert_eq!(
        pod,
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "x", "creationTimestamp": "2026-01-01T01:00:00Z"},
            "spec": {"containers": [
                {"name": "a", "resources": {"limits": {"cpu": "500m", "memory": "1Gi"}}},
                {"name": "b", "ports": [{"containerPort": 80}], "resources": {}},
            ]},
            "status": {},
        })
    );
}

#[test]
fn type_mismatch_fails_with_the_message_of_go() {
    let cases: [(&str, Value, &str); 5] = [
        (
            "ConfigMap",
            json!({"data": {"a": 1}}),
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ),
        (
            "Pod",
            json!({"spec": {"containers": {}}}),
            "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type \
             []v1.Container",
        ),
        (
            "Pod",
            json!({"spec": {"containers": [{"image": true}]}}),
            "json: cannot unmarshal bool into Go struct field Container.spec.containers.image of \
             type string",
        ),
        (
            "Pod",
            json!({"spec": {"priority": 1.5}}),
            "json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type \
             int32",
        ),
        (
            "ConfigMap",
            json!([]),
            "json: cannot unmarshal array into Go value of type v1.ConfigMap",
        ),
    ];
    for (kind, mut object, message) in cases {
        let error = conform(&mut object, builtin("", "v1", kind)).expect_err(message);
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn times_of_leases_have_six_digits() {
    let lease = |time: &str| json!({"metadata": {}, "spec": {"renewTime": time}});
    let schema = builtin("coordination.k8s.io", "v1", "Lease");
    let mut object = lease("2026-01-01T01:00:00.120000+01:00");
    conform(&mut object, schema).expect("a Lease");
    assert_eq!(object, lease("2026-01-01T00:00:00.120000Z"));
    let error = conform(&mut lease("2026-01-01T00:00:00.5Z"), schema).expect_err("one digit");
    assert_eq!(
        error.to_string(),
        "parsing time \"2026-01-01T00:00:00.5Z\" as \"2006-01-02T15:04:05.000000Z07:00\": \
         cannot parse \".5Z\" as \".000000\""
    );
}

#[test]
fn custom_resources_are_pruned_by_their_own_schema() {
    let kind = Kind::new("ex.io", "v1", "Foo");
    let definition = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
        "pod": {"type": "object", "x-kubernetes-embedded-resource": true},
    }}}});
    let schema = from_crd(&kind, Some(&definition)).expect("a schema");
    let mut object = json!({
        "apiVersion": "ex.io/v1", "kind": "Foo", "metadata": {"name": "x", "labels": {"a": "b"}},
        "spec": {"free": {"any": [{"thing": 1}]}, "list": [{"a": "1", "b": 2}], "c": 3,
                 "pod": {"kind": "Pod", "metadata": {"name": "p", "x": 1}, "spec": {}}},
        "status": {},
    });
    let mut unknown = prune(&mut object, schema.kind(&kind).expect("its own kind"));
    unknown.sort();
    assert_eq!(
        unknown,
        [
            "spec.c",
            "spec.list[0].b",
            "spec.pod.metadata.x",
            "spec.pod.spec",
            "status"
        ]
    );
    assert_eq!(object["spec"]["free"], json!({"any": [{"thing": 1}]}));
}

#[test]
fn schema_survives_a_round_trip_through_its_table() {
    let schema = Schema::builtin();
    let bytes = schema.encode().expect("a schema can be packed");
    assert_eq!(Schema::decode(&bytes).expect("own output"), *schema);
    assert!(bytes.len() < 150_000);
}

#[test]
fn empty_list_that_is_always_written_becomes_null() {
    let dropped = |mut value: Value, schema| {
        drop_empty_fields(&mut value, schema);
        value
    };
    let role = builtin("rbac.authorization.k8s.io", "v1", "Role");
    assert_eq!(
        dropped(json!({"metadata": {"name": "a"}, "rules": []}), role),
        json!({"metadata": {"name": "a"}, "rules": null})
    );
    let slice = builtin("discovery.k8s.io", "v1", "EndpointSlice");
    let full = json!({"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}],
        "ports": null});
    assert_eq!(dropped(full.clone(), slice), full);
    // Fields with `omitempty` and structs are not changed.
    let pod = builtin("", "v1", "Pod");
    let volume = json!({"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}});
    assert_eq!(dropped(volume.clone(), pod), volume);
}
