use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use kube::Api;
use kube::api::{ApiResource, DynamicObject};
use serde_json::Value;

use super::definition::Definition;
use super::write::module;
use crate::deploy::Access;
use crate::error::Error;
use crate::objects;
use crate::output::{note, print};
use crate::project::module_name;
use crate::source::formatted;

/// What `kubewright generate types` is called with.
#[derive(Args, Debug)]
pub(crate) struct TypesArguments {
    /// A file with definitions; - reads standard input.
    #[arg(long, short, value_name = "FILE", required_unless_present = "crd")]
    file: Option<PathBuf>,
    /// A definition in a cluster, such as certificates.cert-manager.io.
    #[arg(long, value_name = "NAME", conflicts_with = "file")]
    crd: Option<String>,
    /// The version [default: the one that is stored].
    #[arg(long)]
    version: Option<String>,
    /// Write here instead of printing; a file that is there is written anew.
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    #[command(flatten)]
    access: Access,
}

/// Writes Rust types for kinds that others define.
///
/// # Cancel safety
///
/// Safe: the file is written at the end.
pub(crate) async fn run(arguments: &TypesArguments) -> Result<(), Error> {
    let objects = match (&arguments.crd, &arguments.file) {
        (Some(name), _) => vec![from_cluster(&arguments.access, name).await?],
        (None, Some(file)) => from_file(file)?,
        (None, None) => Vec::new(),
    };
    let crds: Vec<&Value> = objects
        .iter()
        .filter(|object| object["kind"] == "CustomResourceDefinition")
        .collect();
    let version = arguments.version.as_deref();
    let definitions = crds
        .into_iter()
        .map(|crd| Definition::read(crd, version))
        .collect::<Result<Vec<_>, _>>()?;
    if definitions.is_empty() {
        return Err(Error::NoDefinition {
            origin: arguments
                .file
                .as_deref()
                .unwrap_or(Path::new("-"))
                .display()
                .to_string(),
        });
    }
    let text = formatted(&file(&definitions));
    match &arguments.to {
        None => print(&text),
        Some(path) => {
            std::fs::write(path, text).map_err(|source| Error::File {
                action: "write",
                path: path.clone(),
                source,
            })?;
            note(format_args!("wrote    {}", path.display()));
            Ok(())
        }
    }
}

/// One kind is a file of its own; several are a module each.
fn file(definitions: &[Definition<'_>]) -> String {
    let mut text = String::new();
    for definition in definitions {
        let Definition {
            group,
            version,
            kind,
            ..
        } = definition;
        let about = format!(
            "//! `{kind}` of `{group}/{version}`, made from its definition by `kubewright generate types`.\n\n"
        );
        let body = about + &module(definition);
        match definitions.len() {
            1 => text += &body,
            _ => write!(text, "pub mod {} {{\n{body}}}\n\n", module_name(kind))
                .expect("a string takes all that is written to it"),
        }
    }
    text
}

fn from_file(path: &Path) -> Result<Vec<Value>, Error> {
    let read = match path == Path::new("-") {
        true => std::io::read_to_string(std::io::stdin()),
        false => std::fs::read_to_string(path),
    };
    let text = read.map_err(|source| Error::File {
        action: "read",
        path: path.to_owned(),
        source,
    })?;
    objects::read(&path.display().to_string(), &text)
}

async fn from_cluster(access: &Access, name: &str) -> Result<Value, Error> {
    let client = access.client().await?;
    let resource = ApiResource {
        group: "apiextensions.k8s.io".to_owned(),
        version: "v1".to_owned(),
        api_version: "apiextensions.k8s.io/v1".to_owned(),
        kind: "CustomResourceDefinition".to_owned(),
        plural: "customresourcedefinitions".to_owned(),
    };
    let definitions: Api<DynamicObject> = Api::all_with(client, &resource);
    let found = definitions
        .get(name)
        .await
        .map_err(|source| Error::Request {
            action: format!("get the definition {name}: is the name PLURAL.GROUP?"),
            source: Box::new(source),
        })?;
    let mut object = found.data;
    object["kind"] = "CustomResourceDefinition".into();
    object["metadata"] = serde_json::json!({"name": name});
    Ok(object)
}
