//! Validates the objects of a cluster against a changed definition.

use kube::Api;
use kube::api::{DynamicObject, ListParams, PostParams};
use kubewright_apiserver::{Server, ServerOptions, User};
use serde_json::{Value, json};

use super::definition::{resource_in, version_of};
use crate::error::Error;

/// The number of objects per request.
const PAGE: u32 = 500;
/// The number of broken objects that are listed; the rest is counted.
const LISTED: usize = 10;

/// Validates each object of a version against the new definition, with an API server in this
/// process that has this definition. Returns one line for each object that is invalid or loses
/// fields; none when the objects cannot be validated, as in a version that is no longer served.
///
/// # Cancel safety
///
/// Safe: the cluster is only read.
pub(super) async fn broken_objects(
    client: &kube::Client,
    live: &Value,
    definition: &Value,
    version: &str,
) -> Result<Option<Vec<String>>, Error> {
    let is_served = |definition: &Value| {
        version_of(definition, version).is_some_and(|version| version["served"] == true)
    };
    if !is_served(live) || !is_served(definition) {
        return Ok(None);
    }
    let Some(server) = ValidationServer::start(definition, version).await else {
        return Ok(None);
    };
    let stored: Api<DynamicObject> = Api::all_with(client.clone(), &resource_in(live, version));
    let mut lines = Vec::new();
    let mut page = ListParams::default().limit(PAGE);
    loop {
        let list = stored.list(&page).await.map_err(|source| Error::Request {
            action: format!("list the objects of {}", live["metadata"]["name"]),
            source: Box::new(source),
        })?;
        for object in &list.items {
            match server.validate(object).await {
                Validation::Valid => {}
                Validation::Broken(reason) => {
                    lines.push(format!("  {}: {reason}", name_of(object)));
                }
                Validation::Unknown => return Ok(None),
            }
        }
        let Some(next) = list.metadata.continue_.filter(|next| !next.is_empty()) else {
            break;
        };
        page = page.continue_token(&next);
    }
    Ok(Some(shortened(lines)))
}

/// Whether an object is valid for a definition.
#[derive(Debug, PartialEq, Eq)]
enum Validation {
    /// It is valid and keeps all its fields.
    Valid,
    Broken(String),
    /// The server in this process does not support what the object needs.
    Unknown,
}

/// An API server with one version of a definition.
struct ValidationServer {
    objects: Api<DynamicObject>,
}

impl ValidationServer {
    /// Starts the server; none when it rejects the definition: the cluster then returns the reason.
    async fn start(definition: &Value, version: &str) -> Option<Self> {
        let server = Server::new(ServerOptions::default());
        let client = kube::Client::new(server.service(User::admin()), "default");
        let single = serde_json::from_value(with_one_version(definition, version)?).ok()?;
        let crd = resource_in(
            &json!({"spec": {"group": "apiextensions.k8s.io", "names": {
            "kind": "CustomResourceDefinition", "plural": "customresourcedefinitions",
            }}}),
            "v1",
        );
        let definitions: Api<DynamicObject> = Api::all_with(client.clone(), &crd);
        let created = definitions.create(&PostParams::default(), &single).await;
        created.ok()?;
        let resource = resource_in(definition, version);
        let objects = if definition["spec"]["scope"] == "Namespaced" {
            Api::default_namespaced_with(client, &resource)
        } else {
            Api::all_with(client, &resource)
        };
        Some(Self { objects })
    }

    async fn validate(&self, object: &DynamicObject) -> Validation {
        let parameters = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        match self.objects.create(&parameters, &copy_of(object)).await {
            Ok(stored) => match dropped_field(&object.data, &stored.data, "") {
                Some(path) => Validation::Broken(format!("{path} would be dropped")),
                None => Validation::Valid,
            },
            Err(kube::Error::Api(status)) if matches!(status.code, 400 | 422) => {
                Validation::Broken(reason(&status))
            }
            Err(_) => Validation::Unknown,
        }
    }
}

/// Returns the causes of a status; its message when it has none.
fn reason(status: &kube::core::Status) -> String {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let lines: Vec<String> = causes
        .map(|cause| format!("{}: {}", cause.field, cause.message))
        .collect();
    if lines.is_empty() {
        status.message.clone()
    } else {
        lines.join("; ")
    }
}

/// Returns the object without its namespace and the metadata that its server set.
fn copy_of(object: &DynamicObject) -> DynamicObject {
    let mut copy = object.clone();
    copy.metadata = kube::core::ObjectMeta {
        name: object.metadata.name.clone(),
        ..kube::core::ObjectMeta::default()
    };
    copy
}

/// Returns the definition with only this version, which needs no conversion. Without the
/// subresource, a create also validates the status.
fn with_one_version(definition: &Value, version: &str) -> Option<Value> {
    let mut single = version_of(definition, version)?.clone();
    single["storage"] = true.into();
    single.as_object_mut()?.remove("subresources");
    let mut spec = definition["spec"].clone();
    spec["versions"] = json!([single]);
    spec.as_object_mut()?.remove("conversion");
    Some(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": definition["metadata"]["name"]}, "spec": spec,
    }))
}

/// Returns the path of the first field that is missing after the write.
fn dropped_field(before: &Value, after: &Value, path: &str) -> Option<String> {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => before.iter().find_map(|(name, value)| {
            let inner = format!("{path}.{name}");
            match after.get(name) {
                Some(stored) => dropped_field(value, stored, &inner),
                // Null is equal to an absent field.
                None => (!value.is_null()).then_some(inner),
            }
        }),
        (Value::Array(before), Value::Array(after)) => {
            let mut pairs = before.iter().zip(after).enumerate();
            pairs.find_map(|(index, (value, stored))| {
                dropped_field(value, stored, &format!("{path}[{index}]"))
            })
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
    let more = lines.len().saturating_sub(LISTED);
    if more > 0 {
        lines.truncate(LISTED);
        lines.push(format!("  and {more} more"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use kube::api::DynamicObject;
    use serde_json::{Value, json};

    use super::{LISTED, Validation, ValidationServer, shortened};

    /// A definition with two versions, a status and a conversion webhook.
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
    async fn object_that_is_invalid_or_loses_a_field_is_broken() {
        let fields = json!({"size": {"type": "integer", "x-kubernetes-validations": [
            {"rule": "self < 5", "message": "too big"},
        ]}});
        let server = ValidationServer::start(&definition(fields), "v1")
            .await
            .expect("a server");
        let broken = |reason: &str| Validation::Broken(reason.to_owned());
        for (spec, phase, expected) in [
            (json!({"size": 4, "note": null}), "Up", Validation::Valid),
            (
                json!({"size": 4, "note": "x"}),
                "Up",
                broken(".spec.note would be dropped"),
            ),
        ] {
            assert_eq!(server.validate(&site(spec, phase)).await, expected);
        }
        for (spec, phase, part) in [
            (
                json!({"size": 5}),
                "Up",
                "spec.size: Invalid value: 5: too big",
            ),
            (json!({"size": 1}), "Long", "status.phase: "),
        ] {
            let Validation::Broken(reason) = server.validate(&site(spec, phase)).await else {
                panic!("{part} is not an error");
            };
            assert!(reason.contains(part), "{reason}");
        }
    }

    #[test]
    fn broken_objects_beyond_the_limit_are_counted() {
        let lines: Vec<String> = (0..LISTED + 2).map(|number| number.to_string()).collect();
        let shown = shortened(lines);
        assert_eq!(shown.len(), LISTED + 1);
        assert_eq!(shown.last().map(String::as_str), Some("  and 2 more"));
    }
}
