//! The kinds of objects in random sequences.

use serde_json::{Map, Value, json};

use super::dice::Dice;

/// A kind of the objects that sequences write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    ConfigMap,
    Deployment,
    /// A custom resource of the definition in [`definition`](super::definition).
    Thing,
}

impl Subject {
    pub(super) const ALL: [Self; 3] = [Self::ConfigMap, Self::Deployment, Self::Thing];

    /// The path of its collection.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::ConfigMap => "/api/v1/namespaces/{ns}/configmaps",
            Self::Deployment => "/apis/apps/v1/namespaces/{ns}/deployments",
            Self::Thing => "/apis/random.case.dev/v1/namespaces/{ns}/things",
        }
    }

    /// A whole object, which is valid in most cases.
    pub(super) fn object(self, name: &str, dice: &mut Dice) -> Value {
        let mut object = self.partial(dice);
        object["metadata"]["name"] = json!(name);
        if dice.is_one_in(5) {
            object["metadata"]["finalizers"] = json!(["example.com/hold"]);
        }
        if self == Self::Deployment {
            let labels = json!({"app": name});
            object["spec"]["selector"] = json!({"matchLabels": labels});
            object["spec"]["template"]["metadata"]["labels"] = labels;
        }
        object
    }

    /// Some fields of an object without its name, for a patch or an apply.
    pub(super) fn partial(self, dice: &mut Dice) -> Value {
        let (version, kind) = match self {
            Self::ConfigMap => ("v1", "ConfigMap"),
            Self::Deployment => ("apps/v1", "Deployment"),
            Self::Thing => ("random.case.dev/v1", "Thing"),
        };
        let mut object = json!({"apiVersion": version, "kind": kind, "metadata": {}});
        let labels = words(dice, &["one", "two"], &["x", "y"]);
        if !labels.is_empty() {
            object["metadata"]["labels"] = Value::Object(labels);
        }
        match self {
            Self::ConfigMap => {
                let keys = ["a", "b", "c"];
                object["data"] = Value::Object(words(dice, &keys, &["1", "2", "3"]));
                if dice.is_one_in(12) {
                    object["data"]["not a key"] = json!("x");
                }
                if dice.is_one_in(12) {
                    object["immutable"] = json!(true);
                }
            }
            Self::Deployment => object["spec"] = deployment(dice),
            Self::Thing => object["spec"] = thing(dice),
        }
        object
    }

    /// A JSON patch of one or two operations.
    pub(super) fn operations(self, dice: &mut Dice) -> Value {
        let paths: &[&str] = match self {
            Self::ConfigMap => &["/data/a", "/data/b", "/data"],
            Self::Deployment => &[
                "/spec/replicas",
                "/spec/template/spec/containers/0/image",
                "/spec/template/spec/containers/1",
            ],
            Self::Thing => &[
                "/spec/size",
                "/spec/settings/a",
                "/spec/tags/0",
                "/spec/tags/-",
            ],
        };
        let count = 1 + dice.below(2);
        let operations = (0..count).map(|_| {
            let path = if dice.is_one_in(4) {
                "/metadata/labels/one"
            } else {
                dice.one_of(paths)
            };
            let value = match path {
                "/spec/replicas" | "/spec/size" => json!(dice.below(4)),
                "/data" => json!({"a": "9"}),
                "/spec/template/spec/containers/1" => json!({"name": "more", "image": "img:3"}),
                _ => json!(dice.one_of(&["p", "q"])),
            };
            match dice.one_of(&["add", "replace", "remove", "test"]) {
                "remove" => json!({"op": "remove", "path": path}),
                operation => json!({"op": operation, "path": path, "value": value}),
            }
        });
        Value::Array(operations.collect())
    }
}

/// Some of the keys, with random values.
fn words(dice: &mut Dice, keys: &[&str], values: &[&str]) -> Map<String, Value> {
    let keys = dice.some_of(keys);
    keys.into_iter()
        .map(|key| (key.to_owned(), json!(dice.one_of(values))))
        .collect()
}

fn deployment(dice: &mut Dice) -> Value {
    let names: &[&str] = match dice.below(3) {
        0 => &["main", "side"],
        1 => &["side", "main"],
        _ => &["main"],
    };
    let containers: Vec<Value> = names
        .iter()
        .map(|name| {
            let image = dice.one_of(&["img:1", "img:2"]);
            let mut container = json!({"name": name, "image": image});
            let env: Vec<Value> = dice
                .some_of(&["A", "B"])
                .into_iter()
                .map(|name| json!({"name": name, "value": dice.one_of(&["1", "2"])}))
                .collect();
            if !env.is_empty() {
                container["env"] = Value::Array(env);
            }
            if dice.is_one_in(3) {
                container["ports"] = json!([{"containerPort": 80 + dice.below(2)}]);
            }
            container
        })
        .collect();
    let mut spec = json!({"template": {"metadata": {}, "spec": {"containers": containers}}});
    if dice.is_one_in(2) {
        spec["replicas"] = json!(dice.below(4));
    }
    if dice.is_one_in(8) {
        spec["minReadySeconds"] = json!(-1);
    }
    if dice.is_one_in(6) {
        spec["strategy"] = json!({"type": "Recreate"});
    }
    spec
}

fn is_repeated(tags: &[&str]) -> bool {
    tags.iter().filter(|tag| **tag == "red").count() > 1
}

fn thing(dice: &mut Dice) -> Value {
    let mut spec = json!({});
    if dice.is_one_in(2) {
        // Four is invalid.
        spec["size"] = json!(1 + dice.below(4));
    }
    if dice.is_one_in(2) {
        spec["settings"] = Value::Object(words(dice, &["a", "b"], &["s", "t"]));
    }
    let tags = dice.some_of(&["red", "green", "red"]);
    if !tags.is_empty() {
        spec["tags"] = json!(tags);
    }
    let parts: Vec<Value> = dice
        .some_of(&["left", "right"])
        .into_iter()
        .map(|name| json!({"name": name, "count": dice.below(3)}))
        .collect();
    if !parts.is_empty() {
        spec["parts"] = Value::Array(parts);
    }
    // An apply reports the fields up to the first unknown one, in the random order of Go's maps:
    // with a second fault the response would be random.
    if dice.is_one_in(8) && !is_repeated(&tags) {
        spec["unknown"] = json!("pruned");
    }
    spec
}
