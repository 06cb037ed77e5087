use super::module_path::module_path;
use super::registration::{Registration, register};
use super::version::hub_of;
use crate::error::Error;
use crate::output_format::OutputFormat;
use crate::project::{Changes, Project, Written, fill};
use crate::source::{
    DerivedKind, Source, Tree, Twin, formatted_like, has_function, twin, with_items,
};

/// Adds the conversion between the versions of a kind that a project has, to the file of each
/// version that has none.
pub(super) fn add(
    project: &Project,
    tree: &Tree,
    kind: &str,
    form: OutputFormat,
) -> Result<Added, Error> {
    let found = tree.deriving(kind);
    if found.len() < 2 {
        return Err(Error::FormerCommand {
            typed: "create webhook --conversion".to_owned(),
            ours: "kubewright create api with another --version of the kind, \
                   which adds the conversion, too"
                .to_owned(),
        });
    }
    let hub = hub_of(&found).ok_or_else(|| Error::NoVersion {
        version: format!("the conversion of {kind}"),
        path: project.folder.join("src"),
        line: 1,
        why: "nobody can tell which of its versions is the one that is stored".to_owned(),
    })?;
    let others = found.iter().filter(|(_, one)| one != hub.1);
    let mut others: Vec<_> = others.collect();
    others.retain(|(file, _)| !has_function(file, "converts"));
    if others.is_empty() {
        let mut with = found
            .iter()
            .filter(|(file, _)| has_function(file, "converts"));
        return Err(Error::WebhookIsThere {
            kind: format!("{kind} with --conversion"),
            path: with
                .next()
                .map_or(&hub.0.path, |(file, _)| &file.path)
                .clone(),
        });
    }
    let mut changes = Changes::default();
    let mut texts = Vec::new();
    let mut modules = Vec::new();
    for (file, other) in others {
        texts.push(shown(project, file));
        modules.push(add_to(project, hub, (file, other), &mut changes)?);
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
    let written = changes.write(&project.folder, form)?;
    if let Some(by_hand) = by_hand {
        return Err(by_hand.into_error());
    }
    let next = format!(
        "{} stays the version that is stored; next: look at `to_hub` and `from_hub` in {}, then \
         cargo test",
        hub.1.version,
        texts.join(" and ")
    );
    Ok(Added { written, next })
}

/// What was added, and what to do next.
#[derive(Debug)]
pub(super) struct Added {
    pub(super) written: Written,
    pub(super) next: String,
}

fn shown(project: &Project, file: &Source) -> String {
    let path = file.path.strip_prefix(&project.folder);
    path.unwrap_or(&file.path).display().to_string()
}

/// Adds two functions, from a version to the stored one and back, and returns its module.
fn add_to(
    project: &Project,
    hub: (&Source, &DerivedKind),
    (file, other): (&Source, &DerivedKind),
    changes: &mut Changes,
) -> Result<String, Error> {
    let path = module_path(&project.folder, hub.0);
    let read = |file: &Source, kind: &DerivedKind, path: &str| {
        twin(file, path, kind, &kind.version).map_err(|hindrance| Error::NoVersion {
            version: format!(
                "the conversion of {}/{} {}",
                kind.group, kind.version, kind.kind
            ),
            path: file.path.clone(),
            line: hindrance.line,
            why: hindrance.why,
        })
    };
    let module = module_path(&project.folder, file);
    let (stored, own) = (read(hub.0, hub.1, &path)?, read(file, other, &module)?);
    let status = match stored.has_status && own.has_status {
        true => "status: object.status,",
        false => "",
    };
    let text = fill(
        include_str!("../../templates/converts.rs.txt"),
        &[
            ("Kind", &other.kind),
            ("path", &path),
            ("HubSpec", &stored.name),
            ("Spec", &own.name),
            ("to_hub", &fields(&stored, &own)),
            ("from_hub", &fields(&own, &stored)),
            ("status", status),
        ],
    );
    let text = with_items(file, &format!("\n{text}"), "");
    changes.edit(&file.path, formatted_like(&file.text, text));
    Ok(module)
}

/// The fields of one version out of the other's; one that the other has not begins empty.
fn fields(of: &Twin, from: &Twin) -> String {
    let fields = of
        .fields
        .iter()
        .map(|field| match from.fields.contains(field) {
            true => format!("{field}: object.spec.{field}"),
            false => format!("{field}: Default::default()"),
        });
    fields.collect::<Vec<_>>().join(", ")
}
