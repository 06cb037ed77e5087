//! `kubewright create webhook`: a webhook for a kind of the project, or for a built-in kind.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};

use super::builtin_kinds::{self, BuiltinKind};
use super::conversion::add_conversions;
use super::module_path::module_path;
use super::prompt::required;
use super::registration::{Registration, register};
use super::webhook_parts::{DEFAULTS, Part, VALIDATES, WebhookFile};
use crate::error::Error;
use crate::output::note;
use crate::output_format::OutputFlag;
use crate::project::{Changes, Project, check_version, count_files, full_group, module_name};
use crate::source::{DerivedKind, Source, Tree, formatted, formatted_like, has_function};

/// The arguments of `kubewright create webhook`.
#[derive(Args, Debug)]
pub(crate) struct WebhookArguments {
    /// The project's folder.
    #[arg(long, value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// The API group: one of the project, with or without its domain, or a built-in one (core,
    /// apps, networking.k8s.io).
    #[arg(long)]
    group: Option<String>,
    /// The version; required for a built-in kind.
    #[arg(long)]
    version: Option<String>,
    /// The kind: one of the project, or a built-in one.
    #[arg(long)]
    kind: Option<String>,
    #[command(flatten)]
    parts: PartFlags,
    /// The operations that call the webhook.
    #[arg(long, value_delimiter = ',', value_enum, ignore_case = true)]
    operations: Vec<Operation>,
    #[command(flatten)]
    format: OutputFlag,
}

/// What the webhook does.
#[derive(Args, Debug)]
#[group(required = true, multiple = true)]
struct PartFlags {
    /// Set fields that a user left out.
    #[arg(long, num_args = 0, action = ArgAction::Count)]
    defaulting: u8,
    /// Reject invalid objects.
    #[arg(long, action = ArgAction::Count)]
    validation: u8,
    /// Convert objects between the versions of a kind.
    #[arg(long, action = ArgAction::Count)]
    conversion: u8,
    /// kubebuilder's name of --validation.
    #[arg(long, hide = true, action = ArgAction::Count)]
    programmatic_validation: u8,
}

/// An operation that calls the webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
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
    if arguments.parts.programmatic_validation > 0 {
        note("note: --programmatic-validation is --validation here");
    }
    let kind = required("--kind", arguments.kind.as_deref())?;
    let format = arguments.format.output;
    let mut earlier = None;
    if arguments.parts.conversion > 0 {
        let tree = Tree::read(&project.folder)?;
        let added = add_conversions(&project, &tree, &kind, format)?;
        if arguments.requested_parts().is_empty() {
            let count = count_files(&project.folder);
            return added.written.print_summary(count, &added.next);
        }
        earlier = Some(added.written);
    }
    // The conversion may have changed files: they are read after it.
    let tree = Tree::read(&project.folder)?;
    let kind_path = rust_path(arguments, &project, &tree, &kind)?;
    let module = format!("{}_webhook", module_name(&kind));
    let file = project.folder.join(format!("src/{module}.rs"));
    let webhook = WebhookFile {
        project: &project,
        kind: &kind,
        operations: arguments.operation_calls(),
    };
    let exists = file.exists();
    let mut changes = Changes::default();
    let mut parts = arguments.requested_parts();
    if exists {
        let present = Source::read(&file)?;
        parts.retain(|part| !has_function(&present, part.function));
        if parts.is_empty() {
            return Err(Error::WebhookExists { kind, path: file });
        }
        let text = webhook.with_parts(&present, &parts);
        changes.edit(&file, formatted_like(&present.text, text));
    } else {
        changes.create(&file, formatted(&webhook.new_text(&kind_path, &parts)));
    }
    let declaration = format!("mod {module};");
    let registration = Registration {
        module: &module,
        declaration: (!exists).then_some(declaration.as_str()),
        calls: &calls(&parts),
    };
    let by_hand = register(&tree, &registration, &mut changes)?;
    let mut written = changes.write(&project.folder, format)?;
    if let Some(by_hand) = by_hand {
        return Err(by_hand.into_error());
    }
    if let Some(earlier) = earlier {
        written = written.after(earlier);
    }
    let count = count_files(&project.folder);
    written.print_summary(count, "next: cargo test, then kubewright dev")
}

impl WebhookArguments {
    /// Returns the parts that belong to the file of the webhook; conversions are in other files.
    fn requested_parts(&self) -> Vec<Part> {
        let validation = self.parts.validation + self.parts.programmatic_validation;
        let defaults = (self.parts.defaulting > 0).then_some(DEFAULTS);
        let validates = (validation > 0).then_some(VALIDATES);
        defaults.into_iter().chain(validates).collect()
    }

    /// Returns the calls that restrict a webhook to the operations.
    fn operation_calls(&self) -> String {
        self.operations
            .iter()
            .map(|operation| format!(".on(Operation::{})", operation.rust_name()))
            .collect()
    }
}

fn calls(parts: &[Part]) -> Vec<String> {
    let call = |part: &Part| format!(".webhook({{module}}::{}())", part.function);
    parts.iter().map(call).collect()
}

/// Returns the path of the kind in Rust.
///
/// The group `apps` may be the project's `apps.example.com` or the built-in one; the project's kind
/// has precedence.
fn rust_path(
    arguments: &WebhookArguments,
    project: &Project,
    tree: &Tree,
    kind: &str,
) -> Result<String, Error> {
    let (group, version) = (arguments.group.as_deref(), arguments.version.as_deref());
    let own_group = group
        .map(|group| full_group(group, &project.domain))
        .transpose()?;
    let mut own = tree.deriving(kind);
    own.retain(|(_, found)| own_group.as_ref().is_none_or(|group| found.group == *group));
    let is_requested = |found: &DerivedKind| version.is_none_or(|version| found.version == version);
    if let Some((file, _)) = own.iter().find(|(_, found)| is_requested(found)) {
        return Ok(format!("{}::{kind}", module_path(&project.folder, file)));
    }
    if let Some((file, found)) = own.first() {
        return Err(Error::VersionNotFound {
            kind: kind.to_owned(),
            version: version.unwrap_or_default().to_owned(),
            path: file.path.clone(),
            found: found.version.clone(),
        });
    }
    let Some(group) = group.filter(|group| builtin_kinds::is_builtin_group(group)) else {
        return Err(Error::KindNotFound {
            kind: kind.to_owned(),
            folder: project.folder.join("src"),
        });
    };
    let version = required("--version", version)?;
    check_version(&version)?;
    let builtin = BuiltinKind {
        group,
        version: &version,
        kind,
    };
    let path = builtin.resource().and_then(builtin_kinds::rust_path);
    path.ok_or_else(|| builtin.not_found(&project.folder))
}
