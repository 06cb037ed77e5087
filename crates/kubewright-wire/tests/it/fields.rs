//! Field sets against a naive model: the sorted set of their paths.

use std::collections::BTreeSet;

use kubewright_wire::fields::{FieldSet, Path, PathElement};
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::{collection, prop_assert_eq};
use serde_json::{Value, json};

type Model = BTreeSet<Path>;

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i8>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        "[a-c<\"\\\\]{0,2}".prop_map(Value::from),
    ]
}

fn element() -> impl Strategy<Value = PathElement> {
    prop_oneof![
        4 => "[a-c]".prop_map(PathElement::field),
        1 => "[a-c:.<\"]{0,3}".prop_map(PathElement::field),
        2 => scalar().prop_map(PathElement::value),
        2 => (scalar(), prop_oneof![Just(None), scalar().prop_map(Some)]).prop_map(|(a, b)| {
            PathElement::key([("name", Some(a)), ("port", b)].into_iter().filter_map(|(n, v)| Some((n, v?))))
        }),
        1 => (0..3_i64).prop_map(PathElement::Index),
    ]
}

fn model() -> impl Strategy<Value = Model> {
    let path = collection::vec(element(), 1..4).prop_map(Path);
    collection::btree_set(path, 0..12)
}

fn set(model: &Model) -> FieldSet {
    model.iter().cloned().collect()
}

fn paths(set: &FieldSet) -> Model {
    set.paths().into_iter().collect()
}

fn is_below(path: &Path, top: &Path) -> bool {
    path.0.starts_with(&top.0)
}

proptest! {
    #[test]
    fn set_survives_a_round_trip(model in model()) {
        let fields = set(&model);
        prop_assert_eq!(FieldSet::from_value(&fields.to_value()).expect("own output"), fields.clone());
        let text = serde_json::to_string(&fields).expect("a set has JSON");
        prop_assert_eq!(serde_json::from_str::<FieldSet>(&text).expect("own output"), fields);
    }

    #[test]
    fn set_contains_exactly_its_members(model in model(), other in model()) {
        let fields = set(&model);
        prop_assert_eq!(paths(&fields), model.clone());
        prop_assert_eq!(fields.len(), model.len());
        prop_assert_eq!(fields.is_empty(), model.is_empty());
        for path in model.union(&other) {
            prop_assert_eq!(fields.contains(&path.0), model.contains(path));
        }
    }

    #[test]
    fn algebra_equals_that_of_sets_of_paths(a in model(), b in model()) {
        let (x, y) = (set(&a), set(&b));
        prop_assert_eq!(x.clone().union(y.clone()), set(&(&a | &b)));
        prop_assert_eq!(x.intersection(&y), set(&(&a & &b)));
        prop_assert_eq!(x.clone().difference(&y), set(&(&a - &b)));
        let apart: Model = a.iter().filter(|path| !b.iter().any(|top| is_below(path, top))).cloned().collect();
        prop_assert_eq!(x.clone().recursive_difference(&y), set(&apart));
    }
}

#[test]
fn members_of_a_value_are_listed_before_those_of_its_parts() {
    let text = json!({"f:b": {}, "f:a": {".": {}, "f:x": {}}});
    let fields = FieldSet::from_value(&text).expect("a well-formed set");
    assert_eq!(fields.to_string(), ".a\n.b\n.a.x");
}
