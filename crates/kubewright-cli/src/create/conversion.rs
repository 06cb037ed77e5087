//! `kubewright create webhook --conversion`: conversions for existing versions of a kind.

use super::module_path::module_path;
use super::registration::{Registration, register};
use super::version::{StoredVersion, stored_version};
use crate::error::Error;
use crate::output_format::OutputFormat;
use crate::project::{Changes, Project, WrittenFiles, fill};
use crate::source::{
    DerivedKind, Source, Tree, TypeCopy, copy_type, formatted_like, has_function, with_items,
};

/// The conversions that were added.
#[derive(Debug)]
pub(super) struct AddedConversions {
    pub(super) written: WrittenFiles,
    /// The next step for the user.
    pub(super) next: String,
}

/// Adds a conversion to the file of each version of the kind that has none.
pub(super) fn add_conversions(
    project: &Project,
    tree: &Tree,
    kind: &str,
    format: OutputFormat,
) -> Result<AddedConversions, Error> {
    let versions = tree.deriving(kind);
    if versions.len() < 2 {
        return Err(Error::KubebuilderCommand {
            typed: "create webhook --conversion".to_owned(),
            replacement: "kubewright create api with another --version of the kind, \
                          which also adds the conversion"
                .to_owned(),
        });
    }
    let stored = stored_version(&versions).ok_or_else(|| Error::CannotAddVersion {
        version: format!("the conversion of {kind}"),
        path: project.folder.join("src"),
        line: 1,
        reason: "its stored version cannot be determined".to_owned(),
    })?;
    let mut unconverted: Vec<_> = versions
        .iter()
        .filter(|(_, version)| version != stored.kind)
        .collect();
    unconverted.retain(|(file, _)| !has_function(file, "converts"));
    if unconverted.is_empty() {
        let mut converted = versions
            .iter()
            .filter(|(file, _)| has_function(file, "converts"));
        return Err(Error::WebhookExists {
            kind: format!("{kind} with --conversion"),
            path: converted
                .next()
                .map_or(&stored.file.path, |(file, _)| &file.path)
                .clone(),
        });
    }
    let mut changes = Changes::default();
    let mut files = Vec::new();
    let mut modules = Vec::new();
    for (file, version) in unconverted {
        files.push(relative_path(project, file));
        modules.push(add_conversion(
            project,
            stored,
            file,
            version,
            &mut changes,
        )?);
    }
    let calls = modules.iter().map(|module| {
        let inner = module.strip_prefix("crate::").unwrap_or(module);
        format!(".webhook({{module}}{inner}::converts())")
    });
    let registration = Registration {
        module: "",
        declaration: None,
        calls: &calls.collect::<Vec<_>>(),
    };
    let by_hand = register(tree, &registration, &mut changes)?;
    let written = changes.write(&project.folder, format)?;
    if let Some(by_hand) = by_hand {
        return Err(by_hand.into_error());
    }
    let next = format!(
        "{} remains the stored version; next: review `to_hub` and `from_hub` in {}, then cargo test",
        stored.kind.version,
        files.join(" and ")
    );
    Ok(AddedConversions { written, next })
}

fn relative_path(project: &Project, file: &Source) -> String {
    let path = file.path.strip_prefix(&project.folder);
    path.unwrap_or(&file.path).display().to_string()
}

/// Adds two functions, from a version to the stored one and back, and returns the module of the
/// version.
fn add_conversion(
    project: &Project,
    stored: StoredVersion<'_>,
    file: &Source,
    version: &DerivedKind,
    changes: &mut Changes,
) -> Result<String, Error> {
    let copy = |file: &Source, kind: &DerivedKind, module: &str| {
        copy_type(file, module, kind, &kind.version).map_err(|error| Error::CannotAddVersion {
            version: format!(
                "the conversion of {}/{} {}",
                kind.group, kind.version, kind.kind
            ),
            path: file.path.clone(),
            line: error.line,
            reason: error.reason,
        })
    };
    let hub_module = module_path(&project.folder, stored.file);
    let module = module_path(&project.folder, file);
    let hub = copy(stored.file, stored.kind, &hub_module)?;
    let own = copy(file, version, &module)?;
    let status = if hub.has_status && own.has_status {
        "status: object.status,"
    } else {
        ""
    };
    let conversion = fill(
        include_str!("../../templates/converts.rs.txt"),
        &[
            ("Kind", &version.kind),
            ("path", &hub_module),
            ("HubSpec", &hub.name),
            ("Spec", &own.name),
            ("to_hub", &fields(&hub, &own)),
            ("from_hub", &fields(&own, &hub)),
            ("status", status),
        ],
    );
    let text = with_items(file, &format!("\n{conversion}"), "");
    changes.edit(&file.path, formatted_like(&file.text, text));
    Ok(module)
}

/// Returns the fields of one version, set from the other; a field that the other does not have is
/// set to its default.
fn fields(of: &TypeCopy, from: &TypeCopy) -> String {
    let fields = of.fields.iter().map(|field| {
        if from.fields.contains(field) {
            format!("{field}: object.spec.{field}")
        } else {
            format!("{field}: Default::default()")
        }
    });
    fields.collect::<Vec<_>>().join(", ")
}
