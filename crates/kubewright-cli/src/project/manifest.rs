//! The `Cargo.toml` of a project.

use std::path::{Path, PathBuf};

use crate::error::Error;

/// A project, as its `Cargo.toml` describes it.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    pub(crate) folder: PathBuf,
    pub(crate) name: String,
    pub(crate) domain: String,
    license: Option<String>,
    owner: Option<String>,
}

impl Project {
    /// Reads the `Cargo.toml` in the folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join("Cargo.toml");
        let text = std::fs::read_to_string(&path).map_err(|source| Error::NoProject {
            folder: folder.to_owned(),
            source,
        })?;
        let manifest: toml::Table = text.parse().map_err(|source| Error::CargoToml {
            path: path.clone(),
            source: Box::new(source),
        })?;
        let package = manifest.get("package");
        let string =
            |value: Option<&toml::Value>| value.and_then(toml::Value::as_str).map(str::to_owned);
        let field = |name: &str| package.and_then(|package| package.get(name));
        let metadata = field("metadata").and_then(|metadata| metadata.get("kubewright"));
        let name = string(field("name")).ok_or(Error::NotAPackage { path })?;
        Ok(Self {
            folder: folder.to_owned(),
            name,
            domain: string(metadata.and_then(|metadata| metadata.get("domain")))
                .unwrap_or_else(|| DEFAULT_DOMAIN.to_owned()),
            license: string(field("license")),
            owner: string(field("authors").and_then(|authors| authors.get(0))),
        })
    }

    /// Returns the name of the crate in Rust code.
    pub(crate) fn crate_name(&self) -> String {
        self.name.replace('-', "_")
    }

    /// Returns the header of each new Rust file.
    pub(crate) fn header(&self) -> String {
        header(self.license.as_deref(), self.owner.as_deref())
    }
}

/// The domain of a project that does not set one.
pub(crate) const DEFAULT_DOMAIN: &str = "example.com";

/// Returns the copyright header of a Rust file; it is empty without an owner.
pub(crate) fn header(license: Option<&str>, owner: Option<&str>) -> String {
    let Some(owner) = owner else {
        return String::new();
    };
    let license = license.map(|license| format!("\n// SPDX-License-Identifier: {license}"));
    format!("// Copyright {owner}{}\n", license.unwrap_or_default())
}
