use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::Error;
use crate::output::note;
use crate::output_format::OutputFlag;
use crate::project::{Changes, DEFAULT_DOMAIN, check_label, fill, full_group, header};
use crate::source::formatted;

/// What `kubewright init` is called with.
#[derive(Args, Debug)]
pub(crate) struct InitArguments {
    /// The project's folder; it is made when it is not there.
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// The operator's name [default: the folder's].
    #[arg(long, visible_alias = "project-name")]
    name: Option<String>,
    /// The domain that the groups of its kinds end with.
    #[arg(long, default_value = DEFAULT_DOMAIN)]
    domain: String,
    /// The licence, as an SPDX expression; `none` for none.
    #[arg(long, default_value = "Apache-2.0")]
    license: String,
    /// Who owns the code; stands in Cargo.toml and above each Rust file.
    #[arg(long)]
    owner: Option<String>,
    /// A folder with the sources of Kubewright, instead of the published crates.
    #[arg(long, value_name = "DIR")]
    kubewright_path: Option<PathBuf>,
    #[command(flatten)]
    form: OutputFlag,
}

/// Whether this command was built from a published package, so that the library is published, too:
/// cargo unpacks those below a folder of that name.
const IS_PUBLISHED: bool = contains(env!("CARGO_MANIFEST_DIR"), "/registry/src/");

/// Whether a text has a part, at compile time: the folder's name does not get into the program.
const fn contains(text: &str, part: &str) -> bool {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    let mut start = 0;
    while start + part.len() <= text.len() {
        let mut length = 0;
        while length < part.len() && text[start + length] == part[length] {
            length += 1;
        }
        if length == part.len() {
            return true;
        }
        start += 1;
    }
    false
}

/// Files of an existing project that a new one cannot do without.
const ESSENTIAL: [&str; 4] = [
    "Cargo.toml",
    "src/lib.rs",
    "src/main.rs",
    "tests/it/main.rs",
];

/// Makes a project that builds, runs and is tested at once.
pub(crate) fn run(arguments: &InitArguments) -> Result<(), Error> {
    let folder = &arguments.folder;
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None => folder_name(folder)?,
    };
    check_package_name(&name)?;
    full_group("", &arguments.domain)?;
    let present = ESSENTIAL
        .into_iter()
        .find(|file| folder.join(file).exists());
    if let Some(file) = present {
        return Err(Error::ProjectIsThere {
            path: folder.join(file),
        });
    }
    let form = arguments.form.output;
    let mut changes = Changes::default();
    let mut count = 0;
    for (file, text) in files(arguments, &name)? {
        let path = folder.join(file);
        if path.exists() {
            form.tell(format_args!("kept     {file}"));
            continue;
        }
        changes.make(path, text);
        count += 1;
    }
    let written = changes.write(folder, form)?;
    for line in unbuildable(arguments) {
        note(line);
    }
    let next = "next:\n  kubewright create api --group web --version v1 --kind Site\n  cargo test";
    written.answer(count, next)
}

/// What of the project does not work as long as Kubewright is not published.
fn unbuildable(arguments: &InitArguments) -> Vec<String> {
    if IS_PUBLISHED {
        return Vec::new();
    }
    let version = env!("CARGO_PKG_VERSION");
    if arguments.kubewright_path.is_some() {
        return vec![
            "note: Containerfile and .github/workflows/ci.yml need the published crates: where they \
             run, the folder of --kubewright-path is not there"
                .to_owned(),
        ];
    }
    vec![
        format!(
            "warning: the project cannot be built yet: Kubewright {version} is not published, and \
             this command was built from its sources"
        ),
        "  to build it, get these sources and replace, in Cargo.toml,".to_owned(),
        format!(
            "    version = \"{version}\" of kubewright by path = \"SOURCES/crates/kubewright\","
        ),
        format!(
            "    version = \"{version}\" of kubewright-testing by path = \
             \"SOURCES/crates/kubewright-testing\";"
        ),
        "  or begin in an empty folder with kubewright init --kubewright-path SOURCES".to_owned(),
    ]
}

/// A folder that is there may be `.` or a link; one that is not has the name that was given.
fn resolved(folder: &Path) -> Result<PathBuf, Error> {
    let absolute = std::path::absolute(folder).map_err(|source| Error::File {
        action: "find",
        path: folder.to_owned(),
        source,
    })?;
    Ok(absolute.canonicalize().unwrap_or(absolute))
}

