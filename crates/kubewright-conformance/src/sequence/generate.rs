//! Generates a random sequence of requests from a seed.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::dice::Dice;
use super::subject::Subject;
use crate::{Case, PatchType, Step};

const NAMES: [&str; 2] = ["a", "b"];
const WRITERS: [&str; 2] = ["red", "blue"];
/// A uid that no object has.
const UNUSED_UID: &str = "00000000-0000-4000-8000-000000000000";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Creates the definition of the custom resources in [`sequence`]. It is played once on each cluster
/// before the sequences.
pub fn definition() -> Case {
    let spec = json!({
        "type": "object",
        "properties": {
            "size": {"type": "integer", "minimum": 1, "default": 1},
            "settings": {"type": "object", "properties": {
                "a": {"type": "string"}, "b": {"type": "string"}}},
            "tags": {"type": "array", "x-kubernetes-list-type": "set", "maxItems": 8,
                "items": {"type": "string"}},
            "parts": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object",
                "required": ["name"], "properties": {
                    "name": {"type": "string"}, "count": {"type": "integer"}}}},
        },
        "x-kubernetes-validations": [{"rule": "self.size < 4", "message": "too large"}],
    });
    let status = json!({"type": "object", "properties": {"seen": {"type": "integer"}}});
    let body = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.random.case.dev"},
        "spec": {"group": "random.case.dev", "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing",
                "listKind": "ThingList"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object",
                    "properties": {"spec": spec, "status": status}}}}]},
    });
    let probe = json!({"apiVersion": "random.case.dev/v1", "kind": "Thing",
        "metadata": {"name": "probe"}, "spec": {}});
    let prepare = |request: String, body: Option<Value>, until: Option<u16>| Step {
        request,
        body,
        until,
        aside: true,
        ..Step::default()
    };
    let things = Subject::Thing.path();
    Case {
        name: "random-definition".to_owned(),
        about: "The definition of what random sequences write.".to_owned(),
        steps: vec![
            prepare(format!("POST {DEFINITIONS}"), Some(body), None),
            prepare(format!("GET {things}"), None, Some(200)),
            prepare(format!("POST {things}"), Some(probe), Some(201)),
            prepare(format!("DELETE {things}/probe"), None, Some(200)),
        ],
        ..Case::default()
    }
}

/// A case with `length` random requests, then a GET of each object and a watch of one kind from the
/// beginning. The seed determines all of them.
pub fn sequence(seed: u64, length: usize) -> Case {
    let mut dice = Dice::new(seed);
    let watched = dice.one_of(&Subject::ALL);
    let mut steps = vec![Step {
        request: format!("GET {}", watched.path()),
        save: BTreeMap::from([("then".to_owned(), "/metadata/resourceVersion".to_owned())]),
        aside: true,
        ..Step::default()
    }];
    steps.extend((0..length).map(|_| step(&mut dice)));
    for subject in Subject::ALL {
        steps.extend(NAMES.map(|name| plain("GET", &format!("{}/{name}", subject.path()))));
    }
    let watch = "watch=true&resourceVersion={then}&timeoutSeconds=1";
    steps.push(plain("GET", &format!("{}?{watch}", watched.path())));
    Case {
        name: format!("random-{seed}"),
        about: format!("The sequence of seed {seed}."),
        steps,
        ..Case::default()
    }
}

fn plain(method: &str, path: &str) -> Step {
    Step {
        request: format!("{method} {path}"),
        ..Step::default()
    }
}

fn step(dice: &mut Dice) -> Step {
    let subject = dice.one_of(&Subject::ALL);
    let name = dice.one_of(&NAMES);
    let writer = dice.one_of(&WRITERS);
    let at = format!("{}/{name}?fieldManager={writer}", subject.path());
    let mut step = match dice.below(22) {
        0..=3 => Step {
            body: Some(subject.object(name, dice)),
            ..plain("POST", &format!("{}?fieldManager={writer}", subject.path()))
        },
        4..=6 => replacement(&at, subject, name, dice),
        7..=9 => patch(&at, PatchType::Merge, merge(subject, dice)),
        10 | 11 => patch(&at, PatchType::Json, subject.operations(dice)),
        12 => patch(&at, PatchType::Strategic, subject.partial(dice)),
        13..=16 => applied(&at, subject, name, dice),
        17 => {
            let path = format!("{}/{name}/status?fieldManager={writer}", subject.path());
            let seen = json!({"status": {"seen": dice.below(3), "replicas": 1}});
            patch(&path, PatchType::Merge, seen)
        }
        18 | 19 => deletion(subject, name, dice),
        // Removes the finalizers of a terminating object.
        _ => patch(
            &at,
            PatchType::Merge,
            json!({"metadata": {"finalizers": null}}),
        ),
    };
    // Later steps use these values.
    step.keep = BTreeMap::from([
        (
            key("rv", subject, name),
            "/metadata/resourceVersion".to_owned(),
        ),
        (key("uid", subject, name), "/metadata/uid".to_owned()),
    ]);
    step
}

