use std::path::PathBuf;

use clap::Args;

use super::module_path::module_path;
use super::prompt::required;
use super::registration::{Registration, register};
use super::{builtin_kinds, conversion};
use crate::error::Error;
use crate::output::note;
use crate::output_format::OutputFlag;
use crate::project::{Changes, Project, check_version, count_files, fill, full_group, module_name};
use crate::source::{
    DerivedKind, Source, Tree, formatted, formatted_like, has_function, with_items,
};

/// What `kubewright create webhook` is called with.
#[derive(Args, Debug)]
pub(crate) struct WebhookArguments {
    /// The project's folder.
    #[arg(long, value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// The API group: the project's, with or without its domain, or one of Kubernetes' own (core,
    /// apps, networking.k8s.io).
    #[arg(long)]
    group: Option<String>,
    /// The version; needed for a kind of Kubernetes' own.
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
    #[command(flatten)]
    form: OutputFlag,
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
    if arguments.parts.programmatic_validation > 0 {
        note("note: --programmatic-validation is --validation here");
    }
    let kind = required("--kind", arguments.kind.as_deref())?;
    let tree = Tree::read(&project.folder)?;
    let form = arguments.form.output;
    let mut earlier = None;
    if arguments.parts.conversion > 0 {
        let added = conversion::add(&project, &tree, &kind, form)?;
        if arguments.wanted().is_empty() {
            let count = count_files(&project.folder);
            return added.written.answer(count, &added.next);
        }
        earlier = Some(added.written);
    }
    // A conversion that was just added is in the files, too.
    let tree = Tree::read(&project.folder)?;
    let path = path_of(arguments, &project, &tree, &kind)?;
    let module = format!("{}_webhook", module_name(&kind));
    let file = project.folder.join(format!("src/{module}.rs"));
    let is_there = file.exists();
    let mut changes = Changes::default();
    let wanted = match is_there {
        true => {
            let present = Source::read(&file)?;
            let wanted = missing(arguments, &present);
            if wanted.is_empty() {
                return Err(Error::WebhookIsThere { kind, path: file });
            }
            let text = added(arguments, &project, &kind, (&present, &wanted));
            changes.edit(&file, formatted_like(&present.text, text));
            wanted
        }
        false => {
            changes.make(&file, formatted(&source(arguments, &project, &kind, &path)));
            arguments.wanted()
        }
    };
    let declaration = format!("mod {module};");
    let registration = Registration {
        module: &module,
        declaration: (!is_there).then_some(declaration.as_str()),
        calls: &calls(&wanted),
    };
    let by_hand = register(&tree, &registration, &mut changes)?;
    let mut written = changes.write(&project.folder, form)?;
    if let Some(by_hand) = by_hand {
        return Err(by_hand.into_error());
    }
    if let Some(earlier) = earlier {
        written = written.after(earlier);
    }
    let count = count_files(&project.folder);
    written.answer(count, "next: cargo test, then kubewright dev")
}

impl WebhookArguments {
    /// What the webhook's own file is to do.
    fn wanted(&self) -> Vec<Part> {
        let validation = self.parts.validation + self.parts.programmatic_validation;
        let defaults = (self.parts.defaulting > 0).then_some(DEFAULTS);
        let validates = (validation > 0).then_some(VALIDATES);
        defaults.into_iter().chain(validates).collect()
    }
}

/// One thing that a webhook does, by the functions of the file that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    /// The function that is registered.
    function: &'static str,
    /// The slots of its code and of its test, with what belongs there.
    code: (&'static str, &'static str),
    test: (&'static str, &'static str),
}

const DEFAULTS: Part = Part {
    function: "defaults",
    code: ("fill_in", include_str!("../../templates/fill_in.rs.txt")),
    test: (
        "fill_in_test",
        include_str!("../../templates/fill_in_test.rs.txt"),
    ),
};

const VALIDATES: Part = Part {
    function: "validates",
    code: ("check", include_str!("../../templates/check.rs.txt")),
    test: (
        "check_test",
        include_str!("../../templates/check_test.rs.txt"),
    ),
};

