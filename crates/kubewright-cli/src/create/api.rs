//! `kubewright create api`: a kind with its controller, or another version of a kind.

use std::path::PathBuf;

use clap::{ArgAction, Args};
use kubewright_core::Resource;

use super::builtin_kinds::{self, BuiltinKind};
use super::prompt::required;
use super::registration::{Registration, add_test, register};
use super::version::{NewVersion, stored_version};
use crate::error::Error;
use crate::output_format::OutputFlag;
use crate::project::{
    Changes, Project, check_kind, check_label, check_version, count_files, fill, full_group,
    module_name,
};
use crate::source::{DerivedKind, Source, Tree, formatted};

/// The arguments of `kubewright create api`.
#[derive(Args, Debug)]
pub(crate) struct ApiArguments {
    /// The project's folder.
    #[arg(long, value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// The API group; the project's domain is added to one without a dot.
    #[arg(long)]
    group: Option<String>,
    /// The version, such as v1 or v1beta1.
    #[arg(long)]
    version: Option<String>,
    /// The kind, such as Site.
    #[arg(long)]
    kind: Option<String>,
    /// The plural, in lower case, if it is irregular.
    #[arg(long)]
    plural: Option<String>,
    /// A short name for kubectl; may be given several times.
    #[arg(long, value_delimiter = ',')]
    shortname: Vec<String>,
    /// Whether objects have a namespace [default: true; for another version, as in the first].
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    namespaced: Option<bool>,
    #[command(flatten)]
    parts: Parts,
    #[command(flatten)]
    format: OutputFlag,
}

/// The parts to generate.
#[derive(Args, Debug)]
struct Parts {
    /// Generate the type; without it, the kind is a built-in one.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "true", default_missing_value = "true", action = ArgAction::Set)]
    resource: bool,
    /// Generate the controller.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "true", default_missing_value = "true", action = ArgAction::Set)]
    controller: bool,
}

/// Adds a kind with its controller, a sample and a test.
pub(crate) fn run(arguments: &ApiArguments) -> Result<(), Error> {
    let project = Project::read(&arguments.folder)?;
    let api = Api::read(arguments, &project)?;
    let tree = Tree::read(&project.folder)?;
    let found = tree.deriving(&api.kind);
    if !found.is_empty() {
        return add_version(arguments, &project, &tree, &api, &found);
    }
    let mut changes = Changes::default();
    let call = if arguments.parts.controller {
        ".controller({module}::controller())".to_owned()
    } else {
        format!(".installs(kubewright::kind::<{{module}}::{}>())", api.kind)
    };
    let registration = Registration {
        module: &api.module,
        declaration: Some(&format!("pub mod {};", api.module)),
        calls: &[call],
    };
    let by_hand = register(&tree, &registration, &mut changes)?;
    let file = project.folder.join(format!("src/{}.rs", api.module));
    changes.create(file, formatted(&api.source(arguments, &project)));
    if arguments.parts.resource {
        let template = if arguments.parts.controller {
            include_str!("../../templates/kind_test.rs.txt")
        } else {
            include_str!("../../templates/type_test.rs.txt")
        };
        let test = formatted(&api.filled(template, &project));
        add_test(&project.folder, &tree, &api.module, test, &mut changes)?;
        let sample = project.folder.join(format!("samples/{}.yaml", api.module));
        let template = include_str!("../../templates/sample.yaml.txt");
        changes.create(sample, api.filled(template, &project));
    }
    let written = changes.write(&project.folder, arguments.format.output)?;
    if let Some(by_hand) = by_hand {
        return Err(by_hand.into_error());
    }
    let count = count_files(&project.folder);
    written.print_summary(count, "next: cargo test, then kubewright dev")
}

