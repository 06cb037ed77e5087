use kube::Api;
use kube::api::{DynamicObject, ListParams, PostParams};
use kubewright_apiserver::{Server, ServerOptions, User};
use serde_json::{Value, json};

use super::definition_changes::resource_in;
use crate::error::Error;

/// How many objects are read at once.
const PAGE: u32 = 500;
/// How many objects that break are named; the rest is counted.
const NAMED: usize = 10;

/// Tries each object of a version, as the cluster has it, on the definition that is to come: an
/// API server in this process is given that definition and asked to take the object. One line for
/// each that it refuses, or that loses fields; nothing where no trial is possible, as in a version
/// that is no longer served.
///
/// # Cancel safety
///
/// Safe: the cluster is only read.
pub(super) async fn broken(
    client: &kube::Client,
    live: &Value,
    definition: &Value,
    version: &str,
) -> Result<Option<Vec<String>>, Error> {
    let is_served = |crd: &Value| version_of(crd, version).is_some_and(|one| one["served"] == true);
    if !is_served(live) || !is_served(definition) {
        return Ok(None);
    }
    let Some(trial) = Trial::start(definition, version).await else {
        return Ok(None);
    };
    let there: Api<DynamicObject> = Api::all_with(client.clone(), &resource_in(live, version));
    let mut lines = Vec::new();
    let mut page = ListParams::default().limit(PAGE);
    loop {
        let list = there.list(&page).await.map_err(|source| Error::Request {
            action: format!("list the objects of {}", live["metadata"]["name"]),
            source: Box::new(source),
        })?;
        for object in &list.items {
            match trial.outcome(object).await {
                Outcome::Whole => {}
                Outcome::Broken(why) => lines.push(format!("  {}: {why}", name_of(object))),
                Outcome::Unknown => return Ok(None),
            }
        }
        let Some(next) = list.metadata.continue_.filter(|next| !next.is_empty()) else {
            break;
        };
        page = page.continue_token(&next);
    }
    Ok(Some(shortened(lines)))
}

/// What a definition makes of an object.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    /// It is valid, and nothing of it goes.
    Whole,
    Broken(String),
    /// The server in this process does not have what is needed to tell.
    Unknown,
}

/// An API server that has one version of the definition that is to come.
struct Trial {
    objects: Api<DynamicObject>,
}

impl Trial {
    /// Nothing when the server does not take the definition: the cluster tells why.
    async fn start(definition: &Value, version: &str) -> Option<Self> {
        let server = Server::new(ServerOptions::default());
        let client = kube::Client::new(server.service(User::admin()), "default");
        let alone = serde_json::from_value(alone(definition, version)?).ok()?;
        let crds = resource_in(
            &json!({"spec": {"group": "apiextensions.k8s.io", "names": {
                "kind": "CustomResourceDefinition", "plural": "customresourcedefinitions",
            }}}),
            "v1",
        );
        let crds: Api<DynamicObject> = Api::all_with(client.clone(), &crds);
        crds.create(&PostParams::default(), &alone).await.ok()?;
        let resource = resource_in(definition, version);
        let objects = match definition["spec"]["scope"] == "Namespaced" {
            true => Api::default_namespaced_with(client, &resource),
            false => Api::all_with(client, &resource),
        };
        Some(Self { objects })
    }

    async fn outcome(&self, object: &DynamicObject) -> Outcome {
        let tried = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        match self.objects.create(&tried, &copy_of(object)).await {
            Ok(stored) => match lost(&object.data, &stored.data, "") {
                Some(path) => Outcome::Broken(format!("{path} would be dropped")),
                None => Outcome::Whole,
            },
            Err(kube::Error::Api(status)) if matches!(status.code, 400 | 422) => {
                Outcome::Broken(reason(&status))
            }
            Err(_) => Outcome::Unknown,
        }
    }
}

/// The causes of a refusal, or its message where it has none.
fn reason(status: &kube::core::Status) -> String {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let causes: Vec<String> = causes
        .map(|cause| format!("{}: {}", cause.field, cause.message))
        .collect();
    match causes.is_empty() {
        true => status.message.clone(),
        false => causes.join("; "),
    }
}

/// The object without what its server wrote, in the namespace of the trial.
fn copy_of(object: &DynamicObject) -> DynamicObject {
    let mut copy = object.clone();
    copy.metadata = kube::core::ObjectMeta {
        name: object.metadata.name.clone(),
        ..kube::core::ObjectMeta::default()
    };
    copy
}