fn calls(wanted: &[Part]) -> Vec<String> {
    let call = |part: &Part| format!(".webhook({{module}}::{}())", part.function);
    wanted.iter().map(call).collect()
}

/// What is wanted and not in the file.
fn missing(arguments: &WebhookArguments, file: &Source) -> Vec<Part> {
    let mut wanted = arguments.wanted();
    wanted.retain(|part| !has_function(file, part.function));
    wanted
}

/// A file of the webhook's alone.
fn source(arguments: &WebhookArguments, project: &Project, kind: &str, path: &str) -> String {
    let wanted = arguments.wanted();
    let slots = [DEFAULTS, VALIDATES].into_iter().flat_map(|part| {
        let is_wanted = wanted.contains(&part);
        [part.code, part.test].map(|(slot, text)| (slot, if is_wanted { text } else { "" }))
    });
    let slots: Vec<_> = slots.collect();
    let template = fill(include_str!("../../templates/webhook.rs.txt"), &slots);
    let collections = match wanted.contains(&DEFAULTS) {
        true => "use std::collections::BTreeMap;\n",
        false => "",
    };
    let text = fill(
        &template,
        &[
            ("header", &project.header()),
            ("collections", collections),
            ("path", path),
        ],
    );
    filled(arguments, project, kind, &text)
}

/// The text of the webhook's file with more parts.
fn added(
    arguments: &WebhookArguments,
    project: &Project,
    kind: &str,
    (file, wanted): (&Source, &[Part]),
) -> String {
    let all = |text: fn(&Part) -> &'static str| -> String {
        let texts: String = wanted.iter().map(text).collect();
        let texts = filled(arguments, project, kind, &texts);
        match file.text.contains("BTreeMap;") {
            true => texts,
            false => texts
                .replace("BTreeMap<", "std::collections::BTreeMap<")
                .replace("BTreeMap::", "std::collections::BTreeMap::"),
        }
    };
    with_items(file, &all(|part| part.code.1), &all(|part| part.test.1))
}

fn filled(arguments: &WebhookArguments, project: &Project, kind: &str, text: &str) -> String {
    let operations = arguments.operations.iter();
    let operations: String = operations
        .map(|operation| format!(".on(Operation::{})", operation.rust_name()))
        .collect();
    fill(
        text,
        &[
            ("Kind", kind),
            ("name", &project.name),
            ("operations", &operations),
        ],
    )
}

/// Where Rust has the kind: among the project's own, or among Kubernetes'.
///
/// The group `apps` may be the project's `apps.example.com` or Kubernetes' own; the project's comes
/// first.
fn path_of(
    arguments: &WebhookArguments,
    project: &Project,
    tree: &Tree,
    kind: &str,
) -> Result<String, Error> {
    let (group, version) = (arguments.group.as_deref(), arguments.version.as_deref());
    let own_group = group.map(|group| full_group(group, &project.domain));
    let own_group = own_group.transpose()?;
    let mut own = tree.deriving(kind);
    own.retain(|(_, found)| own_group.as_ref().is_none_or(|group| found.group == *group));
    let is_wanted = |found: &DerivedKind| version.is_none_or(|version| found.version == version);
    if let Some((file, _)) = own.iter().find(|(_, found)| is_wanted(found)) {
        return Ok(format!("{}::{kind}", module_path(&project.folder, file)));
    }
    if let Some((file, found)) = own.first() {
        return Err(Error::NotInVersion {
            kind: kind.to_owned(),
            version: version.unwrap_or_default().to_owned(),
            path: file.path.clone(),
            found: found.version.clone(),
        });
    }
    let Some(group) = group.filter(|group| builtin_kinds::is_known_group(group)) else {
        return Err(Error::NoSuchKind {
            kind: kind.to_owned(),
            folder: project.folder.join("src"),
        });
    };
    let version = required("--version", version)?;
    check_version(&version)?;
    let named = builtin_kinds::Named {
        group,
        version: &version,
        kind,
    };
    let path = named.builtin().and_then(builtin_kinds::rust_path);
    path.ok_or_else(|| named.missing(&project.folder))
}