/// Cargo would take the project for a part of what is around it.
fn is_inside_a_package(folder: &Path) -> Result<bool, Error> {
    let folder = resolved(folder)?;
    let mut around = folder.ancestors().skip(1);
    Ok(around.any(|folder| folder.join("Cargo.toml").exists()))
}

fn folder_name(folder: &Path) -> Result<String, Error> {
    let absolute = resolved(folder)?;
    let name = absolute.file_name().unwrap_or_default().to_string_lossy();
    Ok(name.to_lowercase().replace(['_', ' ', '.'], "-"))
}

/// A name that Kubernetes, cargo and Rust all take.
fn check_package_name(name: &str) -> Result<(), Error> {
    check_label("--name", name)?;
    let ident = name.replace('-', "_");
    let reserved = [
        "test",
        "core",
        "std",
        "alloc",
        "kube",
        "kubewright",
        "serde",
        "schemars",
    ];
    let fits = name.len() <= 56 // `NAME-system` is a namespace
        && syn::parse_str::<syn::Ident>(&ident).is_ok()
        && !reserved.contains(&ident.as_str());
    match fits {
        true => Ok(()),
        false => Err(Error::Argument {
            flag: "--name",
            value: name.to_owned(),
            wanted: "at most 56 characters that also name a Rust crate, such as `web-sites`",
        }),
    }
}

fn files(arguments: &InitArguments, name: &str) -> Result<Vec<(&'static str, String)>, Error> {
    let license = Some(arguments.license.as_str()).filter(|license| *license != "none");
    let line = |key: &str, value: Option<String>| {
        value
            .map(|value| format!("{key} = {value}"))
            .unwrap_or_default()
    };
    let license_line = line("license", license.map(quoted));
    let authors = arguments
        .owner
        .as_deref()
        .map(|owner| format!("[{}]", quoted(owner)));
    let authors = line("authors", authors);
    let sources = arguments
        .kubewright_path
        .as_deref()
        .map(absolute)
        .transpose()?;
    let dependency = |name: &str| match &sources {
        Some(sources) => {
            let path = sources.join("crates").join(name);
            format!("path = {}", quoted(&path.to_string_lossy()))
        }
        None => format!("version = {}", quoted(env!("CARGO_PKG_VERSION"))),
    };
    let header = header(license, arguments.owner.as_deref());
    let crate_name = name.replace('-', "_");
    let workspace = match is_inside_a_package(&arguments.folder)? {
        true => "\n[workspace] # this project stands for itself",
        false => "",
    };
    let (kubewright, testing) = (dependency("kubewright"), dependency("kubewright-testing"));
    let values = [
        ("name", name),
        ("crate", &crate_name),
        ("domain", &arguments.domain),
        ("license", &license_line),
        ("authors", &authors),
        ("kubewright", &kubewright),
        ("testing", &testing),
        ("header", &header),
        ("workspace", workspace),
    ];
    let plain = |template: &str| fill(template, &values);
    let rust = |template: &str| formatted(&fill(template, &values));
    Ok(vec![
        (
            "Cargo.toml",
            plain(include_str!("../templates/Cargo.toml.txt")),
        ),
        ("src/lib.rs", rust(include_str!("../templates/lib.rs.txt"))),
        (
            "src/main.rs",
            rust(include_str!("../templates/main.rs.txt")),
        ),
        (
            "tests/it/main.rs",
            rust(include_str!("../templates/test.rs.txt")),
        ),
        (
            "README.md",
            plain(include_str!("../templates/README.md.txt")),
        ),
        (
            ".gitignore",
            plain(include_str!("../templates/gitignore.txt")),
        ),
        (
            "Containerfile",
            plain(include_str!("../templates/Containerfile.txt")),
        ),
        (
            ".github/workflows/ci.yml",
            plain(include_str!("../templates/ci.yml.txt")),
        ),
    ])
}

fn absolute(folder: &Path) -> Result<PathBuf, Error> {
    let facade = folder.join("crates/kubewright/Cargo.toml");
    let found = folder
        .canonicalize()
        .and_then(|folder| facade.metadata().map(|_| folder));
    found.map_err(|source| Error::File {
        action: "find the sources of Kubewright in",
        path: folder.to_owned(),
        source,
    })
}

/// A TOML string; those of JSON are.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::contains;

    #[test]
    fn packages_of_a_registry_are_told_from_a_checkout() {
        let part = "/registry/src/";
        assert!(contains(
            "/home/a/.cargo/registry/src/index-1/kubewright-cli-0.1.0",
            part
        ));
        assert!(!contains("/home/a/kubewright/crates/kubewright-cli", part));
        assert!(!contains("/registry/src", part));
    }
}
