//! The parts of a webhook's file: defaulting and validation, each with its test.

use crate::project::{Project, fill};
use crate::source::{Source, with_items};

/// A part of a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The function that is registered.
    pub(super) function: &'static str,
    code: Slot,
    test: Slot,
}

/// A placeholder of the template, and the text for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    name: &'static str,
    text: &'static str,
}

pub(super) const DEFAULTS: Part = Part {
    function: "defaults",
    code: Slot {
        name: "fill_in",
        text: include_str!("../../templates/fill_in.rs.txt"),
    },
    test: Slot {
        name: "fill_in_test",
        text: include_str!("../../templates/fill_in_test.rs.txt"),
    },
};

pub(super) const VALIDATES: Part = Part {
    function: "validates",
    code: Slot {
        name: "check",
        text: include_str!("../../templates/check.rs.txt"),
    },
    test: Slot {
        name: "check_test",
        text: include_str!("../../templates/check_test.rs.txt"),
    },
};

/// A name that the parts use and the prelude does not have.
#[derive(Clone, Copy, Debug)]
struct Import {
    module: &'static str,
    name: &'static str,
}

const IMPORTS: [Import; 4] = [
    Import {
        module: "std::collections",
        name: "BTreeMap",
    },
    Import {
        module: "kubewright::webhook",
        name: "Change",
    },
    Import {
        module: "kubewright::webhook",
        name: "Findings",
    },
    Import {
        module: "kubewright::webhook",
        name: "Operation",
    },
];

/// Returns the text with full paths in place of the names that the file does not import.
///
/// The text has no names of the user yet, so every occurrence is one of the template's.
fn with_paths(text: &str, file: &Source) -> String {
    let missing = IMPORTS
        .iter()
        .filter(|import| !is_imported(import, &file.text));
    missing.fold(text.to_owned(), |text, import| {
        text.replace(import.name, &format!("{}::{}", import.module, import.name))
    })
}

fn is_imported(import: &Import, text: &str) -> bool {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    text.split(';')
        .filter_map(|statement| statement.rsplit_once("use "))
        .filter(|(_, tree)| tree.starts_with(import.module))
        .any(|(_, tree)| tree.split(|c| !is_word(c)).any(|word| word == import.name))
}

/// The file of a webhook.
#[derive(Debug)]
pub(super) struct WebhookFile<'a> {
    pub(super) project: &'a Project,
    pub(super) kind: &'a str,
    /// Calls that restrict the webhook to operations.
    pub(super) operations: String,
}

impl WebhookFile<'_> {
    /// Returns the text of a new file with these parts, for the kind at the path.
    pub(super) fn new_text(&self, path: &str, parts: &[Part]) -> String {
        let slots: Vec<_> = [DEFAULTS, VALIDATES]
            .into_iter()
            .flat_map(|part| {
                let is_included = parts.contains(&part);
                [part.code, part.test]
                    .map(|slot| (slot.name, if is_included { slot.text } else { "" }))
            })
            .collect();
        let template = fill(include_str!("../../templates/webhook.rs.txt"), &slots);
        let template = fill(&template, &[("operations", &self.operations)]);
        let imports = |module: &str| -> String {
            let names: Vec<_> = IMPORTS
                .iter()
                .filter(|import| import.module == module && template.contains(import.name))
                .map(|import| import.name)
                .collect();
            match names.as_slice() {
                [] => String::new(),
                [name] => format!("use {module}::{name};"),
                names => format!("use {module}::{{{}}};", names.join(", ")),
            }
        };
        let collections = match imports("std::collections") {
            line if line.is_empty() => line,
            line => format!("{line}\n"),
        };
        self.filled(&fill(
            &template,
            &[
                ("header", &self.project.header()),
                ("collections", &collections),
                ("webhook_types", &imports("kubewright::webhook")),
                ("path", path),
            ],
        ))
    }

    /// Returns the text of an existing file with these parts added.
    pub(super) fn with_parts(&self, file: &Source, parts: &[Part]) -> String {
        let joined = |text: fn(&Part) -> &'static str| -> String {
            let texts: String = parts.iter().map(text).collect();
            let texts = fill(&texts, &[("operations", &self.operations)]);
            self.filled(&with_paths(&texts, file))
        };
        with_items(
            file,
            &joined(|part| part.code.text),
            &joined(|part| part.test.text),
        )
    }

    fn filled(&self, text: &str) -> String {
        fill(text, &[("Kind", self.kind), ("name", &self.project.name)])
    }
}