/// The definition with one version alone, which nobody has to convert; without the subresource, a
/// status is a field like any other.
fn alone(definition: &Value, version: &str) -> Option<Value> {
    let mut only = version_of(definition, version)?.clone();
    only["storage"] = true.into();
    only.as_object_mut()?.remove("subresources");
    let mut spec = definition["spec"].clone();
    spec["versions"] = json!([only]);
    spec.as_object_mut()?.remove("conversion");
    Some(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": definition["metadata"]["name"]}, "spec": spec,
    }))
}

fn version_of<'a>(definition: &'a Value, name: &str) -> Option<&'a Value> {
    let versions = definition["spec"]["versions"].as_array()?;
    versions.iter().find(|version| version["name"] == name)
}

/// The first field that is no longer there.
fn lost(before: &Value, after: &Value, path: &str) -> Option<String> {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => before.iter().find_map(|(name, value)| {
            let inner = format!("{path}.{name}");
            match after.get(name) {
                Some(stored) => lost(value, stored, &inner),
                // Null says the same as nothing.
                None => (!value.is_null()).then_some(inner),
            }
        }),
        (Value::Array(before), Value::Array(after)) => {
            let mut pairs = before.iter().zip(after).enumerate();
            pairs.find_map(|(at, (value, stored))| lost(value, stored, &format!("{path}[{at}]")))
        }
        _ => None,
    }
}

fn name_of(object: &DynamicObject) -> String {
    let metadata = &object.metadata;
    let name = metadata.name.as_deref().unwrap_or_default();
    match &metadata.namespace {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    }
}

fn shortened(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(NAMED);
    if more > 0 {
        lines.truncate(NAMED);
        lines.push(format!("  and {more} more"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use kube::api::DynamicObject;
    use serde_json::{Value, json};

    use super::{NAMED, Outcome, Trial, shortened};

    /// A definition in two versions, with a status and a webhook that converts.
    fn definition(fields: Value) -> Value {
        let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "properties": fields},
            "status": {"type": "object", "properties": {"phase": {"type": "string", "maxLength": 3}}},
        }}});
        let version = |name: &str, storage: bool| {
            json!({"name": name, "served": true, "storage": storage, "schema": schema,
                "subresources": {"status": {}}})
        };
        json!({"metadata": {"name": "sites.web.example.com"}, "spec": {
            "group": "web.example.com", "scope": "Namespaced",
            "names": {"kind": "Site", "plural": "sites"},
            "versions": [version("v1", false), version("v2", true)],
            "conversion": {"strategy": "Webhook"},
        }})
    }

    fn site(spec: Value, phase: &str) -> DynamicObject {
        let site = json!({
            "apiVersion": "web.example.com/v1", "kind": "Site",
            "metadata": {"name": "a", "namespace": "far", "uid": "1", "resourceVersion": "9"},
            "spec": spec, "status": {"phase": phase},
        });
        serde_json::from_value(site).expect("an object")
    }

    #[tokio::test]
    async fn an_object_breaks_when_it_is_refused_or_loses_a_field() {
        let fields = json!({"size": {"type": "integer", "x-kubernetes-validations": [
            {"rule": "self < 5", "message": "too big"},
        ]}});
        let trial = Trial::start(&definition(fields), "v1")
            .await
            .expect("a trial");
        let broken = |why: &str| Outcome::Broken(why.to_owned());
        for (spec, phase, outcome) in [
            (json!({"size": 4, "note": null}), "Up", Outcome::Whole),
            (
                json!({"size": 4, "note": "x"}),
                "Up",
                broken(".spec.note would be dropped"),
            ),
        ] {
            assert_eq!(trial.outcome(&site(spec, phase)).await, outcome);
        }
        for (spec, phase, part) in [
            (
                json!({"size": 5}),
                "Up",
                "spec.size: Invalid value: 5: too big",
            ),
            (json!({"size": 1}), "Long", "status.phase: "),
        ] {
            let Outcome::Broken(why) = trial.outcome(&site(spec, phase)).await else {
                panic!("{part} is no fault");
            };
            assert!(why.contains(part), "{why}");
        }
    }

    #[test]
    fn of_many_that_break_some_are_named_and_the_rest_is_counted() {
        let lines: Vec<String> = (0..NAMED + 2).map(|at| at.to_string()).collect();
        let shown = shortened(lines);
        assert_eq!(shown.len(), NAMED + 1);
        assert_eq!(shown.last().map(String::as_str), Some("  and 2 more"));
    }
}
