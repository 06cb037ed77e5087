//! Help, completions, `version`, `doctor` and exit codes.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;
use tree_sitter::{Language, Parser};

use super::{complaint, kubewright, skipped};

fn printed(arguments: &[&str]) -> String {
    let output = kubewright(arguments).output().expect("the command runs");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("a text")
}

/// The words after `Commands:` in a help text.
fn commands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .filter(|name| name != "help")
        .collect()
}

#[test]
fn every_command_has_help_with_an_example() {
    let all = commands(&printed(&["--help"]));
    assert!(all.len() >= 14, "{all:?}");
    for name in all {
        let help = printed(&[&name, "--help"]);
        let below = commands(&help);
        assert!(
            !below.is_empty() || help.contains("Example"),
            "{name}:\n{help}"
        );
        for inner in below {
            let help = printed(&[&name, &inner, "--help"]);
            assert!(help.contains("Example"), "{name} {inner}:\n{help}");
        }
    }
}

/// The grammar of a shell that few machines have.
fn grammar(shell: &str) -> Option<Language> {
    match shell {
        "fish" => Some(tree_sitter_fish::language()),
        "powershell" => Some(tree_sitter_powershell::LANGUAGE.into()),
        "zsh" => Some(tree_sitter_zsh::LANGUAGE.into()),
        _ => None,
    }
}

/// What a grammar cannot read of a script.
fn misread<'s>(grammar: &Language, script: &'s str) -> Vec<&'s str> {
    let mut parser = Parser::new();
    parser.set_language(grammar).expect("a grammar");
    let tree = parser.parse(script, None).expect("a tree");
    let mut open = vec![tree.root_node()];
    let mut found = Vec::new();
    while let Some(node) = open.pop() {
        match node.is_error() || node.is_missing() {
            true => found.extend(script.get(node.byte_range())),
            false => open.extend(node.children(&mut tree.walk())),
        }
    }
    found
}

#[test]
fn completions_parse_in_their_shells() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = printed(&["completions", shell]);
        for word in ["create", "--dry-run", "completions"] {
            assert!(
                script.contains(word.trim_start_matches('-')),
                "{shell}: {word}"
            );
        }
        if let Some(grammar) = grammar(shell) {
            // The grammar wants the parentheses that PowerShell does not.
            let script = script.replace(
                "Where{ $_.CompletionText -like \"$wordToComplete*\" }",
                "Where({ $true })",
            );
            assert_eq!(misread(&grammar, &script), [""; 0], "{shell}");
            let broken = format!("{script}\n)");
            assert!(!misread(&grammar, &broken).is_empty(), "{shell}");
            continue;
        }
        let checker = Command::new(shell)
            .arg("-n")
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut checker = match checker {
            Ok(checker) if shell != "elvish" => checker,
            _ => {
                skipped(format_args!("{shell} is not here to read its script"));
                continue;
            }
        };
        let mut words = checker.stdin.take().expect("a pipe");
        words.write_all(script.as_bytes()).expect("it reads");
        drop(words);
        let output = checker.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{shell}: {output:?}");
    }
}

#[test]
fn bash_completes_commands_and_flags() {
    let script = printed(&["completions", "bash"]);
    let complete = |words: &[&str]| {
        let line = format!(
            "{script}\nCOMP_WORDS=({}); COMP_CWORD={}; _kubewright kubewright '{}' x; echo \"${{COMPREPLY[@]}}\"",
            words.join(" "),
            words.len() - 1,
            words.last().expect("a word")
        );
        let output = Command::new("bash")
            .args(["-c", &line])
            .output()
            .expect("bash runs");
        String::from_utf8(output.stdout).expect("a text")
    };
    assert_eq!(complete(&["kubewright", "doc"]).trim(), "doctor");
    assert!(complete(&["kubewright", "deploy", "--dry"]).contains("--dry-run"));
}

#[test]
fn the_version_says_what_the_command_was_built_from() {
    let text = printed(&["version"]);
    assert!(text.contains("kubernetes   1.36.3"), "{text}");
    let answer: Value =
        serde_json::from_str(&printed(&["version", "--output", "json"])).expect("JSON");
    assert_eq!(answer["version"], env!("CARGO_PKG_VERSION"));
    let rustc = answer["rustc"].as_str().expect("a rustc");
    assert!(rustc.starts_with("rustc 1."), "{rustc}");
    let commit = answer["commit"].as_str().expect("a commit");
    assert!(commit == "unknown" || commit.len() >= 40, "{commit}");
}

#[test]
fn the_doctor_names_what_is_missing_and_what_that_costs() {
    let nothing = tempfile::tempdir().expect("a folder");
    let without = |arguments: &[&str]| {
        let mut command = kubewright(arguments);
        command.env("PATH", nothing.path()).env_remove("CC");
        command.env("KUBEWRIGHT_CACHE", nothing.path());
        command.output().expect("the command runs")
    };
    let output = without(&["doctor"]);
    let said = complaint(&output);
    for name in ["cargo", "C compiler", "Go", "control plane", "kubectl"] {
        assert!(said.contains(name), "{name} in {said}");
    }
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        listed.contains("MISSING  cargo: nothing can be built"),
        "{listed}"
    );
    let output = without(&["doctor", "--output", "json"]);
    let all: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(all.iter().all(|one| one["found"].is_null()), "{all:?}");
    let here = printed(&["doctor", "--needed"]);
    assert!(here.contains("found    cargo: cargo 1."), "{here}");
}

#[test]
fn a_line_that_is_not_understood_ends_with_two() {
    let output = kubewright(&["deploy", "--imgae", "x"]).output();
    let output = output.expect("the command runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("--image"), "{said}");
}
