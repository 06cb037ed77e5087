use kubewright_manifest::to_yaml;
use serde_json::{Value, json};

use super::module_path::{is_reachable, module_path, private_module};
use super::registration::{Registration, add_test, register};
use crate::error::Error;
use crate::objects::read_folder;
use crate::output::note;
use crate::output_format::OutputFormat;
use crate::project::{Changes, Project, count_files, fill, module_name};
use crate::source::{DerivedKind, Source, Tree, Twin, formatted, twin};

/// Another version of a kind that a project has.
#[derive(Debug)]
pub(super) struct NewVersion<'a> {
    pub(super) project: &'a Project,
    pub(super) tree: &'a Tree,
    /// The version that is stored, and the file that has it.
    pub(super) hub: (&'a Source, &'a DerivedKind),
    /// The new one.
    pub(super) version: &'a str,
    /// How to answer.
    pub(super) form: OutputFormat,
}

/// The version that all others are converted to: the one that is not in a file named after its
/// version, as those are that were added to it.
pub(super) fn hub_of<'a>(
    found: &'a [(&'a Source, DerivedKind)],
) -> Option<(&'a Source, &'a DerivedKind)> {
    let is_added = |file: &Source, kind: &DerivedKind| {
        let stem = file.path.file_stem().map(|stem| stem.to_string_lossy());
        stem.is_some_and(|stem| stem.ends_with(&format!("_{}", kind.version)))
    };
    let mut hubs = found
        .iter()
        .filter(|(file, kind)| found.len() == 1 || !is_added(file, kind));
    let (file, kind) = hubs.next()?;
    hubs.next().is_none().then_some((*file, kind))
}

impl NewVersion<'_> {
    /// Adds the type, the conversion, a sample and a test.
    pub(super) fn add(&self) -> Result<(), Error> {
        let (file, hub) = self.hub;
        let path = module_path(&self.project.folder, file);
        let version = format!("{}/{} {}", hub.group, self.version, hub.kind);
        if let Some(private) = private_module(self.tree, &self.project.folder, &path) {
            return Err(Error::NoVersion {
                version,
                path: private.file,
                line: private.line,
                why: format!("`{}` is private: make it `pub(crate)`", private.name),
            });
        }
        let twin = twin(file, &path, hub, self.version).map_err(|hindrance| Error::NoVersion {
            version,
            path: file.path.clone(),
            line: hindrance.line,
            why: hindrance.why,
        })?;
        let module = format!("{}_{}", module_name(&hub.kind), self.version);
        let mut changes = Changes::default();
        let registration = Registration {
            module: &module,
            declaration: Some(&format!("pub mod {module};")),
            calls: &[".webhook({module}::converts())".to_owned()],
        };
        let by_hand = register(self.tree, &registration, &mut changes)?;
        let source = self.project.folder.join(format!("src/{module}.rs"));
        changes.make(source, formatted(&self.source(&twin, &path)));
        match self.sample()? {
            Some(sample) => self.add_sample(&sample, (&module, &path), &twin, &mut changes)?,
            None => note(format_args!(
                "no test and no sample: samples/ has no {} of {} to make them from",
                hub.kind, hub.version
            )),
        }
        let written = changes.write(&self.project.folder, self.form)?;
        if let Some(by_hand) = by_hand {
            return Err(by_hand.into_error());
        }
        let count = count_files(&self.project.folder);
        let next = format!(
            "{} stays the version that is stored; next: change the fields of {} and the two \
             functions below them, then cargo test",
            hub.version, self.version
        );
        written.answer(count, &next)
    }

    fn source(&self, twin: &Twin, path: &str) -> String {
        let (_, hub) = self.hub;
        let mut imports = twin.imports.clone();
        imports.sort();
        imports.dedup();
        let fields = twin.fields.iter();
        let fields: Vec<String> = fields
            .map(|field| format!("{field}: object.spec.{field}"))
            .collect();
        let status = match twin.has_status {
            true => "status: object.status,",
            false => "",
        };
        let text = fill(
            include_str!("../../templates/version.rs.txt"),
            &[("converts", include_str!("../../templates/converts.rs.txt"))],
        );
        fill(
            &text,
            &[
                ("header", &self.project.header()),
                ("Kind", &hub.kind),
                ("version", self.version),
                ("hub", &hub.version),
                ("imports", &imports.join("\n")),
                ("path", path),
                ("HubSpec", &twin.name),
                ("Spec", &twin.name),
                ("to_hub", &fields.join(", ")),
                ("from_hub", &fields.join(", ")),
                ("status", status),
                // The user's own text, whatever it has: last.
                ("item", &twin.item),
            ],
        )
    }

    /// A sample of the version that is there.
    fn sample(&self) -> Result<Option<Value>, Error> {
        let folder = self.project.folder.join("samples");
        if !folder.is_dir() {
            return Ok(None);
        }
        let (_, hub) = self.hub;
        let api_version = format!("{}/{}", hub.group, hub.version);
        let samples = read_folder(&folder)?.into_iter();
        let mut of_hub = samples.filter(|sample| {
            sample["kind"] == hub.kind.as_str() && sample["apiVersion"] == api_version.as_str()
        });
        Ok(of_hub.next())
    }

    fn add_sample(
        &self,
        sample: &Value,
        (module, path): (&str, &str),
        twin: &Twin,
        changes: &mut Changes,
    ) -> Result<(), Error> {
        let (_, hub) = self.hub;
        let mut new = sample.clone();
        let name = sample["metadata"]["name"].as_str().unwrap_or_default();
        new["apiVersion"] = json!(format!("{}/{}", hub.group, self.version));
        new["metadata"]["name"] = json!(format!("{name}-{}", self.version));
        let text = to_yaml(&[new]).map_err(|source| Error::Manifest { source })?;
        let folder = &self.project.folder;
        changes.make(folder.join(format!("samples/{module}.yaml")), text);
        if !(twin.is_public && is_reachable(self.tree, path)) {
            note(format_args!(
                "no test: a test of the crate cannot reach {path}::{}",
                hub.kind
            ));
            return Ok(());
        }
        let crate_name = self.project.crate_name();
        let test = fill(
            include_str!("../../templates/version_test.rs.txt"),
            &[
                ("header", &self.project.header()),
                ("Kind", &hub.kind),
                ("version", self.version),
                ("hub", &hub.version),
                ("hub_path", &path.replacen("crate", &crate_name, 1)),
                ("crate", &crate_name),
                ("module", module),
                ("sample", &format!("{sample:#}")),
            ],
        );
        add_test(folder, self.tree, module, formatted(&test), changes)
    }
}