/// The name of a saved value of an object.
fn key(what: &str, subject: Subject, name: &str) -> String {
    format!("{what}-{subject:?}-{name}")
}

fn patch(path: &str, kind: PatchType, body: Value) -> Step {
    Step {
        patch: Some(kind),
        body: Some(body),
        ..plain("PATCH", path)
    }
}

/// A PUT, often with the last known revision, sometimes with an old one.
fn replacement(at: &str, subject: Subject, name: &str, dice: &mut Dice) -> Step {
    let mut body = subject.object(name, dice);
    let version = match dice.below(6) {
        0 | 1 => None,
        2 => Some("1".to_owned()),
        _ => Some(format!("{{{}}}", key("rv", subject, name))),
    };
    if let Some(version) = version {
        body["metadata"]["resourceVersion"] = json!(version);
    }
    Step {
        body: Some(body),
        ..plain("PUT", at)
    }
}

/// A merge patch, which sometimes removes fields.
fn merge(subject: Subject, dice: &mut Dice) -> Value {
    let mut body = subject.partial(dice);
    match dice.below(6) {
        0 => body["metadata"]["finalizers"] = Value::Null,
        1 => body["metadata"]["labels"] = json!({"one": null}),
        2 => body["metadata"]["annotations"] = json!({"note": dice.one_of(&["m", "n"])}),
        _ => {}
    }
    body
}

fn applied(at: &str, subject: Subject, name: &str, dice: &mut Dice) -> Step {
    let force = if dice.is_one_in(2) { "&force=true" } else { "" };
    let mut body = if dice.is_one_in(2) {
        subject.object(name, dice)
    } else {
        subject.partial(dice)
    };
    body["metadata"]["name"] = json!(name);
    patch(&format!("{at}{force}"), PatchType::Apply, body)
}

fn deletion(subject: Subject, name: &str, dice: &mut Dice) -> Step {
    let saved = |what: &str| format!("{{{}}}", key(what, subject, name));
    let body = match dice.below(8) {
        0 => json!({"propagationPolicy": "Foreground"}),
        1 => json!({"propagationPolicy": "Orphan"}),
        2 => json!({"preconditions": {"uid": saved("uid")}}),
        3 => json!({"preconditions": {"uid": UNUSED_UID}}),
        4 => json!({"preconditions": {"resourceVersion": saved("rv")}}),
        _ => json!({}),
    };
    Step {
        body: Some(body),
        ..plain("DELETE", &format!("{}/{name}", subject.path()))
    }
}

#[cfg(test)]
mod tests {
    use super::{definition, sequence};

    #[test]
    fn sequence_depends_on_the_seed_only() {
        let shown = |seed: u64| sequence(seed, 25).to_string();
        assert_eq!(shown(7), shown(7));
        assert_ne!(shown(7), shown(8));
        // A list first; three kinds of two names and a watch at the end.
        assert_eq!(sequence(7, 25).steps.len(), 1 + 25 + 6 + 1);
    }

    #[test]
    fn seeds_cover_every_kind_of_request() {
        let all: Vec<String> = (0..20).map(|seed| sequence(seed, 25).to_string()).collect();
        let all = all.join("\n");
        for part in [
            "POST /api/v1",
            "PUT /apis/apps",
            "patch: merge",
            "patch: json",
            "patch: strategic",
            "patch: apply",
            "DELETE /apis/random",
            "force=true",
            "fieldManager=red",
            "fieldManager=blue",
            "\"{rv-",
            "\"{uid-",
            "/status?",
        ] {
            assert!(all.contains(part), "{part}");
        }
        assert!(definition().to_string().contains("things.random.case.dev"));
    }
}
