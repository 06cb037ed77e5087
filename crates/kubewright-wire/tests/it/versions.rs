//! Field ownership across the versions of a kind.

use jiff::Timestamp;
use kubewright_core::Kind;
use kubewright_wire::apply::{Force, ServedVersions, Write, apply, equal_ignoring_times, update};
use kubewright_wire::fields::FieldSet;
use kubewright_wire::schema::{Schema, from_crd};
use serde_json::{Value, json};

static NOTHING: FieldSet = FieldSet::new();

fn schema(kind: &Kind) -> Schema {
    let spec =
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
    let root = json!({"type": "object", "properties": {"spec": spec}});
    from_crd(kind, Some(&root)).expect("a schema")
}

fn write<'a>(kind: &'a Kind, versions: &'a ServedVersions<'a>, manager: &'a str) -> Write<'a> {
    Write {
        kind,
        versions,
        manager,
        subresource: "",
        time: Timestamp::UNIX_EPOCH,
        reset: &NOTHING,
    }
}

fn foo(version: &str, spec: &Value) -> Value {
    json!({"apiVersion": version, "kind": "Foo", "metadata": {"name": "x"}, "spec": spec})
}

fn owners(object: &Value) -> Vec<(&str, &str)> {
    let entries = object["metadata"]["managedFields"]
        .as_array()
        .into_iter()
        .flatten();
    entries
        .filter_map(|entry| Some((entry["manager"].as_str()?, entry["apiVersion"].as_str()?)))
        .collect()
}

#[test]
fn entry_of_another_version_conflicts_and_loses_fields_in_its_version() {
    let (v1, v2) = (
        Kind::new("ex.io", "v1", "Foo"),
        Kind::new("ex.io", "v2", "Foo"),
    );
    let (old, new) = (schema(&v1), schema(&v2));
    let both = ServedVersions::one("ex.io/v1", old.kind(&v1).expect("its kind"))
        .and("ex.io/v2", new.kind(&v2).expect("its kind"));
    let first = foo("ex.io/v1", &json!({"a": "1", "b": "1"}));
    let mut live = apply(None, &first, &write(&v1, &both, "m1"), Force::No).expect("a first apply");

    live["apiVersion"] = json!("ex.io/v2");
    let intent = foo("ex.io/v2", &json!({"a": "2"}));
    let conflict = apply(Some(&live), &intent, &write(&v2, &both, "m2"), Force::No);
    assert_eq!(
        conflict.expect_err("m1 owns it").message,
        "Apply failed with 1 conflict: conflict with \"m1\": .spec.a"
    );
    let forced = apply(Some(&live), &intent, &write(&v2, &both, "m2"), Force::Yes).expect("forced");
    assert_eq!(forced["spec"], json!({"a": "2", "b": "1"}));
    assert_eq!(owners(&forced), [("m1", "ex.io/v1"), ("m2", "ex.io/v2")]);

    let intent_of_m1 = foo("ex.io/v2", &json!({"b": "1"}));
    let moved = apply(
        Some(&forced),
        &intent_of_m1,
        &write(&v2, &both, "m1"),
        Force::No,
    )
    .expect("m1 moves");
    assert_eq!(owners(&moved), [("m1", "ex.io/v2"), ("m2", "ex.io/v2")]);
}

#[test]
fn entries_of_a_version_that_is_not_served_are_dropped() {
    let (v1, v2) = (
        Kind::new("ex.io", "v1", "Foo"),
        Kind::new("ex.io", "v2", "Foo"),
    );
    let (old, new) = (schema(&v1), schema(&v2));
    let before = ServedVersions::one("ex.io/v1", old.kind(&v1).expect("its kind"));
    let after = ServedVersions::one("ex.io/v2", new.kind(&v2).expect("its kind"));
    let live = update(
        None,
        foo("ex.io/v1", &json!({"a": "1"})),
        &write(&v1, &before, "up"),
    );
    assert_eq!(owners(&live), [("up", "ex.io/v1")]);

    let mut changed = live.clone();
    changed["apiVersion"] = json!("ex.io/v2");
    changed["spec"]["b"] = json!("2");
    let updated = update(Some(&live), changed, &write(&v2, &after, "up"));
    assert_eq!(owners(&updated), [("up", "ex.io/v2")]);
}

#[test]
fn owners_of_parts_own_the_whole_after_it_became_atomic() {
    let kind = Kind::new("ex.io", "v1", "Foo");
    let mut part = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let mut list =
        json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}});
    let root = |part: &Value, list: &Value| {
        let properties = json!({"part": part, "list": list, "n": {"type": "integer"}});
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}})
    };
    let granular = from_crd(&kind, Some(&root(&part, &list))).expect("a schema");
    part["x-kubernetes-map-type"] = json!("atomic");
    list["x-kubernetes-list-type"] = json!("atomic");
    let atomic = from_crd(&kind, Some(&root(&part, &list))).expect("a schema");

    let before = ServedVersions::one("ex.io/v1", granular.kind(&kind).expect("its kind"));
    let after = ServedVersions::one("ex.io/v1", atomic.kind(&kind).expect("its kind"));
    let intent = foo("ex.io/v1", &json!({"part": {"a": "1"}, "list": ["x"]}));
    let live = apply(None, &intent, &write(&kind, &before, "m1"), Force::No).expect("an apply");
    let fields = |object: &Value| object["metadata"]["managedFields"][0]["fieldsV1"].clone();
    assert_eq!(
        fields(&live),
        json!({"f:spec": {"f:part": {"f:a": {}}, "f:list": {"v:\"x\"": {}}}})
    );
    let more = foo("ex.io/v1", &json!({"n": 1}));
    let reconciled =
        apply(Some(&live), &more, &write(&kind, &after, "m2"), Force::No).expect("an apply");
    assert_eq!(
        fields(&reconciled),
        json!({"f:spec": {"f:part": {}, "f:list": {}}})
    );
}

#[test]
fn times_of_managed_fields_are_not_a_change() {
    let entry = |time: &str, manager: &str| json!({"manager": manager, "time": time});
    let object = |entries: Value| json!({"metadata": {"managedFields": entries}, "spec": 1});
    let a = object(json!([entry("1", "x"), entry("2", "y")]));
    let b = object(json!([entry("2", "y"), entry("3", "x")]));
    assert!(equal_ignoring_times(&a, &b));
    assert!(!equal_ignoring_times(&a, &object(json!([entry("1", "x")]))));
}
