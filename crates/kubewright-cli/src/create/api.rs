use std::path::PathBuf;

use clap::{ArgAction, Args};
use kubewright_core::Resource;

use super::builtin_kinds;
use super::prompt::required;
use super::registration::{Registration, add_test, register};
use super::version::{NewVersion, hub_of};
use crate::error::Error;
use crate::output_format::OutputFlag;
use crate::project::{
    Changes, Project, check_kind, check_label, check_version, count_files, fill, full_group,
    module_name,
};
use crate::source::{DerivedKind, Source, Tree, formatted};

/// What `kubewright create api` is called with.
#[derive(Args, Debug)]
pub(crate) struct ApiArguments {
    /// The project's folder.
    #[arg(long, value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// The API group; without a dot, the project's domain follows it.
    #[arg(long)]
    group: Option<String>,
    /// The version, such as v1 or v1beta1.
    #[arg(long)]
    version: Option<String>,
    /// The kind, such as Site.
    #[arg(long)]
    kind: Option<String>,
    /// The plural, in lower case, where English has another than the usual one.
    #[arg(long)]
    plural: Option<String>,
    /// A short name for kubectl; may be given several times.
    #[arg(long, value_delimiter = ',')]
    shortname: Vec<String>,
    /// Whether objects live in namespaces [default: true; for another version, as in the first].
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    namespaced: Option<bool>,
    #[command(flatten)]
    made: Made,
    #[command(flatten)]
    form: OutputFlag,
}

/// What is made.
#[derive(Args, Debug)]
struct Made {
    /// Whether to make the type; without it the kind is one that Kubernetes has.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "true", default_missing_value = "true", action = ArgAction::Set)]
    resource: bool,
    /// Whether to make the controller.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "true", default_missing_value = "true", action = ArgAction::Set)]
    controller: bool,
}

/// Adds a kind, its controller, a sample and a test.
pub(crate) fn run(arguments: &ApiArguments) -> Result<(), Error> {
    let project = Project::read(&arguments.folder)?;
    let api = Api::ask(arguments, &project)?;
    let tree = Tree::read(&project.folder)?;
    let found = tree.deriving(&api.kind);
    if !found.is_empty() {
        return another_version(arguments, &project, &tree, &api, &found);
    }
    let mut changes = Changes::default();
    let calls = match arguments.made.controller {
        true => [".controller({module}::controller())".to_owned()],
        false => [format!(
            ".installs(kubewright::kind::<{{module}}::{}>())",
            api.kind
        )],
    };
    let registration = Registration {
        module: &api.module,
        declaration: Some(&format!("pub mod {};", api.module)),
        calls: &calls,
    };
    let by_hand = register(&tree, &registration, &mut changes)?;
    let file = project.folder.join(format!("src/{}.rs", api.module));
    changes.make(file, formatted(&api.source(arguments, &project)));
    if arguments.made.resource {
        let template = match arguments.made.controller {
            true => include_str!("../../templates/kind_test.rs.txt"),
            false => include_str!("../../templates/type_test.rs.txt"),
        };
        let test = formatted(&api.filled(template, &project));
        add_test(&project.folder, &tree, &api.module, test, &mut changes)?;
        let sample = project.folder.join(format!("samples/{}.yaml", api.module));
        let template = include_str!("../../templates/sample.yaml.txt");
        changes.make(sample, api.filled(template, &project));
    }
    let written = changes.write(&project.folder, arguments.form.output)?;
    if let Some(by_hand) = by_hand {
        return Err(by_hand.into_error());
    }
    let count = count_files(&project.folder);
    written.answer(count, "next: cargo test, then kubewright dev")
}

/// Adds a version to a kind that the project has in others.
fn another_version(
    arguments: &ApiArguments,
    project: &Project,
    tree: &Tree,
    api: &Api,
    found: &[(&Source, DerivedKind)],
) -> Result<(), Error> {
    let same = found.iter().find(|(_, one)| {
        // A kind of another group would have the same names in Rust.
        one.group != api.group || one.version == api.version || !arguments.made.resource
    });
    if let Some((file, one)) = same {
        return Err(Error::KindIsThere {
            kind: format!("{}/{} {}", one.group, one.version, one.kind),
            path: file.path.clone(),
        });
    }
    if let Some(name) = arguments.plural.iter().chain(&arguments.shortname).next() {
        return Err(Error::Argument {
            flag: "--plural or --shortname",
            value: name.clone(),
            wanted: "none: all versions of a kind have the names of the first",
        });
    }
    let hub = hub_of(found).ok_or_else(|| Error::NoVersion {
        version: format!("{}/{} {}", api.group, api.version, api.kind),
        path: project.folder.join("src"),
        line: 1,
        why: "nobody can tell which of its versions is the one that is stored".to_owned(),
    })?;
    if let Some(namespaced) = arguments
        .namespaced
        .filter(|wanted| *wanted != hub.1.namespaced)
    {
        return Err(Error::Argument {
            flag: "--namespaced",
            value: namespaced.to_string(),
            wanted: "none: all versions of a kind have the scope of the first",
        });
    }
    let new = NewVersion {
        project,
        tree,
        hub,
        version: &api.version,
        form: arguments.form.output,
    };
    new.add()
}

