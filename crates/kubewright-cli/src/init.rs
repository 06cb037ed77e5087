//! `kubewright init`: a new project.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::Error;
use crate::output::note;
use crate::output_format::OutputFlag;
use crate::project::{Changes, DEFAULT_DOMAIN, check_domain, check_label, fill, header};
use crate::source::formatted;

/// The arguments of `kubewright init`.
#[derive(Args, Debug)]
pub(crate) struct InitArguments {
    /// The project's folder; it is created if necessary.
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// The name of the operator [default: the name of the folder].
    #[arg(long, visible_alias = "project-name")]
    name: Option<String>,
    /// The domain at the end of the API groups of its kinds.
    #[arg(long, default_value = DEFAULT_DOMAIN)]
    domain: String,
    /// The license, as an SPDX expression or `apache2`; `none` for no license.
    #[arg(long, default_value = "Apache-2.0")]
    license: String,
    /// The copyright owner, for Cargo.toml and the header of each Rust file.
    #[arg(long)]
    owner: Option<String>,
    /// A checkout of Kubewright to depend on, instead of the published crates.
    #[arg(long, value_name = "DIR")]
    kubewright_path: Option<PathBuf>,
    #[command(flatten)]
    format: OutputFlag,
}

/// Whether this command was built from a published package: cargo unpacks packages of a registry
/// below a folder of that name. The library is then published as well.
const IS_PUBLISHED: bool = contains(env!("CARGO_MANIFEST_DIR"), "/registry/src/");

/// Whether a text contains another one. It is evaluated at compile time, so that the program does
/// not contain the path that it was built in.
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

/// The files that every new project needs: when one exists, the folder already has a project.
const ESSENTIAL: [&str; 4] = [
    "Cargo.toml",
    "src/lib.rs",
    "src/main.rs",
    "tests/it/main.rs",
];

/// Creates a project that builds, runs and passes its tests.
pub(crate) fn run(arguments: &InitArguments) -> Result<(), Error> {
    let folder = &arguments.folder;
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None => folder_name(folder)?,
    };
    check_package_name(&name)?;
    check_domain("--domain", &arguments.domain)?;
    let present = ESSENTIAL
        .into_iter()
        .find(|file| folder.join(file).exists());
    if let Some(file) = present {
        return Err(Error::ProjectExists {
            path: folder.join(file),
        });
    }
    let format = arguments.format.output;
    let mut changes = Changes::default();
    let mut count = 0;
    for (file, text) in files(arguments, &name)? {
        let path = folder.join(file);
        if path.exists() {
            format.progress(format_args!("kept     {file}"));
            continue;
        }
        changes.create(path, text);
        count += 1;
    }
    let written = changes.write(folder, format)?;
    for line in publication_notes(arguments) {
        note(line);
    }
    let next = "next:\n  kubewright create api --group web --version v1 --kind Site\n  cargo test";
    written.print_summary(count, next)
}

/// Returns notes on the parts of the project that do not work before Kubewright is published.
fn publication_notes(arguments: &InitArguments) -> Vec<String> {
    if IS_PUBLISHED {
        return Vec::new();
    }
    let version = env!("CARGO_PKG_VERSION");
    if arguments.kubewright_path.is_some() {
        return vec![
            "note: Containerfile and .github/workflows/ci.yml need the published crates: the folder \
of --kubewright-path does not exist where they run"
                .to_owned(),
        ];
    }
    vec![
        format!(
            "warning: the project cannot be built yet: Kubewright {version} is not published, and \
             this command was built from its sources"
        ),
        "  to build it, check out the sources of Kubewright and replace, in Cargo.toml,".to_owned(),
        format!(
            "    version = \"{version}\" of kubewright by path = \"SOURCES/crates/kubewright\","
        ),
        format!(
            "    version = \"{version}\" of kubewright-testing by path = \
             \"SOURCES/crates/kubewright-testing\";"
        ),
        "  or start in an empty folder with kubewright init --kubewright-path SOURCES".to_owned(),
    ]
}

/// Returns the absolute path of the folder, without links when it exists.
fn resolved(folder: &Path) -> Result<PathBuf, Error> {
    let absolute = std::path::absolute(folder).map_err(|source| Error::File {
        action: "find",
        path: folder.to_owned(),
        source,
    })?;
    Ok(absolute.canonicalize().unwrap_or(absolute))
}

/// Whether the folder is inside another package, whose workspace cargo would look for.
fn is_inside_a_package(folder: &Path) -> Result<bool, Error> {
    let folder = resolved(folder)?;
    let mut parents = folder.ancestors().skip(1);
    Ok(parents.any(|parent| parent.join("Cargo.toml").exists()))
}

fn folder_name(folder: &Path) -> Result<String, Error> {
    let absolute = resolved(folder)?;
    let name = absolute.file_name().unwrap_or_default().to_string_lossy();
    Ok(name.to_lowercase().replace(['_', ' ', '.'], "-"))
}

/// Checks that the name is valid for Kubernetes, cargo and Rust.
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
    let is_valid = name.len() <= 56 // `NAME-system` is a namespace
        && syn::parse_str::<syn::Ident>(&ident).is_ok()
        && !reserved.contains(&ident.as_str());
    if is_valid {
        return Ok(());
    }
    Err(Error::Argument {
        flag: "--name",
        value: name.to_owned(),
        expected: "at most 56 characters that are also a valid crate name, such as `web-sites`",
    })
}

/// Returns the SPDX expression of a license, which kubebuilder's users call `apache2`.
fn spdx(license: &str) -> Option<&str> {
    match license {
        "none" => None,
        "apache2" => Some("Apache-2.0"),
        expression => Some(expression),
    }
}

fn files(arguments: &InitArguments, name: &str) -> Result<Vec<(&'static str, String)>, Error> {
    let license = spdx(&arguments.license);
    let line = |key: &str, value: Option<String>| {
        value
            .map(|value| format!("{key} = {value}"))
            .unwrap_or_default()
    };
    let license_line = line("license", license.map(quoted));
    let owner = arguments.owner.as_deref();
    let authors_line = line("authors", owner.map(|owner| format!("[{}]", quoted(owner))));
    let sources = arguments
        .kubewright_path
        .as_deref()
        .map(checkout)
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
    let workspace = if is_inside_a_package(&arguments.folder)? {
        "\n[workspace] # not a member of the workspace around this folder"
    } else {
        ""
    };
    let (kubewright, testing) = (dependency("kubewright"), dependency("kubewright-testing"));
    let values = [
        ("name", name),
        ("crate", &crate_name),
        ("domain", &arguments.domain),
        ("license", &license_line),
        ("authors", &authors_line),
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

/// Returns the absolute path of a checkout of Kubewright.
fn checkout(folder: &Path) -> Result<PathBuf, Error> {
    let facade = folder.join("crates/kubewright/Cargo.toml");
    let absolute = folder
        .canonicalize()
        .and_then(|folder| facade.metadata().map(|_| folder));
    absolute.map_err(|source| Error::File {
        action: "find the sources of Kubewright in",
        path: folder.to_owned(),
        source,
    })
}

/// Returns the text as a TOML string: every JSON string is one.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::contains;

    #[test]
    fn package_of_a_registry_is_recognized_by_its_folder() {
        let part = "/registry/src/";
        assert!(contains(
            "/home/a/.cargo/registry/src/index-1/kubewright-cli-0.1.0",
            part
        ));
        assert!(!contains("/home/a/kubewright/crates/kubewright-cli", part));
        assert!(!contains("/registry/src", part));
    }
}
