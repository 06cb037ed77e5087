//! Another version of an existing kind: its type, conversion, sample and test.

use kubewright_manifest::to_yaml;
use serde_json::{Value, json};

use super::module_path::{is_reachable, module_path, private_module};
use super::registration::{Registration, add_test, register};
use crate::error::Error;
use crate::objects::read_folder;
use crate::output::note;
use crate::output_format::OutputFormat;
use crate::project::{Changes, Project, count_files, fill, module_name};
use crate::source::{DerivedKind, Source, Tree, TypeCopy, copy_type, formatted};

/// The stored version of a kind, to which all others are converted.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredVersion<'a> {
    pub(super) file: &'a Source,
    pub(super) kind: &'a DerivedKind,
}

/// Returns the stored version of a kind: the only one whose file is not named after its version,
/// as the files of versions are that were added later.
pub(super) fn stored_version<'a>(
    versions: &'a [(&'a Source, DerivedKind)],
) -> Option<StoredVersion<'a>> {
    let is_added = |file: &Source, kind: &DerivedKind| {
        let stem = file.path.file_stem().map(|stem| stem.to_string_lossy());
        stem.is_some_and(|stem| stem.ends_with(&format!("_{}", kind.version)))
    };
    let mut candidates = versions
        .iter()
        .filter(|(file, kind)| versions.len() == 1 || !is_added(file, kind));
    let (file, kind) = candidates.next()?;
    let is_only = candidates.next().is_none();
    is_only.then_some(StoredVersion { file, kind })
}

/// Another version of a kind that the project has.
#[derive(Debug)]
pub(super) struct NewVersion<'a> {
    pub(super) project: &'a Project,
    pub(super) tree: &'a Tree,
    pub(super) stored: StoredVersion<'a>,
    /// The name of the new version.
    pub(super) version: &'a str,
    pub(super) format: OutputFormat,
}

impl NewVersion<'_> {
    /// Adds the type, the conversion, a sample and a test.
    pub(super) fn add(&self) -> Result<(), Error> {
        let hub = self.stored.kind;
        let hub_module = module_path(&self.project.folder, self.stored.file);
        let copy = self.copy_stored_type(&hub_module)?;
        let module = format!("{}_{}", module_name(&hub.kind), self.version);
        let mut changes = Changes::default();
        let registration = Registration {
            module: &module,
            declaration: Some(&format!("pub mod {module};")),
            calls: &[".webhook({module}::converts())".to_owned()],
        };
        let by_hand = register(self.tree, &registration, &mut changes)?;
        let source = self.project.folder.join(format!("src/{module}.rs"));
        changes.create(source, formatted(&self.source(&copy, &hub_module)));
        match self.stored_sample()? {
            Some(sample) => {
                self.add_sample(&sample, &module, &mut changes)?;
                if copy.is_public && is_reachable(self.tree, &hub_module) {
                    let test = self.test(&sample, &module, &hub_module);
                    add_test(&self.project.folder, self.tree, &module, test, &mut changes)?;
                } else {
                    note(format_args!(
                        "no test was added: {hub_module}::{} is not public",
                        hub.kind
                    ));
                }
            }
            None => note(format_args!(
                "no sample and no test were added: samples/ has no {} of {} to copy",
                hub.kind, hub.version
            )),
        }
        let written = changes.write(&self.project.folder, self.format)?;
        if let Some(by_hand) = by_hand {
            return Err(by_hand.into_error());
        }
        let count = count_files(&self.project.folder);
        let next = format!(
            "{} remains the stored version; next: change the fields of {} and the two functions \
             below them, then cargo test",
            hub.version, self.version
        );
        written.print_summary(count, &next)
    }

    fn copy_stored_type(&self, hub_module: &str) -> Result<TypeCopy, Error> {
        let StoredVersion { file, kind } = self.stored;
        let version = format!("{}/{} {}", kind.group, self.version, kind.kind);
        if let Some(private) = private_module(self.tree, &self.project.folder, hub_module) {
            return Err(Error::CannotAddVersion {
                version,
                path: private.file,
                line: private.line,
                reason: format!("`{}` is private: make it `pub(crate)`", private.name),
            });
        }
        copy_type(file, hub_module, kind, self.version).map_err(|error| Error::CannotAddVersion {
            version,
            path: file.path.clone(),
            line: error.line,
            reason: error.reason,
        })
    }

    /// Returns the text of the new version's file.
    fn source(&self, copy: &TypeCopy, hub_module: &str) -> String {
        let hub = self.stored.kind;
        let mut imports = copy.imports.clone();
        imports.sort();
        imports.dedup();
        let fields: Vec<String> = copy
            .fields
            .iter()
            .map(|field| format!("{field}: object.spec.{field}"))
            .collect();
        let status = if copy.has_status {
            "status: object.status,"
        } else {
            ""
        };
        let template = fill(
            include_str!("../../templates/version.rs.txt"),
            &[("converts", include_str!("../../templates/converts.rs.txt"))],
        );
        fill(
            &template,
            &[
                ("header", &self.project.header()),
                ("Kind", &hub.kind),
                ("version", self.version),
                ("hub", &hub.version),
                ("imports", &imports.join("\n")),
                ("path", hub_module),
                ("HubSpec", &copy.name),
                ("Spec", &copy.name),
                ("to_hub", &fields.join(", ")),
                ("from_hub", &fields.join(", ")),
                ("status", status),
                // The user's own text comes last: it may contain `{{`.
                ("item", &copy.item),
            ],
        )
    }

    /// Returns the first sample in the stored version.
    fn stored_sample(&self) -> Result<Option<Value>, Error> {
        let folder = self.project.folder.join("samples");
        if !folder.is_dir() {
            return Ok(None);
        }
        let hub = self.stored.kind;
        let api_version = format!("{}/{}", hub.group, hub.version);
        let mut samples = read_folder(&folder)?.into_iter();
        Ok(samples.find(|sample| {
            sample["kind"] == hub.kind.as_str() && sample["apiVersion"] == api_version.as_str()
        }))
    }

    /// Adds a copy of the sample in the new version.
    fn add_sample(&self, sample: &Value, module: &str, changes: &mut Changes) -> Result<(), Error> {
        let name = sample["metadata"]["name"].as_str().unwrap_or_default();
        let mut new = sample.clone();
        new["apiVersion"] = json!(format!("{}/{}", self.stored.kind.group, self.version));
        new["metadata"]["name"] = json!(format!("{name}-{}", self.version));
        let text = to_yaml(&[new]).map_err(|source| Error::Manifest { source })?;
        let path = format!("samples/{module}.yaml");
        changes.create(self.project.folder.join(path), text);
        Ok(())
    }

    /// Returns the text of a test that writes the sample in both versions.
    fn test(&self, sample: &Value, module: &str, hub_module: &str) -> String {
        let hub = self.stored.kind;
        let crate_name = self.project.crate_name();
        formatted(&fill(
            include_str!("../../templates/version_test.rs.txt"),
            &[
                ("header", &self.project.header()),
                ("Kind", &hub.kind),
                ("version", self.version),
                ("hub", &hub.version),
                ("hub_path", &hub_module.replacen("crate", &crate_name, 1)),
                ("crate", &crate_name),
                ("module", module),
                ("sample", &format!("{sample:#}")),
            ],
        ))
    }
}
