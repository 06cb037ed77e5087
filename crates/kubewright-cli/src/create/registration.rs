//! Registers a new module: its declaration in the crate's root, its calls in `operator()`, and its
//! test.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::output::note;
use crate::project::Changes;
use crate::source::{
    AddedCall, AddedModule, Source, Tree, add_module, append_call, formatted_like,
};

/// What a module needs to become part of the operator.
#[derive(Debug)]
pub(super) struct Registration<'a> {
    /// The name of the module.
    pub(super) module: &'a str,
    /// The line that declares it, such as `pub mod site;`; none for a declared module.
    pub(super) declaration: Option<&'a str>,
    /// Calls for `operator()`, with `{module}` for the path of the module.
    pub(super) calls: &'a [String],
}

/// Calls that the user has to add, because their place was not found.
#[derive(Debug)]
pub(super) struct RegisterByHand {
    path: PathBuf,
    place: String,
    lines: Vec<String>,
}

impl RegisterByHand {
    pub(super) fn into_error(self) -> Error {
        Error::RegisterByHand {
            path: self.path,
            place: self.place,
            lines: self.lines.join("\n    "),
        }
    }
}

/// Declares the module in the crate's root and adds the calls to `operator()`, in any file of
/// `src`. Returns the calls whose place was not found; the rest is added to the changes.
pub(super) fn register(
    tree: &Tree,
    registration: &Registration<'_>,
    changes: &mut Changes,
) -> Result<Option<RegisterByHand>, Error> {
    let root = tree.root();
    let declared_root = with_declaration(root, registration)?;
    let mut by_hand = Some(RegisterByHand {
        path: root.path.clone(),
        place: "no function `operator` was found in src; add to the Operator, where it is built:"
            .to_owned(),
        lines: calls(registration, "crate::"),
    });
    let mut new_root = declared_root.text.clone();
    for file in tree.files() {
        let is_root = file.path == root.path;
        let (current, prefix) = if is_root {
            (&declared_root, "")
        } else {
            (file, "crate::")
        };
        match append_calls(current, &calls(registration, prefix))? {
            AddedCall::NoOperator => continue,
            AddedCall::Text(text) if is_root => new_root = text,
            AddedCall::Text(text) => {
                changes.edit(&file.path, formatted_like(&file.text, text));
            }
            AddedCall::Unsupported { line, reason } => {
                by_hand = Some(RegisterByHand {
                    path: file.path.clone(),
                    place: format!("line {line}: {reason}; add to the Operator there:"),
                    lines: calls(registration, prefix),
                });
                break;
            }
        }
        by_hand = None;
        break;
    }
    if new_root != root.text {
        changes.edit(&root.path, formatted_like(&root.text, new_root));
    }
    Ok(by_hand)
}

/// Returns the crate's root with the declaration of the module.
fn with_declaration(root: &Source, registration: &Registration<'_>) -> Result<Source, Error> {
    let Some(declaration) = registration.declaration else {
        return Source::parse(&root.path, root.text.clone());
    };
    match add_module(root, registration.module, declaration) {
        AddedModule::Text(text) => Source::parse(&root.path, text),
        AddedModule::Exists => Err(Error::ModuleExists {
            path: root.path.clone(),
            module: registration.module.to_owned(),
        }),
    }
}

fn append_calls(file: &Source, calls: &[String]) -> Result<AddedCall, Error> {
    let mut current = Source::parse(&file.path, file.text.clone())?;
    for call in calls {
        match append_call(&current, call) {
            AddedCall::Text(text) => current = Source::parse(&file.path, text)?,
            other => return Ok(other),
        }
    }
    Ok(AddedCall::Text(current.text))
}

fn calls(registration: &Registration<'_>, prefix: &str) -> Vec<String> {
    let module = format!("{prefix}{}", registration.module);
    let fill = |call: &String| call.replace("{module}", &module);
    registration.calls.iter().map(fill).collect()
}

/// Adds a test to the project: as a module of `tests/it`, or as a test binary of its own.
pub(super) fn add_test(
    folder: &Path,
    tree: &Tree,
    module: &str,
    text: String,
    changes: &mut Changes,
) -> Result<(), Error> {
    if !tree.has_library() {
        note("no test was added: without a src/lib.rs, a test has nothing to use");
        return Ok(());
    }
    let main = folder.join("tests/it/main.rs");
    if !main.exists() {
        changes.create(folder.join(format!("tests/{module}.rs")), text);
        return Ok(());
    }
    let source = Source::read(&main)?;
    if let AddedModule::Text(new) = add_module(&source, module, &format!("mod {module};")) {
        changes.edit(&main, formatted_like(&source.text, new));
    }
    changes.create(folder.join(format!("tests/it/{module}.rs")), text);
    Ok(())
}
