//! The command itself: reads definitions and writes one file of types.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use kube::Api;
use kube::api::{ApiResource, DynamicObject};
use serde_json::Value;

use super::definition::Definition;
use super::write::module;
use crate::cluster_access::ClusterAccess;
use crate::error::Error;
use crate::objects;
use crate::output::{note, print};
use crate::project::module_name;
use crate::source::formatted;

/// The arguments of `kubewright generate types`.
#[derive(Args, Debug)]
pub(crate) struct TypesArguments {
    /// A file with definitions; - is standard input.
    #[arg(long, short, value_name = "FILE", required_unless_present = "crd")]
    file: Option<PathBuf>,
    /// A definition in a cluster, such as certificates.cert-manager.io.
    #[arg(long, value_name = "NAME", conflicts_with = "file")]
    crd: Option<String>,
    /// The version [default: the stored one].
    #[arg(long)]
    version: Option<String>,
    /// Write to this file instead of printing; an existing file is replaced.
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    #[command(flatten)]
    access: ClusterAccess,
}

/// Generates Rust types for kinds of other projects.
///
/// # Cancel safety
///
/// Safe: the file is written last.
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
    let text = formatted(&file_text(&definitions));
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

/// Returns the text of the file. Several kinds have a module each.
fn file_text(definitions: &[Definition<'_>]) -> String {
    let mut text = String::new();
    for definition in definitions {
        let Definition {
            group,
            version,
            kind,
            ..
        } = definition;
        let docs = format!(
            "//! `{kind}` of `{group}/{version}`, generated from its definition by `kubewright generate types`.\n\n"
        );
        let body = docs + &module(definition);
        match definitions.len() {
            1 => text += &body,
            _ => write!(text, "pub mod {} {{\n{body}}}\n\n", module_name(kind))
                .expect("writing to a string does not fail"),
        }
    }
    text
}

fn from_file(path: &Path) -> Result<Vec<Value>, Error> {
    let read = if path == Path::new("-") {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    let text = read.map_err(|source| Error::File {
        action: "read",
        path: path.to_owned(),
        source,
    })?;
    objects::read(&path.display().to_string(), &text)
}

async fn from_cluster(access: &ClusterAccess, name: &str) -> Result<Value, Error> {
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
            action: format!("get the definition {name}; its name is PLURAL.GROUP"),
            source: Box::new(source),
        })?;
    let mut object = found.data;
    object["kind"] = "CustomResourceDefinition".into();
    object["metadata"] = serde_json::json!({"name": name});
    Ok(object)
}
