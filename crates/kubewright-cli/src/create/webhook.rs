use std::path::PathBuf;

use clap::Args;

use super::ask::required;
use super::known;
use super::module_path::module_path;
use super::registration::{Registration, register};
use crate::error::Error;
use crate::output::{note, say};
use crate::project::{Changes, Project, check_version, count_files, fill, full_group, module_name};
use crate::source::{Tree, formatted};

/// What `kubewright create webhook` is called with.
#[derive(Args, Debug)]
pub(crate) struct WebhookArguments {
    /// The project's folder.
    #[arg(long, value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// The API group, for a kind of Kubernetes' own: core, apps, networking.k8s.io.
    #[arg(long)]
    group: Option<String>,
    /// The version, for a kind of Kubernetes' own.
    #[arg(long)]
    version: Option<String>,
    /// The kind: one of the project's, or one of Kubernetes' own.
    #[arg(long)]
    kind: Option<String>,
    #[command(flatten)]
    parts: Parts,
    /// When it is called.
    #[arg(long, value_delimiter = ',', value_enum, ignore_case = true)]
    operations: Vec<Operation>,
}

/// What the webhook does.
#[derive(Args, Debug)]
#[group(required = true, multiple = true)]
struct Parts {
    /// Fills in what a user left out.
    #[arg(long, num_args = 0, action = clap::ArgAction::Count)]
    defaulting: u8,
    /// Refuses what could not work.
    #[arg(long, action = clap::ArgAction::Count)]
    validation: u8,
    /// Turns one version of a kind into another.
    #[arg(long, action = clap::ArgAction::Count)]
    conversion: u8,
    /// kubebuilder's name of --validation.
    #[arg(long, hide = true, action = clap::ArgAction::Count)]
    programmatic_validation: u8,
}

/// When a webhook is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Operation {
    Create,
    Update,
    Delete,
    Connect,
}

impl Operation {
    fn rust_name(self) -> &'static str {
        match self {
            Self::Create => "Create",
            Self::Update => "Update",
            Self::Delete => "Delete",
            Self::Connect => "Connect",
        }
    }
}

/// Adds a webhook for a kind.
pub(crate) fn run(arguments: &WebhookArguments) -> Result<(), Error> {
    let project = Project::read(&arguments.folder)?;
    if arguments.parts.conversion > 0 {
        return Err(Error::FormerCommand {
            typed: "create webhook --conversion".to_owned(),
            ours: "kubewright create api with another --version of the kind, \
                   which adds the conversion, too"
                .to_owned(),
        });
    }
    if arguments.parts.programmatic_validation > 0 {
        note("note: --programmatic-validation is --validation here");
    }
    let kind = required("--kind", arguments.kind.as_deref())?;
    let tree = Tree::read(&project.folder)?;
    let path = path_of(arguments, &project, &tree, &kind)?;
    let module = format!("{}_webhook", module_name(&kind));
    let file = project.folder.join(format!("src/{module}.rs"));
    if file.exists() {
        return Err(Error::WebhookIsThere { kind, path: file });
    }
    let mut changes = Changes::default();
    let registration = Registration {
        module: &module,
        declaration: &format!("mod {module};"),
        calls: &calls(arguments),
    };
    let by_hand = register(&tree, &registration, &mut changes)?;
    changes.make(&file, formatted(&source(arguments, &project, &kind, &path)));
    changes.write(&project.folder)?;
    if let Some(by_hand) = by_hand {
        return Err(by_hand.into_error());
    }
    let count = count_files(&project.folder);
    say(format_args!(
        "{count} files; next: cargo test, then kubewright dev"
    ));
    Ok(())
}

impl WebhookArguments {
    fn defaults(&self) -> bool {
        self.parts.defaulting > 0
    }

    fn validates(&self) -> bool {
        self.parts.validation + self.parts.programmatic_validation > 0
    }
}

fn calls(arguments: &WebhookArguments) -> Vec<String> {
    let defaults = arguments.defaults().then_some("defaults");
    let validates = arguments.validates().then_some("validates");
    let call = |function| format!(".webhook({{module}}::{function}())");
    defaults.into_iter().chain(validates).map(call).collect()
}

fn source(arguments: &WebhookArguments, project: &Project, kind: &str, path: &str) -> String {
    let fill_in = [
        ("fill_in", include_str!("../../templates/fill_in.rs.txt")),
        (
            "fill_in_test",
            include_str!("../../templates/fill_in_test.rs.txt"),
        ),
    ];
    let check = [
        ("check", include_str!("../../templates/check.rs.txt")),
        (
            "check_test",
            include_str!("../../templates/check_test.rs.txt"),
        ),
    ];
    let part = |wanted: bool, parts: [(&'static str, &'static str); 2]| {
        parts.map(|(name, text)| (name, if wanted { text } else { "" }))
    };
    let mut parts = part(arguments.defaults(), fill_in).to_vec();
    parts.extend(part(arguments.validates(), check));
    let template = fill(include_str!("../../templates/webhook.rs.txt"), &parts);
    let operations = arguments.operations.iter();
    let operations: String = operations
        .map(|operation| format!(".on(Operation::{})", operation.rust_name()))
        .collect();
    let collections = match arguments.defaults() {
        true => "use std::collections::BTreeMap;\n",
        false => "",
    };
    fill(
        &template,
        &[
            ("header", &project.header()),
            ("collections", collections),
            ("Kind", kind),
            ("path", path),
            ("name", &project.name),
            ("operations", &operations),
        ],
    )
}

/// Where Rust has the kind: among the project's own, or among Kubernetes'.
fn path_of(
    arguments: &WebhookArguments,
    project: &Project,
    tree: &Tree,
    kind: &str,
) -> Result<String, Error> {
    let group = match arguments.group.as_deref() {
        Some(group) if !known::is_known_group(group) => Some(full_group(group, &project.domain)?),
        _ => None,
    };
    let mut own = tree.deriving(kind);
    own.retain(|(_, found)| {
        group.as_ref().is_none_or(|group| found.group == *group)
            && arguments
                .version
                .as_ref()
                .is_none_or(|version| found.version == *version)
    });
    if let Some((file, _)) = own.first()
        && arguments
            .group
            .as_deref()
            .is_none_or(|group| !known::is_known_group(group))
    {
        return Ok(format!("{}::{kind}", module_path(&project.folder, file)));
    }
    if group.is_some() || arguments.group.is_none() {
        return Err(Error::NoSuchKind {
            kind: kind.to_owned(),
            folder: project.folder.join("src"),
        });
    }
    let group = required("--group", arguments.group.as_deref())?;
    let version = required("--version", arguments.version.as_deref())?;
    check_version(&version)?;
    known::rust_path(&group, &version, kind).ok_or_else(|| Error::NoSuchKind {
        kind: kind.to_owned(),
        folder: project.folder.join("src"),
    })
}