/// Adds a version to a kind that the project has in other versions.
fn add_version(
    arguments: &ApiArguments,
    project: &Project,
    tree: &Tree,
    api: &Api,
    found: &[(&Source, DerivedKind)],
) -> Result<(), Error> {
    let conflicting = found.iter().find(|(_, existing)| {
        // A kind of another group would have the same names in Rust.
        existing.group != api.group || existing.version == api.version || !arguments.parts.resource
    });
    if let Some((file, existing)) = conflicting {
        return Err(Error::KindExists {
            kind: format!("{}/{} {}", existing.group, existing.version, existing.kind),
            path: file.path.clone(),
        });
    }
    if let Some(name) = arguments.plural.iter().chain(&arguments.shortname).next() {
        return Err(Error::Argument {
            flag: "--plural or --shortname",
            value: name.clone(),
            expected: "none: all versions of a kind have the names of the first",
        });
    }
    let stored = stored_version(found).ok_or_else(|| Error::CannotAddVersion {
        version: format!("{}/{} {}", api.group, api.version, api.kind),
        path: project.folder.join("src"),
        line: 1,
        reason: "its stored version cannot be determined".to_owned(),
    })?;
    if let Some(namespaced) = arguments
        .namespaced
        .filter(|namespaced| *namespaced != stored.kind.namespaced)
    {
        return Err(Error::Argument {
            flag: "--namespaced",
            value: namespaced.to_string(),
            expected: "none: all versions of a kind have the scope of the first",
        });
    }
    let new = NewVersion {
        project,
        tree,
        stored,
        version: &api.version,
        format: arguments.format.output,
    };
    new.add()
}

/// The kind of the command line, after validation.
#[derive(Debug)]
struct Api {
    group: String,
    version: String,
    kind: String,
    module: String,
    plural: String,
    shortnames: Vec<String>,
    namespaced: bool,
    /// The path of a built-in kind in Rust.
    path: String,
}

impl Api {
    /// Reads the flags, prompts for those that are missing, and validates them.
    fn read(arguments: &ApiArguments, project: &Project) -> Result<Self, Error> {
        let group = required("--group", arguments.group.as_deref())?;
        let version = required("--version", arguments.version.as_deref())?;
        let kind = required("--kind", arguments.kind.as_deref())?;
        check_version(&version)?;
        for name in arguments.plural.iter().chain(&arguments.shortname) {
            check_label("--plural or --shortname", name)?;
        }
        let builtin = if arguments.parts.resource {
            check_kind(&kind)?;
            None
        } else {
            let kind = BuiltinKind {
                group: &group,
                version: &version,
                kind: &kind,
            };
            Some(builtin_resource(arguments, project, kind)?)
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

    /// Returns the text of the kind's file.
    fn source(&self, arguments: &ApiArguments, project: &Project) -> String {
        let parts = &arguments.parts;
        let template = if !parts.resource {
            include_str!("../../templates/builtin_kind.rs.txt")
        } else if parts.controller {
            include_str!("../../templates/kind.rs.txt")
        } else {
            // Without a controller nothing would write a status.
            include_str!("../../templates/type.rs.txt")
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
        // Cluster-scoped objects own a ConfigMap in a namespace that every cluster has.
        let (scope, namespace, in_namespace) = if self.namespaced {
            ("namespaced,", "", "")
        } else {
            (
                "",
                "namespace: Some(\"default\".to_owned()),",
                ".in_namespace(\"default\")",
            )
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
                ("in_namespace", in_namespace),
                ("path", &self.path),
            ],
        )
    }
}

/// Returns the built-in kind that gets a controller without a type.
fn builtin_resource(
    arguments: &ApiArguments,
    project: &Project,
    kind: BuiltinKind<'_>,
) -> Result<&'static Resource, Error> {
    if !arguments.parts.controller {
        return Err(Error::Argument {
            flag: "--resource",
            value: "false with --controller=false".to_owned(),
            expected: "true for at least one of the two",
        });
    }
    if !builtin_kinds::is_builtin_group(kind.group) {
        return Err(Error::Argument {
            flag: "--group",
            value: kind.group.to_owned(),
            expected: "a built-in group (such as core, apps or networking.k8s.io) when \
                       --resource=false",
        });
    }
    kind.resource()
        .ok_or_else(|| kind.not_found(&project.folder))
}
