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
    use super::answer;

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
    fn each_answer_names_what_to_do() {
        assert!(ours("edit --multigroup=true").contains("create api --group"));
        assert!(ours("edit --plugins=helm/v2-alpha").contains("manifests --helm"));
        assert!(ours("alpha update").contains("cargo update"));
    }
}
