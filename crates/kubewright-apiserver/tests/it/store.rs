//! Properties of the store against a model.

use std::collections::BTreeMap;

use kubewright_apiserver::store::{ChangeKind, Expected, Key, Store};
use kubewright_core::Revision;
use proptest::prelude::{Strategy, any, prop_oneof};
use proptest::{collection, proptest};
use serde_json::json;

const NAMES: [&str; 4] = ["a", "a-b", "b", "c"];
const NAMESPACES: [&str; 3] = ["n", "n-m", "o"];

#[derive(Clone, Debug)]
enum Step {
    Put(usize, usize, u8),
    Remove(usize, usize),
    /// Goes on with a fork; what happens to the old store must not show.
    Fork,
}

/// What a store is: the value and revision of each path.
type Model = BTreeMap<String, (u8, Revision)>;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let place = (0..NAMESPACES.len(), 0..NAMES.len());
    let step = prop_oneof![
        5 => (place.clone(), any::<u8>()).prop_map(|((n, m), value)| Step::Put(n, m, value % 3)),
        3 => place.prop_map(|(n, m)| Step::Remove(n, m)),
        1 => proptest::strategy::Just(Step::Fork),
    ];
    collection::vec(step, 0..40)
}

fn key(namespace: usize, name: usize) -> Key {
    Key::new("pods", Some(NAMESPACES[namespace]), NAMES[name])
}

fn read(
    objects: impl Iterator<Item = std::sync::Arc<kubewright_apiserver::store::Object>>,
) -> Model {
    objects
        .map(|object| {
            let namespace = object.namespace().unwrap_or_default();
            let value = object.value()["value"].as_u64().unwrap_or_default();
            let path = format!("{namespace}/{}", object.name());
            (
                path,
                (u8::try_from(value).unwrap_or_default(), object.revision()),
            )
        })
        .collect()
}

/// Runs the steps on a store and on the model; returns the store and the model at each revision.
fn run(steps: &[Step]) -> (Store, BTreeMap<Revision, Model>) {
    let mut store = Store::new(1000);
    let mut model = Model::new();
    let mut past = BTreeMap::from([(Revision::default(), model.clone())]);
    for step in steps {
        match *step {
            Step::Put(namespace, name, value) => {
                let key = key(namespace, name);
                let known = model.get(key.path()).copied();
                let expected = known.map_or(Expected::Absent, |(_, at)| Expected::At(at));
                let object = json!({
                    "metadata": {"namespace": NAMESPACES[namespace], "name": NAMES[name]},
                    "value": value,
                });
                let stored = store
                    .put(key.clone(), expected, object)
                    .expect("no other writer exists");
                if known.map(|(before, _)| before) != Some(value) {
                    model.insert(key.path().to_owned(), (value, stored.revision()));
                }
            }
            Step::Remove(namespace, name) => {
                let key = key(namespace, name);
                let known = model.remove(key.path());
                let at = known.map_or(Revision::default(), |(_, at)| at);
                assert_eq!(store.remove(key, at).is_ok(), known.is_some());
            }
            Step::Fork => {
                let old = std::mem::replace(&mut store, Store::new(1));
                store = old.fork();
                let other = Key::new("pods", Some("other"), "x");
                old.put(other, Expected::Absent, json!({}))
                    .expect("the fork shares nothing");
            }
        }
        past.insert(store.revision(), model.clone());
    }
    (store, past)
}

proptest! {
    #[test]
    fn snapshot_of_a_past_revision_equals_the_model(steps in steps()) {
        let (store, past) = run(&steps);
        for (revision, model) in &past {
            let snapshot = store.snapshot_at(*revision).expect("the log holds everything");
            assert_eq!(&read(snapshot.list("pods", None).cloned()), model);
        }
    }

    #[test]
    fn log_leads_from_any_revision_to_the_current_state(steps in steps(), from in 0_usize..40) {
        let (store, past) = run(&steps);
        let (revision, mut model) = past
            .iter()
            .nth(from % past.len())
            .map(|(revision, model)| (*revision, model.clone()))
            .expect("there is a beginning");
        let mut changes = store.watch_resource_from("pods", revision);
        for change in changes.now().expect("the log holds everything") {
            let after = read(std::iter::once(change.after.clone()));
            match change.kind {
                ChangeKind::Deleted => drop(model.remove(change.key.path())),
                ChangeKind::Added | ChangeKind::Modified => model.extend(after),
            }
        }
        assert_eq!(Some(&model), past.get(&store.revision()));
    }

    #[test]
    fn list_is_sorted_by_path(steps in steps()) {
        let (store, _) = run(&steps);
        let listed: Vec<String> = store
            .list("pods", None)
            .iter()
            .map(|object| format!("{}/{}", object.namespace().unwrap_or_default(), object.name()))
            .collect();
        let mut sorted = listed.clone();
        sorted.sort();
        assert_eq!(listed, sorted);
    }
}
