use std::fmt;
use std::path::Path;

use kube::Api;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::discovery::{Discovery, Scope};
use serde_json::Value;

use crate::error::Error;
use crate::output::note;

/// Who the applied fields belong to.
const FIELD_MANAGER: &str = "kubewright-dev";

/// An object that was applied and is waited for.
#[derive(Debug)]
pub(crate) struct Sample {
    resource: ApiResource,
    namespace: Option<String>,
    name: String,
    reports_status: bool,
}

impl Sample {
    /// Whether the kind has a status that a controller writes.
    pub(crate) fn reports_status(&self) -> bool {
        self.reports_status
    }

    fn api(&self, client: &kube::Client) -> Api<DynamicObject> {
        match &self.namespace {
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, &self.resource),
            None => Api::all_with(client.clone(), &self.resource),
        }
    }

    /// The object as it is now.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(crate) async fn read(&self, client: &kube::Client) -> Result<Value, Error> {
        let failed = |source| Error::Request {
            action: format!("read {self}"),
            source: Box::new(source),
        };
        let object = self.api(client).get(&self.name).await.map_err(failed)?;
        serde_json::to_value(object).map_err(|source| failed(kube::Error::SerdeError(source)))
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.resource.kind)?;
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)
    }
}

/// Applies every object in the `.yaml` files of the folder, in the order of their names.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the objects applied.
pub(crate) async fn apply(client: &kube::Client, folder: &Path) -> Result<Vec<Sample>, Error> {
    let failed = |source| Error::File {
        action: "read the samples in",
        path: folder.to_owned(),
        source,
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "yaml" || extension == "yml")
        {
            files.push(path);
        }
    }
    files.sort();
    let mut objects = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).map_err(|source| Error::File {
            action: "read",
            path: file.clone(),
            source,
        })?;
        objects.extend(read(&file.display().to_string(), &text)?);
    }
    if objects.is_empty() {
        return Err(Error::NoSamples {
            folder: folder.to_owned(),
        });
    }
    let samples = apply_all(client, &objects).await?;
    for sample in &samples {
        note(format_args!("applied: {sample}"));
    }
    Ok(samples)
}

/// The objects in a text of YAML documents.
pub(crate) fn read(origin: &str, text: &str) -> Result<Vec<Value>, Error> {
    kubewright_wire::yaml::documents(text).map_err(|source| Error::Document {
        origin: origin.to_owned(),
        source,
    })
}

/// Applies the objects one after another; CustomResourceDefinitions and namespaces first.
///
/// # Cancel safety
///
/// Dropping the future may leave part of the objects applied.
pub(crate) async fn apply_all(
    client: &kube::Client,
    objects: &[Value],
) -> Result<Vec<Sample>, Error> {
    let mut ordered: Vec<&Value> = objects.iter().collect();
    ordered.sort_by_key(|object| match object["kind"].as_str() {
        Some("Namespace") => 0,
        Some("CustomResourceDefinition") => 1,
        _ => 2,
    });
    let mut known = discover(client).await?;
    let mut samples = Vec::new();
    for object in ordered {
        let sample = match resolve(&known, object) {
            Some(sample) => sample,
            None => {
                known = discover(client).await?;
                resolve(&known, object).ok_or_else(|| Error::UnknownKind {
                    object: format!("{} {}", object["apiVersion"], object["kind"]),
                })?
            }
        };
        let parameters = PatchParams::apply(FIELD_MANAGER).force();
        sample
            .api(client)
            .patch(&sample.name, &parameters, &Patch::Apply(object))
            .await
            .map_err(|source| Error::Request {
                action: format!("apply {sample}"),
                source: Box::new(source),
            })?;
        samples.push(sample);
    }
    Ok(samples)
}

async fn discover(client: &kube::Client) -> Result<Discovery, Error> {
    Discovery::new(client.clone())
        .run_aggregated()
        .await
        .map_err(|source| Error::Request {
            action: "ask the cluster which kinds it serves".to_owned(),
            source: Box::new(source),
        })
}

fn resolve(known: &Discovery, object: &Value) -> Option<Sample> {
    let (group, version) = match object["apiVersion"].as_str()?.split_once('/') {
        Some((group, version)) => (group, version),
        None => ("", object["apiVersion"].as_str()?),
    };
    let kind = kube::core::GroupVersionKind::gvk(group, version, object["kind"].as_str()?);
    let (resource, capabilities) = known.resolve_gvk(&kind)?;
    let metadata = &object["metadata"];
    let namespace = (capabilities.scope == Scope::Namespaced).then(|| {
        metadata["namespace"]
            .as_str()
            .unwrap_or("default")
            .to_owned()
    });
    Some(Sample {
        resource,
        namespace,
        name: metadata["name"].as_str()?.to_owned(),
        reports_status: capabilities
            .subresources
            .iter()
            .any(|(sub, _)| sub.plural == "status"),
    })
}
