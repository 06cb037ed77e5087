//! Help, completions, `version`, `doctor` and exit codes.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;
use tree_sitter::{Language, Parser};

use super::{error_of, kubewright, skipped, stderr, stdout};

/// Returns the standard output of a call that must succeed.
fn output_of(arguments: &[&str]) -> String {
    let output = kubewright(arguments).output().expect("the command runs");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("a text")
}

/// Returns the commands in a help text.
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
    let all = commands(&output_of(&["--help"]));
    assert!(all.len() >= 14, "{all:?}");
    for name in all {
        let help = output_of(&[&name, "--help"]);
        let below = commands(&help);
        assert!(
            !below.is_empty() || help.contains("Example"),
            "{name}:\n{help}"
        );
        for inner in below {
            let help = output_of(&[&name, &inner, "--help"]);
            assert!(help.contains("Example"), "{name} {inner}:\n{help}");
        }
    }
}

/// Returns the grammar of a shell that is rarely installed.
fn grammar(shell: &str) -> Option<Language> {
    match shell {
        "fish" => Some(tree_sitter_fish::language()),
        "powershell" => Some(tree_sitter_powershell::LANGUAGE.into()),
        "zsh" => Some(tree_sitter_zsh::LANGUAGE.into()),
        _ => None,
    }
}

/// Returns the parts of a script that do not parse.
fn syntax_errors<'s>(grammar: &Language, script: &'s str) -> Vec<&'s str> {
    let mut parser = Parser::new();
    parser.set_language(grammar).expect("a grammar");
    let tree = parser.parse(script, None).expect("a tree");
    let mut nodes = vec![tree.root_node()];
    let mut errors = Vec::new();
    while let Some(node) = nodes.pop() {
        if node.is_error() || node.is_missing() {
            errors.extend(script.get(node.byte_range()));
        } else {
            nodes.extend(node.children(&mut tree.walk()));
        }
    }
    errors
}

#[test]
fn completions_parse_in_their_shells() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = output_of(&["completions", shell]);
        for word in ["create", "--dry-run", "completions"] {
            assert!(
                script.contains(word.trim_start_matches('-')),
                "{shell}: {word}"
            );
        }
        if let Some(grammar) = grammar(shell) {
            // The grammar requires parentheses that PowerShell does not require.
            let script = script.replace(
                "Where{ $_.CompletionText -like \"$wordToComplete*\" }",
                "Where({ $true })",
            );
            assert_eq!(syntax_errors(&grammar, &script), [""; 0], "{shell}");
            let broken = format!("{script}\n)");
            assert!(!syntax_errors(&grammar, &broken).is_empty(), "{shell}");
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
                skipped(format_args!("{shell} is not installed"));
                continue;
            }
        };
        let mut stdin = checker.stdin.take().expect("a pipe");
        stdin.write_all(script.as_bytes()).expect("it reads");
        drop(stdin);
        let output = checker.wait_with_output().expect("it exits");
        assert!(output.status.success(), "{shell}: {output:?}");
    }
}

#[test]
fn bash_completes_commands_and_flags() {
    let script = output_of(&["completions", "bash"]);
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
fn version_prints_what_the_command_was_built_from() {
    let text = output_of(&["version"]);
    assert!(text.contains("kubernetes   1.36.3"), "{text}");
    let version: Value =
        serde_json::from_str(&output_of(&["version", "--output", "json"])).expect("JSON");
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    let rustc = version["rustc"].as_str().expect("a rustc");
    assert!(rustc.starts_with("rustc 1."), "{rustc}");
    let commit = version["commit"].as_str().expect("a commit");
    assert!(commit == "unknown" || commit.len() >= 40, "{commit}");
}

#[test]
fn doctor_prints_missing_tools_and_what_needs_them() {
    let empty = tempfile::tempdir().expect("a folder");
    let without_tools = |arguments: &[&str]| {
        let mut command = kubewright(arguments);
        command.env("PATH", empty.path()).env_remove("CC");
        command.env("KUBEWRIGHT_CACHE", empty.path());
        command.output().expect("the command runs")
    };
    let output = without_tools(&["doctor"]);
    let error = error_of(&output);
    for name in ["cargo", "C compiler", "Go", "control plane", "kubectl"] {
        assert!(error.contains(name), "{name} in {error}");
    }
    let listed = stdout(&output);
    assert!(
        listed.contains("MISSING  cargo: nothing can be built"),
        "{listed}"
    );
    let output = without_tools(&["doctor", "--output", "json"]);
    let all: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(all.iter().all(|tool| tool["found"].is_null()), "{all:?}");
    let needed = output_of(&["doctor", "--needed"]);
    assert!(needed.contains("found    cargo: cargo 1."), "{needed}");
}

#[test]
fn invalid_command_line_has_exit_code_two() {
    let output = kubewright(&["deploy", "--imgae", "x"]).output();
    let output = output.expect("the command runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let error = stderr(&output);
    assert!(error.contains("--image"), "{error}");
}