/// A kind as it was asked for, checked.
#[derive(Debug)]
struct Api {
    group: String,
    version: String,
    kind: String,
    module: String,
    plural: String,
    shortnames: Vec<String>,
    namespaced: bool,
    /// Where Rust has a kind of Kubernetes' own.
    path: String,
}

impl Api {
    fn ask(arguments: &ApiArguments, project: &Project) -> Result<Self, Error> {
        let group = required("--group", arguments.group.as_deref())?;
        let version = required("--version", arguments.version.as_deref())?;
        let kind = required("--kind", arguments.kind.as_deref())?;
        check_version(&version)?;
        for name in arguments.plural.iter().chain(&arguments.shortname) {
            check_label("--plural or --shortname", name)?;
        }
        let builtin = if arguments.made.resource {
            check_kind(&kind)?;
            None
        } else {
            let named = builtin_kinds::Named {
                group: &group,
                version: &version,
                kind: &kind,
            };
            Some(builtin(arguments, project, named)?)
        };
        Ok(Self {
            module: module_name(&kind),
            plural: arguments.plural.clone().unwrap_or_default(),
            shortnames: arguments.shortname.clone(),
            namespaced: match builtin {
                None => arguments.namespaced.unwrap_or(true),
                Some(resource) => builtin_kinds::is_namespaced(resource),
            },
            path: builtin
                .and_then(builtin_kinds::rust_path)
                .unwrap_or_default(),
            group: match builtin {
                None => full_group(&group, &project.domain)?,
                Some(_) => group,
            },
            version,
            kind,
        })
    }

    /// The kind's own file.
    fn source(&self, arguments: &ApiArguments, project: &Project) -> String {
        let template = match (arguments.made.resource, arguments.made.controller) {
            (true, true) => include_str!("../../templates/kind.rs.txt"),
            // Nobody here would write a status.
            (true, false) => include_str!("../../templates/type.rs.txt"),
            (false, _) => include_str!("../../templates/known_kind.rs.txt"),
        };
        let controller = include_str!("../../templates/reconcile.rs.txt");
        self.filled(&fill(template, &[("controller", controller)]), project)
    }

    fn filled(&self, template: &str, project: &Project) -> String {
        let plural = match self.plural.as_str() {
            "" => String::new(),
            plural => format!("plural = \"{plural}\","),
        };
        let shortnames: String = self
            .shortnames
            .iter()
            .map(|name| format!("shortname = \"{name}\",\n    "))
            .collect();
        // Objects without a namespace keep what belongs to them in one that every cluster has.
        let (scope, namespace, there) = match self.namespaced {
            true => ("namespaced,", "", ""),
            false => (
                "",
                "namespace: Some(\"default\".to_owned()),",
                ".in_namespace(\"default\")",
            ),
        };
        fill(
            template,
            &[
                ("header", &project.header()),
                ("crate", &project.crate_name()),
                ("domain", &project.domain),
                ("group", &self.group),
                ("version", &self.version),
                ("Kind", &self.kind),
                ("name", &self.kind.to_lowercase()),
                ("module", &self.module),
                ("plural", &plural),
                ("shortname", shortnames.trim_end()),
                ("scope", scope),
                ("namespace", namespace),
                ("there", there),
                ("path", &self.path),
            ],
        )
    }
}

/// The kind of Kubernetes' own that gets a controller without a type.
fn builtin(
    arguments: &ApiArguments,
    project: &Project,
    named: builtin_kinds::Named<'_>,
) -> Result<&'static Resource, Error> {
    if !arguments.made.controller {
        return Err(Error::Argument {
            flag: "--resource",
            value: "false with --controller=false".to_owned(),
            wanted: "at least one of the two",
        });
    }
    if !builtin_kinds::is_known_group(named.group) {
        return Err(Error::Argument {
            flag: "--group",
            value: named.group.to_owned(),
            wanted: "one of Kubernetes' own groups (such as core, apps or networking.k8s.io) when --resource=false",
        });
    }
    named
        .builtin()
        .ok_or_else(|| named.missing(&project.folder))
}
