//! `init`, and the project that it creates.

use std::fs;

use serde_json::json;

use super::demo_project::{DemoProject, SITE, assert_no_placeholders};
use crate::nested_build::workspace;
use crate::stderr;

#[test]
fn project_with_a_kind_and_a_webhook_is_twelve_short_files() {
    let project = DemoProject::with_site();
    let webhook = "create webhook --kind Site --defaulting --validation";
    let printed = project.succeed(webhook);
    assert!(printed.contains("12 files"), "{printed}");
    let files = project.files();
    assert!(files.len() <= 12, "{:?}", files.keys());
    for (name, text) in &files {
        assert!(text.lines().count() <= 120, "{name}");
    }
    assert_no_placeholders(&files);
    let library = &files["src/lib.rs"];
    for line in [
        "pub mod site;",
        "mod site_webhook;",
        ".controller(site::controller())",
        ".webhook(site_webhook::defaults())",
        ".webhook(site_webhook::validates())",
    ] {
        assert!(library.contains(line), "{line} in\n{library}");
    }
    assert!(files["src/site.rs"].contains("group = \"web.ex.io\""));
}

#[test]
fn json_output_has_the_written_files() {
    let project = DemoProject::empty();
    let result = project.succeed_json("init --name demo");
    assert_eq!(result["files"], 8);
    assert_eq!(result["created"].as_array().map(Vec::len), Some(8));
    let result = project.succeed_json(SITE);
    assert_eq!(result["changed"], json!(["src/lib.rs", "tests/it/main.rs"]));
    let result = project.succeed_json("create webhook --kind Site --validation");
    assert_eq!(result["created"], json!(["src/site_webhook.rs"]));
    assert_eq!(result["files"], 12);
}

#[test]
fn existing_files_are_never_overwritten() {
    let project = DemoProject::empty();
    fs::write(project.path("README.md"), "precious").expect("a file");
    project.succeed("init --name demo");
    let before = project.files();
    assert_eq!(before["README.md"], "precious");
    let error = project.fail("init --name demo");
    assert!(error.contains("Cargo.toml is there already"), "{error}");
    assert_eq!(project.files(), before);
}

/// The tests run a command that was built from a checkout.
#[test]
fn project_that_cannot_be_built_yet_has_a_warning() {
    let project = DemoProject::empty();
    let output = project.call("init --name demo");
    assert!(output.status.success(), "{output:?}");
    let notes = stderr(&output);
    for part in [
        "warning: the project cannot be built yet: Kubewright ",
        "kubewright-testing by path = \"SOURCES/crates/kubewright-testing\"",
        "kubewright init --kubewright-path SOURCES",
    ] {
        assert!(notes.contains(part), "{part} in {notes}");
    }
    let project = DemoProject::empty();
    let sources = workspace();
    let sources = sources.to_str().expect("a path in UTF-8");
    let init = ["init", "--name", "demo", "--kubewright-path", sources];
    let notes = stderr(&project.call_with(&init));
    assert!(!notes.contains("warning"), "{notes}");
    assert!(notes.contains("note: Containerfile and "), "{notes}");
}

#[test]
fn rust_files_have_a_header_with_owner_and_license() {
    let project = DemoProject::empty();
    let init = [
        "init",
        "--name",
        "demo",
        "--owner",
        "Example Ltd.",
        "--license",
        "MIT",
    ];
    assert!(project.call_with(&init).status.success());
    project.succeed(SITE);
    let files = project.files();
    for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".rs")) {
        let header = "// Copyright Example Ltd.\n// SPDX-License-Identifier: MIT\n";
        assert!(text.starts_with(header), "{name}:\n{text}");
    }
}

#[test]
fn apache2_is_the_license_as_kubebuilder_spells_it() {
    let project = DemoProject::empty();
    project.succeed("init --name demo --owner Demo --license apache2");
    let files = project.files();
    assert!(files["Cargo.toml"].contains("license = \"Apache-2.0\""));
    assert!(files["src/lib.rs"].contains("// SPDX-License-Identifier: Apache-2.0\n"));
}

#[test]
fn error_for_an_invalid_domain_names_its_flag() {
    let project = DemoProject::empty();
    let init = ["init", "--name", "demo", "--domain", "exa mple"];
    let error = stderr(&project.call_with(&init));
    assert!(error.contains("--domain"), "{error}");
    assert!(!error.contains("--group"), "{error}");
}
