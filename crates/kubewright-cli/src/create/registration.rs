use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::output::note;
use crate::project::Changes;
use crate::source::{AddedModule, Placed, Source, Tree, add_module, append_call, formatted_like};

/// What a new module needs so that the crate knows of it.
#[derive(Debug)]
pub(super) struct Registration<'a> {
    /// The module's name.
    pub(super) module: &'a str,
    /// The line that declares it, such as `pub mod site;`; none for a module that is there.
    pub(super) declaration: Option<&'a str>,
    /// Calls for `operator()`, with `{module}` where the module's path belongs.
    pub(super) calls: &'a [String],
}

/// A line that the user has to add, because nobody can tell where it belongs.
#[derive(Debug)]
pub(super) struct ByHand {
    path: PathBuf,
    place: String,
    lines: Vec<String>,
}

impl ByHand {
    /// The error that says it.
    pub(super) fn into_error(self) -> Error {
        Error::AddByHand {
            path: self.path,
            place: self.place,
            lines: self.lines.join("\n    "),
        }
    }
}

/// Declares the module in the crate's root and adds the calls to `operator()`, wherever in `src`
/// that is. What cannot be placed comes back; everything else is among the changes.
pub(super) fn register(
    tree: &Tree,
    registration: &Registration<'_>,
    changes: &mut Changes,
) -> Result<Option<ByHand>, Error> {
    let root = tree.root();
    let declared = declared(root, registration)?;
    let mut by_hand = Some(ByHand {
        path: root.path.clone(),
        place: "no function `operator` was found in src; where the Operator is built".to_owned(),
        lines: calls(registration, "crate::"),
    });
    let mut new_root = declared.text.clone();
    for file in tree.files() {
        let is_root = file.path == root.path;
        let (current, prefix) = match is_root {
            true => (&declared, ""),
            false => (file, "crate::"),
        };
        match placed(current, &calls(registration, prefix))? {
            Placed::Absent => continue,
            Placed::Text(text) if is_root => new_root = text,
            Placed::Text(text) => {
                changes.edit(&file.path, formatted_like(&file.text, text));
            }
            Placed::Unclear { line, why } => {
                by_hand = Some(ByHand {
                    path: file.path.clone(),
                    place: format!("line {line}: {why}; to the Operator there"),
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

/// The crate's root with the module in it.
fn declared(root: &Source, registration: &Registration<'_>) -> Result<Source, Error> {
    let Some(declaration) = registration.declaration else {
        return Source::parse(&root.path, root.text.clone());
    };
    match add_module(root, registration.module, declaration) {
        AddedModule::Text(text) => Source::parse(&root.path, text),
        AddedModule::Present => Err(Error::ModuleIsThere {
            path: root.path.clone(),
            module: registration.module.to_owned(),
        }),
    }
}

/// Adds each of the calls.
fn placed(file: &Source, calls: &[String]) -> Result<Placed, Error> {
    let mut current = Source::parse(&file.path, file.text.clone())?;
    for call in calls {
        match append_call(&current, call) {
            Placed::Text(text) => current = Source::parse(&file.path, text)?,
            other => return Ok(other),
        }
    }
    Ok(Placed::Text(current.text))
}

fn calls(registration: &Registration<'_>, prefix: &str) -> Vec<String> {
    let module = format!("{prefix}{}", registration.module);
    let fill = |call: &String| call.replace("{module}", &module);
    registration.calls.iter().map(fill).collect()
}

/// Adds a test file to the project: to its one test binary, or as a binary of its own.
pub(super) fn add_test(
    folder: &Path,
    tree: &Tree,
    module: &str,
    text: String,
    changes: &mut Changes,
) -> Result<(), Error> {
    if !tree.has_library() {
        note("no test: without a src/lib.rs there is nothing that a test could use");
        return Ok(());
    }
    let main = folder.join("tests/it/main.rs");
    if !main.exists() {
        changes.make(folder.join(format!("tests/{module}.rs")), text);
        return Ok(());
    }
    let source = Source::read(&main)?;
    if let AddedModule::Text(new) = add_module(&source, module, &format!("mod {module};")) {
        changes.edit(&main, formatted_like(&source.text, new));
    }
    changes.make(folder.join(format!("tests/it/{module}.rs")), text);
    Ok(())
}
