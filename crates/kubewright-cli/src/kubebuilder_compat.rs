//! Commands and flags of kubebuilder, and what replaces them: users who type one get an error that
//! names the replacement.

use crate::error::Error;

/// A flag of a kubebuilder command that the command of the same name does not have here.
struct ReplacedFlag {
    command: &'static str,
    flag: &'static str,
    replacement: &'static str,
}

const fn flag(
    command: &'static str,
    flag: &'static str,
    replacement: &'static str,
) -> ReplacedFlag {
    ReplacedFlag {
        command,
        flag,
        replacement,
    }
}

const FLAGS: [ReplacedFlag; 26] = [
    flag(
        "init",
        "--repo",
        "not needed: Cargo.toml names the package, and Cargo finds its sources",
    ),
    flag(
        "init",
        "--plugins",
        "one layout for all projects; `kubewright manifests --helm DIR` writes the chart",
    ),
    flag(
        "init",
        "--multigroup",
        "any number of groups: `kubewright create api --group GROUP`",
    ),
    flag(
        "init",
        "--namespaced",
        "`Operator::namespaces([\"shop\"])` in src/lib.rs",
    ),
    flag(
        "init",
        "--fetch-deps",
        "not needed: `cargo build` fetches what is missing",
    ),
    flag(
        "init",
        "--license-file",
        "`license-file` in Cargo.toml; `--license` and `--owner` for headers",
    ),
    flag(
        "init",
        "--skip-go-version-check",
        "`kubewright doctor`, which lists what is missing",
    ),
    flag(
        "create api",
        "--controller-name",
        "the function `controller` in the kind's file, under any name",
    ),
    flag("create api", "--force", NO_OVERWRITE),
    flag("create api", "--make", NO_GENERATED_CODE),
    flag("create api", "--external-api-path", TYPES),
    flag("create api", "--external-api-domain", TYPES),
    flag("create api", "--external-api-module", TYPES),
    flag("create api", "--image", IMAGE),
    flag("create api", "--image-container-command", IMAGE),
    flag("create api", "--image-container-port", IMAGE),
    flag("create api", "--run-as-user", IMAGE),
    flag("create api", "--plugins", IMAGE),
    flag(
        "create webhook",
        "--spoke",
        "`kubewright create api` with another --version of the kind",
    ),
    flag("create webhook", "--defaulting-path", PATH),
    flag("create webhook", "--validation-path", PATH),
    flag("create webhook", "--force", NO_OVERWRITE),
    flag("create webhook", "--make", NO_GENERATED_CODE),
    flag(
        "create webhook",
        "--plural",
        "not needed: the type of the kind has its plural",
    ),
    flag("create webhook", "--external-api-path", TYPES),
    flag("create webhook", "--external-api-domain", TYPES),
];

const NO_OVERWRITE: &str = "files are never overwritten: move your file away, or edit it";
const NO_GENERATED_CODE: &str = "not needed: there is no generated code";
const TYPES: &str = "`kubewright generate types --crd NAME --to src/FILE.rs`, then `create webhook` \
                     or a controller for the type";
const IMAGE: &str = "`kubewright create api`, then change its reconciler: the chapter on Memcached \
                     creates such a Deployment";
const PATH: &str = "not needed: the path follows from the kind";

/// Returns the error for `alpha ...` and `edit ...`.
pub(crate) fn replaced_command(command: &str, arguments: &[String]) -> Error {
    let first = arguments.first().map(String::as_str).unwrap_or_default();
    let replacement = match (command, first) {
        ("alpha", "webhook") => create_webhook(arguments),
        ("alpha", "generate" | "update") => {
            "cargo update -p kubewright (there is no generated code to update)".to_owned()
        }
        ("edit", _) if mentions(arguments, "helm") => "kubewright manifests --helm DIR".to_owned(),
        ("edit", _) if mentions(arguments, "multigroup") => {
            "kubewright create api --group GROUP (any number of groups, without a setting)"
                .to_owned()
        }
        ("edit", _) => {
            "edit Cargo.toml: license, authors, and the domain in [package.metadata.kubewright]"
                .to_owned()
        }
        _ => "kubewright help".to_owned(),
    };
    let typed = [&[command.to_owned()], arguments].concat().join(" ");
    Error::KubebuilderCommand { typed, replacement }
}

/// Returns the error for a flag that only kubebuilder has; none for other unknown flags.
pub(crate) fn replaced_flag(typed: &[String], flag: &str) -> Option<Error> {
    let words = typed.iter().take_while(|word| !word.starts_with('-'));
    let line = words
        .map(String::as_str)
        .take(2)
        .collect::<Vec<_>>()
        .join(" ");
    let found = FLAGS.iter().find(|entry| {
        let is_command = line == entry.command || line.starts_with(&format!("{} ", entry.command));
        is_command && entry.flag == flag
    })?;
    Some(Error::KubebuilderCommand {
        typed: format!("{} {flag}", found.command),
        replacement: found.replacement.to_owned(),
    })
}

fn mentions(arguments: &[String], word: &str) -> bool {
    arguments.iter().any(|argument| argument.contains(word))
}

/// Translates `alpha webhook --type=mutating --operations=create,update --group .. --version ..
/// --kind ..`.
fn create_webhook(arguments: &[String]) -> String {
    let mut command = vec!["kubewright create webhook".to_owned()];
    let mut words = arguments.iter().skip(1).peekable();
    while let Some(word) = words.next() {
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) => (flag, value.to_owned()),
            None => (word.as_str(), words.next().cloned().unwrap_or_default()),
        };
        command.push(match (flag, value.as_str()) {
            ("--type", "mutating") => "--defaulting".to_owned(),
            ("--type", "validating") => "--validation".to_owned(),
            ("--operation", _) => format!("--operations {value}"),
            _ => format!("{flag} {value}"),
        });
    }
    command.join(" ")
}

#[cfg(test)]
mod tests {
    use super::{replaced_command, replaced_flag};

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn message_for(line: &str) -> String {
        let words = words(line);
        replaced_command(&words[0], &words[1..]).to_string()
    }

    #[test]
    fn alpha_webhook_is_translated_to_create_webhook() {
        let line = "alpha webhook --group core --version v1 --kind Pod --type=mutating --operation=create,update";
        let message = message_for(line);
        assert!(
            message.ends_with(
                "kubewright create webhook --group core --version v1 --kind Pod --defaulting --operations create,update"
            ),
            "{message}"
        );
    }

    #[test]
    fn flag_is_replaced_only_for_the_command_that_has_it_in_kubebuilder() {
        let init = words("init sites --repo example.com/sites");
        let message = replaced_flag(&init, "--repo").map(|error| error.to_string());
        assert!(message.is_some_and(|message| {
            message.starts_with("`init --repo` belongs to kubebuilder")
        }));
        let webhook = words("create webhook --kind Site --spoke v2");
        let message = replaced_flag(&webhook, "--spoke").map(|error| error.to_string());
        assert!(message.is_some_and(|message| message.contains("create api")));
        assert!(replaced_flag(&words("deploy --repo x"), "--repo").is_none());
        assert!(replaced_flag(&init, "--reop").is_none());
    }

    #[test]
    fn error_for_a_kubebuilder_command_names_its_replacement() {
        assert!(message_for("edit --multigroup=true").contains("create api --group"));
        assert!(message_for("edit --plugins=helm/v2-alpha").contains("manifests --helm"));
        assert!(message_for("alpha update").contains("cargo update"));
    }
}
