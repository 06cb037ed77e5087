//! What people type who know kubebuilder, answered with the command of ours.

use crate::error::Error;

/// Answers `alpha ...` and `edit ...`.
pub(crate) fn answer(command: &str, arguments: &[String]) -> Error {
    let first = arguments.first().map(String::as_str).unwrap_or_default();
    let ours = match (command, first) {
        ("alpha", "webhook") => webhook(arguments),
        ("alpha", "generate" | "update") => {
            "cargo update -p kubewright (there is no generated code to make again)".to_owned()
        }
        ("edit", _) if mentions(arguments, "helm") => "kubewright manifests --helm DIR".to_owned(),
        ("edit", _) if mentions(arguments, "multigroup") => {
            "kubewright create api --group GROUP (any number of groups needs no setting)".to_owned()
        }
        ("edit", _) => {
            "edit Cargo.toml: licence, authors, and the domain in [package.metadata.kubewright]"
                .to_owned()
        }
        _ => "kubewright help".to_owned(),
    };
    let typed = [&[command.to_owned()], arguments].concat().join(" ");
    Error::FormerCommand { typed, ours }
}

/// Flags of kubebuilder's that the commands of the same name have not, and what takes their place.
const FLAGS: [(&str, &str, &str); 26] = [
    (
        "init",
        "--repo",
        "nothing to say: Cargo.toml names the package, and Cargo knows its sources",
    ),
    (
        "init",
        "--plugins",
        "one layout for all; `kubewright manifests --helm DIR` writes the chart",
    ),
    (
        "init",
        "--multigroup",
        "any number of groups: `kubewright create api --group GROUP`",
    ),
    (
        "init",
        "--namespaced",
        "`Operator::namespaces([\"shop\"])` in src/lib.rs",
    ),
    (
        "init",
        "--fetch-deps",
        "nothing to say: `cargo build` fetches what is missing",
    ),
    (
        "init",
        "--license-file",
        "`license-file` in Cargo.toml; `--license` and `--owner` for headers",
    ),
    (
        "init",
        "--skip-go-version-check",
        "`kubewright doctor`, which says what is missing",
    ),
    (
        "create api",
        "--controller-name",
        "the function `controller` in the kind's file, by any name",
    ),
    (
        "create api",
        "--force",
        "no overwriting: move your file away, or edit it",
    ),
    (
        "create api",
        "--make",
        "nothing to run: there is no generated code",
    ),
    ("create api", "--external-api-path", TYPES),
    ("create api", "--external-api-domain", TYPES),
    ("create api", "--external-api-module", TYPES),
    ("create api", "--image", IMAGE),
    ("create api", "--image-container-command", IMAGE),
    ("create api", "--image-container-port", IMAGE),
    ("create api", "--run-as-user", IMAGE),
    ("create api", "--plugins", IMAGE),
    (
        "create webhook",
        "--spoke",
        "`kubewright create api` with another --version of the kind",
    ),
    ("create webhook", "--defaulting-path", PATH),
    ("create webhook", "--validation-path", PATH),
    (
        "create webhook",
        "--force",
        "no overwriting: move your file away, or edit it",
    ),
    (
        "create webhook",
        "--make",
        "nothing to run: there is no generated code",
    ),
    (
        "create webhook",
        "--plural",
        "the kind's own plural, which its type knows",
    ),
    ("create webhook", "--external-api-path", TYPES),
    ("create webhook", "--external-api-domain", TYPES),
];

const TYPES: &str = "`kubewright generate types --crd NAME --to src/FILE.rs`, then `create webhook` \
                     or a controller for the type";
const IMAGE: &str = "`kubewright create api`, whose reconciler you change: the chapter on Memcached \
                     makes such a Deployment";
const PATH: &str = "nothing to say: the path follows from the kind";

/// Answers a flag of kubebuilder's that the command of ours, as it was typed, does not have.
pub(crate) fn flag(typed: &[String], flag: &str) -> Option<Error> {
    let words = typed.iter().take_while(|word| !word.starts_with('-'));
    let words: Vec<&str> = words.map(String::as_str).take(2).collect();
    let line = words.join(" ");
    let is_it = |(command, name, _): &&(&str, &str, &str)| {
        let same = line == *command || line.starts_with(&format!("{command} "));
        same && *name == flag
    };
    let (command, _, ours) = FLAGS.iter().find(is_it)?;
    Some(Error::FormerCommand {
        typed: format!("{command} {flag}"),
        ours: (*ours).to_owned(),
    })
}

fn mentions(arguments: &[String], word: &str) -> bool {
    arguments.iter().any(|argument| argument.contains(word))
}

/// `alpha webhook --type=mutating --operations=create,update --group .. --version .. --kind ..`
fn webhook(arguments: &[String]) -> String {
    let mut ours = vec!["kubewright create webhook".to_owned()];
    let mut words = arguments.iter().skip(1).peekable();
    while let Some(word) = words.next() {
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) => (flag, value.to_owned()),
            None => (word.as_str(), words.next().cloned().unwrap_or_default()),
        };
        ours.push(match (flag, value.as_str()) {
            ("--type", "mutating") => "--defaulting".to_owned(),
            ("--type", "validating") => "--validation".to_owned(),
            _ => format!("{flag} {value}"),
        });
    }
    ours.join(" ")
}

#[cfg(test)]
mod tests {
    use super::{answer, flag};

    fn ours(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        answer(&words[0], &words[1..]).to_string()
    }

    #[test]
    fn the_old_webhook_command_is_spelt_anew() {
        let line = "alpha webhook --group core --version v1 --kind Pod --type=mutating --operations=create,update";
        let answer = ours(line);
        assert!(
            answer.ends_with(
                "kubewright create webhook --group core --version v1 --kind Pod --defaulting --operations create,update"
            ),
            "{answer}"
        );
    }

    #[test]
    fn a_flag_of_kubebuilders_is_answered_on_the_command_that_had_it() {
        let typed = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
        let init = typed("init sites --repo example.com/sites");
        let said = flag(&init, "--repo").map(|error| error.to_string());
        assert!(said.is_some_and(|said| said.starts_with("`init --repo` is kubebuilder's")));
        let webhook = typed("create webhook --kind Site --spoke v2");
        let said = flag(&webhook, "--spoke").map(|error| error.to_string());
        assert!(said.is_some_and(|said| said.contains("create api")));
        assert!(flag(&typed("deploy --repo x"), "--repo").is_none());
        assert!(flag(&init, "--reop").is_none());
    }

    #[test]
    fn each_answer_names_what_to_do() {
        assert!(ours("edit --multigroup=true").contains("create api --group"));
        assert!(ours("edit --plugins=helm/v2-alpha").contains("manifests --helm"));
        assert!(ours("alpha update").contains("cargo update"));
    }
}
