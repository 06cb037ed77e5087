//! Compares the store with a naive model under random histories of a server.

use std::collections::BTreeMap;

use kubewright_core::ObjectKey;
use kubewright_runtime::record::Record;
use kubewright_runtime::store::{ChangeEvent, Delta, Filter, Replaced, Store};
use proptest::prelude::{
    Just, ProptestConfig, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest,
};
use proptest::test_runner::TestCaseError;
use serde_json::json;

const KEYS: usize = 3;

#[derive(Clone, Debug)]
enum Step {
    /// The object is created or changed, by this client or by another.
    Write {
        key: usize,
        is_own: bool,
        shape: Shape,
    },
    /// The object is deleted, by another client or (if it is visible) by this one.
    Delete { key: usize, is_own: bool },
    /// An outstanding response to an own write arrives.
    Respond(usize),
    /// The watch delivers this number of changes.
    Deliver(usize),
    /// The watch sends a bookmark.
    Bookmark,
    /// The watch ended; a list returns the state this number of changes after the last one seen.
    Relist(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Shape {
    matches: bool,
    owner: usize,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = 0..KEYS;
    let shape = (prop::bool::weighted(0.8), 0_usize..3)
        .prop_map(|(matches, owner)| Shape { matches, owner });
    let step = prop_oneof![
        4 => (key.clone(), any::<bool>(), shape)
            .prop_map(|(key, is_own, shape)| Step::Write { key, is_own, shape }),
        3 => (key, any::<bool>()).prop_map(|(key, is_own)| Step::Delete { key, is_own }),
        5 => (0_usize..4).prop_map(Step::Respond),
        3 => (1_usize..4).prop_map(Step::Deliver),
        1 => Just(Step::Bookmark),
        1 => (0_usize..5).prop_map(Step::Relist),
    ];
    prop::collection::vec(step, 1..60)
}

/// A version of an object.
#[derive(Clone, Debug, PartialEq)]
struct Version {
    revision: u64,
    uid: u64,
    /// `None` after the deletion.
    shape: Option<Shape>,
}

impl Version {
    fn is_visible(&self) -> bool {
        self.shape.is_some_and(|shape| shape.matches)
    }
}

/// The history of the server; revision n is at index n - 1.
#[derive(Default)]
struct Server {
    history: Vec<(usize, Version)>,
}

impl Server {
    fn revision(&self) -> u64 {
        self.history.len() as u64
    }

    /// The latest version of the object at a revision.
    fn at(&self, key: usize, revision: u64) -> Option<&Version> {
        let history = self.history.iter().rev();
        history
            .filter(|(changed, version)| *changed == key && version.revision <= revision)
            .map(|(_, version)| version)
            .next()
    }

    fn push(&mut self, key: usize, shape: Option<Shape>) -> Version {
        let revision = self.revision() + 1;
        let present = self
            .at(key, revision)
            .filter(|version| version.shape.is_some());
        let version = Version {
            revision,
            uid: present.map_or(revision, |version| version.uid),
            shape,
        };
        self.history.push((key, version.clone()));
        version
    }
}

/// The model of a client: the last watched revision, and all responses.
#[derive(Default)]
struct Client {
    watched: u64,
    responses: Vec<(usize, Version)>,
}

impl Client {
    /// The newest version among the watched state and the responses.
    fn sees(&self, server: &Server, key: usize) -> Option<Version> {
        let responses = self.responses.iter().filter(|(about, _)| *about == key);
        let newest = responses
            .map(|(_, version)| version)
            .chain(server.at(key, self.watched))
            .max_by_key(|version| version.revision);
        newest.filter(|version| version.is_visible()).cloned()
    }
}

fn key(key: usize) -> ObjectKey {
    ObjectKey::namespaced("shop", &format!("k{key}"))
}

fn record(name: usize, version: &Version) -> Record {
    let shape = version.shape.unwrap_or(Shape {
        matches: true,
        owner: 0,
    });
    let owner =
        json!({"apiVersion": "v1", "kind": "Owner", "name": "o", "uid": shape.owner.to_string()});
    let object = json!({"metadata": {
        "name": format!("k{name}"), "namespace": "shop", "uid": version.uid.to_string(),
        "resourceVersion": version.revision.to_string(),
        "labels": {"app": if shape.matches { "web" } else { "db" }},
        "ownerReferences": [owner]}});
    Record::from_value(&object).expect("an object")
}

/// The event of a watch with a selector: an object that stops matching is deleted.
fn delta(server: &Server, index: usize) -> Option<Delta> {
    let (key, version) = &server.history[index];
    let before = server.at(*key, version.revision - 1);
    match (
        before.is_some_and(Version::is_visible),
        version.is_visible(),
    ) {
        (_, true) => Some(Delta::Applied(record(*key, version))),
        (true, false) => Some(Delta::Deleted(record(*key, version))),
        (false, false) => None,
    }
}

struct Run {
    server: Server,
    client: Client,
    store: Store,
    /// Outstanding responses to own writes.
    outstanding: Vec<(usize, Version)>,
    /// The state that results from the events so far.
    notified: BTreeMap<ObjectKey, (String, String)>,
}

impl Run {
    fn new() -> Self {
        let filter = Filter {
            labels: "app=web".parse().expect("a selector"),
            ..Filter::default()
        };
        Self {
            server: Server::default(),
            client: Client::default(),
            store: Store::new(filter),
            outstanding: Vec::new(),
            notified: BTreeMap::new(),
        }
    }

    fn step(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match *step {
            Step::Write {
                key,
                is_own,
                mut shape,
            } => {
                // An object that has left the selector does not return: a tombstone ends when the
                // hidden object is deleted, because the revision of a deletion is not known.
                let present = self
                    .server
                    .at(key, u64::MAX)
                    .and_then(|version| version.shape);
                shape.matches &= present.is_none_or(|present| present.matches);
                let version = self.server.push(key, Some(shape));
                if is_own {
                    self.outstanding.push((key, version));
                }
            }
            Step::Delete { key, is_own } => self.delete(key, is_own),
            Step::Respond(which) if which < self.outstanding.len() => {
                let (name, version) = self.outstanding.remove(which);
                match version.shape {
                    Some(_) => self.store.note_write(key(name), record(name, &version)),
                    None => self.store.note_delete(key(name), &version.uid.to_string()),
                }
                self.client.responses.push((name, version));
            }
            Step::Respond(_) => {}
            Step::Deliver(count) => {
                let to = (self.client.watched + count as u64).min(self.server.revision());
                let indexes = usize_of(self.client.watched)..usize_of(to);
                let deltas: Vec<Delta> = indexes
                    .filter_map(|index| delta(&self.server, index))
                    .collect();
                // Without a delta the store does not know the revision of the watch.
                if let Some(last) = deltas.last() {
                    self.client.watched = last.resource_version().parse().expect("a number");
                }
                let events = self.store.apply(deltas);
                self.note_events(&events)?;
            }
            Step::Bookmark => {
                let unseen = usize_of(self.client.watched)..self.server.history.len();
                if unseen
                    .into_iter()
                    .all(|index| delta(&self.server, index).is_none())
                {
                    self.client.watched = self.server.revision();
                    let reached = self.client.watched.to_string();
                    self.store.apply([Delta::Bookmark(reached)]);
                }
            }
            Step::Relist(ahead) => self.relist(ahead)?,
        }
        self.check()
    }

    fn delete(&mut self, key: usize, is_own: bool) {
        let present = self.server.at(key, u64::MAX).cloned();
        let Some(present) = present.filter(|version| version.shape.is_some()) else {
            return;
        };
        let seen = self.client.sees(&self.server, key);
        // An own delete has the uid of the visible object.
        if is_own && seen.is_none_or(|seen| seen.uid != present.uid) {
            return;
        }
        let version = self.server.push(key, None);
        if is_own {
            self.outstanding.push((key, version));
        }
    }

    fn relist(&mut self, ahead: usize) -> Result<(), TestCaseError> {
        let to = (self.client.watched + ahead as u64).min(self.server.revision());
        self.client.watched = to;
        let list = (0..KEYS)
            .filter_map(|key| Some((key, self.server.at(key, to)?)))
            .filter(|(_, version)| version.is_visible())
            .map(|(key, version)| record(key, version))
            .collect();
        match self.store.replace(list, &to.to_string()) {
            Replaced::Changed(events) => self.note_events(&events),
            Replaced::Filled => {
                let filled = (0..KEYS).filter_map(|name| self.store.delivered(&key(name)));
                self.notified = filled
                    .map(|record| (record.key(), identity(&record)))
                    .collect();
                Ok(())
            }
        }
    }

    /// Checks events against the state that results from earlier ones: the old state is equal, and
    /// an event does not change the uid.
    fn note_events(&mut self, events: &[ChangeEvent]) -> Result<(), TestCaseError> {
        for event in events {
            let old = event.old.as_ref().map(identity);
            prop_assert_eq!(self.notified.get(&event.key).cloned(), old.clone());
            match event.new.as_ref().map(identity) {
                Some(new) => {
                    if let Some((uid, _)) = old {
                        prop_assert_eq!(&uid, &new.0);
                    }
                    self.notified.insert(event.key.clone(), new);
                }
                None => {
                    self.notified.remove(&event.key);
                }
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let mut expected = Vec::new();
        for name in 0..KEYS {
            let sees = self.client.sees(&self.server, name);
            let got = self.store.get(&key(name));
            let revision = |record: Record| record.revision().map(|revision| revision.number());
            prop_assert_eq!(
                got.and_then(revision),
                sees.as_ref().map(|version| version.revision),
                "key {}, watched {}",
                name,
                self.client.watched
            );
            expected.extend(sees.map(|version| (name, version)));
        }
        let snapshot = self.store.snapshot();
        prop_assert_eq!(snapshot.len(), expected.len());
        let listed: Vec<ObjectKey> = snapshot.iter().map(|(key, _)| key.clone()).collect();
        let keys: Vec<ObjectKey> = expected.iter().map(|(name, _)| key(*name)).collect();
        prop_assert_eq!(listed, keys);
        for owner in 0..3 {
            let owned = self.store.by_owner(&owner.to_string());
            let owned: Vec<ObjectKey> = owned.into_iter().map(|(key, _)| key).collect();
            let of_owner = expected
                .iter()
                .filter(|(_, version)| version.shape.is_some_and(|shape| shape.owner == owner));
            let of_owner: Vec<ObjectKey> = of_owner.map(|(name, _)| key(*name)).collect();
            prop_assert_eq!(owned, of_owner);
        }
        let delivered = (0..KEYS).filter_map(|name| self.store.delivered(&key(name)));
        let delivered: BTreeMap<_, _> = delivered
            .map(|record| (record.key(), identity(&record)))
            .collect();
        prop_assert_eq!(&delivered, &self.notified);
        Ok(())
    }
}

fn identity(record: &Record) -> (String, String) {
    (
        record.uid().to_owned(),
        record.resource_version().to_owned(),
    )
}

fn usize_of(revision: u64) -> usize {
    usize::try_from(revision).expect("a short history")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn reads_return_the_newest_of_watched_state_and_responses(steps in steps()) {
        let mut run = Run::new();
        for step in &steps {
            run.step(step)?;
        }
    }
}
