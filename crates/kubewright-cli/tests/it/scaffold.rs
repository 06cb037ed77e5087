//! `init`, `create api` and `create webhook`, without building what they make.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{complaint, kubewright};

fn run(folder: &Path, arguments: &[&str]) -> std::process::Output {
    kubewright(arguments)
        .current_dir(folder)
        .output()
        .expect("the command runs")
}

/// What a call that succeeds prints.
fn must(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A project as `init` makes it.
fn project() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["init", "--name", "demo", "--domain", "ex.io"];
    must(folder.path(), &arguments);
    folder
}

const SITE: [&str; 8] = [
    "create",
    "api",
    "--group",
    "web",
    "--version",
    "v1",
    "--kind",
    "Site",
];

/// All files below a folder, with their texts.
fn files(folder: &Path) -> BTreeMap<String, String> {
    fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(root, &path, found);
                continue;
            }
            let name = path.strip_prefix(root).expect("a path below").display();
            found.insert(name.to_string(), fs::read_to_string(&path).expect("a text"));
        }
    }
    let mut found = BTreeMap::new();
    collect(folder, folder, &mut found);
    found
}

#[test]
fn a_project_with_a_kind_and_a_webhook_is_twelve_short_files() {
    let folder = project();
    must(folder.path(), &SITE);
    let webhook = [
        "create",
        "webhook",
        "--kind",
        "Site",
        "--defaulting",
        "--validation",
    ];
    let said = must(folder.path(), &webhook);
    assert!(said.contains("12 files"), "{said}");
    let files = files(folder.path());
    assert!(files.len() <= 12, "{:?}", files.keys());
    for (name, text) in &files {
        assert!(text.lines().count() <= 120, "{name}");
        assert!(!text.contains("{{"), "{name} has an empty slot:\n{text}");
    }
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
fn a_script_reads_which_files_were_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = |arguments: &[&str]| -> Value {
        let printed = must(folder.path(), &[arguments, &["--output", "json"]].concat());
        serde_json::from_str(&printed).expect("one JSON value")
    };
    let made = json(&["init", "--name", "demo"]);
    assert_eq!(made["files"], 8);
    assert_eq!(made["made"].as_array().map(Vec::len), Some(8));
    let made = json(&SITE);
    assert_eq!(made["changed"], json!(["src/lib.rs", "tests/it/main.rs"]));
    let webhook = ["create", "webhook", "--kind", "Site", "--validation"];
    let made = json(&webhook);
    assert_eq!(made["made"], json!(["src/site_webhook.rs"]));
    assert_eq!(made["files"], 12);
}

#[test]
fn what_is_there_is_never_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("README.md"), "precious").expect("a file");
    must(folder.path(), &["init", "--name", "demo"]);
    let before = files(folder.path());
    assert_eq!(before["README.md"], "precious");
    let said = complaint(&run(folder.path(), &["init", "--name", "demo"]));
    assert!(said.contains("Cargo.toml is there already"), "{said}");
    assert_eq!(files(folder.path()), before);
}

#[test]
fn a_second_call_names_the_file_that_has_the_kind_and_changes_nothing() {
    let folder = project();
    must(folder.path(), &SITE);
    let before = files(folder.path());
    let said = complaint(&run(folder.path(), &SITE));
    assert!(said.contains("src/site.rs has that kind already"), "{said}");
    assert_eq!(files(folder.path()), before);
    let webhook = [
        "create",
        "webhook",
        "--kind",
        "Site",
        "--programmatic-validation",
    ];
    must(folder.path(), &webhook);
    let before = files(folder.path());
    let said = complaint(&run(folder.path(), &webhook));
    assert!(
        said.contains("src/site_webhook.rs has one already"),
        "{said}"
    );
    assert_eq!(files(folder.path()), before);
}

#[test]
fn a_second_version_comes_with_its_conversion_a_sample_and_a_test() {
    let folder = project();
    must(folder.path(), &SITE);
    let second = SITE.map(|word| if word == "v1" { "v2" } else { word });
    let said = must(folder.path(), &second);
    assert!(
        said.contains("v1 stays the version that is stored"),
        "{said}"
    );
    let made = files(folder.path());
    assert!(made["src/lib.rs"].contains(".webhook(site_v2::converts())"));
    assert!(made["tests/it/main.rs"].contains("mod site_v2;"));
    let test = &made["tests/it/site_v2.rs"];
    assert!(test.contains("an_object_of_v1_is_whole_after_a_write_in_v2"));
    // A field may have another name in each version, and the test stays green.
    assert!(!test.contains("json!(read.spec)"), "{test}");
    let sample = &made["samples/site_v2.yaml"];
    assert!(sample.contains("apiVersion: web.ex.io/v2\n"), "{sample}");
    assert!(sample.contains("message: Hello"), "{sample}");
    for (name, text) in &made {
        assert!(!text.contains("{{"), "{name} has an empty slot:\n{text}");
    }

    let said = complaint(&run(folder.path(), &second));
    assert!(
        said.contains("src/site_v2.rs has that kind already"),
        "{said}"
    );
    assert_eq!(files(folder.path()), made);
    // A third one is converted to the first, too.
    let third = SITE.map(|word| if word == "v1" { "v3" } else { word });
    must(folder.path(), &third);
    let third = &files(folder.path())["src/site_v3.rs"];
    assert!(third.contains("fn to_hub(object: Site) -> crate::site::Site"));
}

/// Validation is asked for later than defaulting: it comes into the file that is there.
#[test]
fn a_webhook_that_is_there_gets_what_it_lacks_and_keeps_what_it_has() {
    let folder = project();
    must(folder.path(), &SITE);
    let webhook = |part: &'static str| ["create", "webhook", "--kind", "Site", part];
    must(folder.path(), &webhook("--validation"));
    let path = folder.path().join("src/site_webhook.rs");
    let text = fs::read_to_string(&path).expect("the file");
    let edited = text.replace("/// Refuses what", "// Mine.\n/// Refuses what");
    fs::write(&path, &edited).expect("the file");
    must(folder.path(), &webhook("--defaulting"));
    let made = files(folder.path());
    let file = &made["src/site_webhook.rs"];
    for part in [
        "// Mine.\n/// Refuses what",
        "pub(crate) fn defaults() -> Webhook",
        "fn a_manager_that_is_named_stays()",
        "fn a_name_that_is_too_long_is_refused()",
    ] {
        assert_eq!(file.matches(part).count(), 1, "{part} in\n{file}");
    }
    let library = &made["src/lib.rs"];
    for call in ["defaults", "validates"] {
        let call = format!(".webhook(site_webhook::{call}())");
        assert_eq!(library.matches(&call).count(), 1, "{library}");
    }
    assert_eq!(library.matches("mod site_webhook;").count(), 1, "{library}");
    for part in ["--defaulting", "--validation"] {
        let said = complaint(&run(folder.path(), &webhook(part)));
        assert!(
            said.contains("src/site_webhook.rs has one already"),
            "{said}"
        );
    }
    assert_eq!(files(folder.path()), made);
}

/// Two versions that somebody wrote by hand get the ways between them.
#[test]
fn a_conversion_is_added_to_versions_that_have_none() {
    let folder = project();
    must(folder.path(), &SITE);
    must(
        folder.path(),
        &SITE.map(|word| if word == "v1" { "v2" } else { word }),
    );
    let asked = ["create", "webhook", "--kind", "Site", "--conversion"];
    let said = complaint(&run(folder.path(), &asked));
    assert!(said.contains("src/site_v2.rs has one already"), "{said}");

    let (second, library) = ("src/site_v2.rs", "src/lib.rs");
    let before = files(folder.path());
    let (kind, _) = before[second]
        .split_once("/// What the API server asks")
        .expect("it");
    let kind = kind.replace("pub message: String", "pub text: String");
    fs::write(folder.path().join(second), kind).expect("the file");
    let call = ".webhook(site_v2::converts())";
    let without = before[library].replace(call, "");
    fs::write(folder.path().join(library), without).expect("the file");
    let said = must(folder.path(), &asked);
    assert!(
        said.contains("v1 stays the version that is stored"),
        "{said}"
    );
    let after = files(folder.path());
    assert!(after[library].contains(call), "{}", after[library]);
    let made = &after[second];
    assert!(
        made.contains("Webhook::converts(to_hub, from_hub)"),
        "{made}"
    );
    for line in ["message: Default::default()", "text: Default::default()"] {
        assert!(made.contains(line), "{line} in\n{made}");
    }
    assert!(complaint(&run(folder.path(), &asked)).contains("src/site_v2.rs has one already"));
}

#[test]
fn two_kinds_stand_beside_each_other() {
    let folder = project();
    must(folder.path(), &SITE);
    let second = [
        "create",
        "api",
        "--group",
        "web",
        "--version",
        "v1beta1",
        "--kind",
        "HTTPRoute",
        "--plural",
        "httproutes",
        "--shortname",
        "hr",
        "--namespaced=false",
    ];
    must(folder.path(), &second);
    let files = files(folder.path());
    assert!(files["src/lib.rs"].contains(".controller(http_route::controller())"));
    assert!(files["tests/it/main.rs"].contains("mod http_route;\nmod site;\n"));
    let kind = &files["src/http_route.rs"];
    assert!(
        kind.contains("shortname = \"hr\"") && !kind.contains("namespaced,"),
        "{kind}"
    );
}

#[test]
fn a_kind_of_another_group_is_no_version_and_names_are_the_first_ones() {
    let folder = project();
    must(folder.path(), &SITE);
    let before = files(folder.path());
    let other = SITE.map(|word| if word == "web" { "shop" } else { word });
    let said = complaint(&run(folder.path(), &other));
    assert!(said.contains("src/site.rs has that kind already"), "{said}");
    let second = SITE.map(|word| if word == "v1" { "v2" } else { word });
    let named = [&second[..], &["--shortname", "st"]].concat();
    let said = complaint(&run(folder.path(), &named));
    assert!(said.contains("the names of the first"), "{said}");
    let scoped = [&second[..], &["--namespaced=false"]].concat();
    let said = complaint(&run(folder.path(), &scoped));
    assert!(said.contains("the scope of the first"), "{said}");
    assert_eq!(files(folder.path()), before);
}

#[test]
fn kinds_of_kubernetes_get_a_controller_or_a_webhook_without_a_type() {
    let folder = project();
    let controller = [
        "create",
        "api",
        "--group",
        "apps",
        "--version",
        "v1",
        "--kind",
        "Deployment",
        "--resource=false",
    ];
    must(folder.path(), &controller);
    let webhook = [
        "create",
        "webhook",
        "--group",
        "core",
        "--version",
        "v1",
        "--kind",
        "Pod",
        "--defaulting",
        "--operations",
        "create",
    ];
    must(folder.path(), &webhook);
    let files = files(folder.path());
    assert!(files["src/deployment.rs"].contains("k8s_openapi::api::apps::v1::Deployment"));
    assert!(files["src/pod_webhook.rs"].contains("k8s_openapi::api::core::v1::Pod"));
    assert!(files["src/pod_webhook.rs"].contains("defaults(fill_in).on(Operation::Create)"));
}

/// `create webhook` with these flags.
fn webhook(folder: &Path, flags: &str) -> std::process::Output {
    let words = format!("create webhook {flags} --defaulting --programmatic-validation");
    run(folder, &words.split(' ').collect::<Vec<_>>())
}

/// Groups that Kubernetes also has: the project's own kind is meant.
#[test]
fn webhook_is_for_the_projects_own_kind_before_one_of_kubernetes() {
    for (group, version, kind, module) in [
        ("apps", "v1beta1", "MyDaemonSet", "my_daemon_set"),
        ("batch", "v1", "CronJob", "cron_job"),
        ("core", "v1", "Pot", "pot"),
        (
            "policy",
            "v1",
            "PodDisruptionBudget",
            "pod_disruption_budget",
        ),
    ] {
        let folder = project();
        let named = format!("--group {group} --version {version} --kind {kind}");
        let api = format!("create api {named}");
        must(folder.path(), &api.split(' ').collect::<Vec<_>>());
        let output = webhook(folder.path(), &named);
        assert!(output.status.success(), "{output:?}");
        let made = files(folder.path());
        let source = &made[&format!("src/{module}_webhook.rs")];
        assert!(
            source.contains(&format!("use crate::{module}::{kind};")),
            "{source}"
        );
        assert!(!source.contains("k8s_openapi"), "{source}");
        // In a version that only Kubernetes has, neither is guessed.
        let other = named.replace(version, "v7");
        let said = complaint(&webhook(folder.path(), &other));
        assert!(
            said.contains(&format!("has it in {version}; give --version {version}")),
            "{said}"
        );
        assert_eq!(files(folder.path()), made);
    }
}

#[test]
fn webhook_for_a_kind_of_kubernetes_needs_one_that_is_there() {
    let folder = project();
    let before = files(folder.path());
    for (named, there) in [
        (
            "--group core --version v1 --kind Pot",
            "PersistentVolumeClaim, Pod, PodTemplate",
        ),
        (
            "--group core --version v1 --kind pod",
            "PersistentVolumeClaim, Pod, PodTemplate",
        ),
        (
            "--group apps --version v1beta1 --kind Deployment",
            "which has the versions v1",
        ),
        (
            "--group web --version v1 --kind Deployment",
            "kubewright create api",
        ),
    ] {
        let said = complaint(&webhook(folder.path(), named));
        assert!(said.contains(there), "{named}: {said}");
    }
    let api = "create api --group core --version v1 --kind Pot --resource=false";
    let said = complaint(&run(folder.path(), &api.split(' ').collect::<Vec<_>>()));
    assert!(
        said.contains("PersistentVolumeClaim, Pod, PodTemplate"),
        "{said}"
    );
    assert_eq!(files(folder.path()), before);
    let output = webhook(folder.path(), "--group batch --version v1 --kind CronJob");
    assert!(output.status.success(), "{output:?}");
    let made = &files(folder.path())["src/cron_job_webhook.rs"];
    assert!(
        made.contains("k8s_openapi::api::batch::v1::CronJob"),
        "{made}"
    );
}

/// The tests run a command that was built from its sources.
#[test]
fn project_that_cannot_be_built_yet_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let init = ["init", "--name", "demo"];
    let output = run(folder.path(), &init);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    for part in [
        "warning: the project cannot be built yet: Kubewright ",
        "kubewright-testing by path = \"SOURCES/crates/kubewright-testing\"",
        "kubewright init --kubewright-path SOURCES",
    ] {
        assert!(said.contains(part), "{part} in {said}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let sources = super::flow::workspace();
    let path = ["--kubewright-path", sources.to_str().expect("UTF-8")];
    let output = run(folder.path(), &[&init[..], &path[..]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("warning"), "{said}");
    assert!(said.contains("note: Containerfile and "), "{said}");
}

#[test]
fn what_is_missing_or_wrong_is_named_with_what_would_do() {
    let folder = project();
    for (arguments, part) in [
        (
            vec!["create", "api", "--group", "web", "--version", "v1"],
            "--kind is missing",
        ),
        (
            vec![
                "create",
                "api",
                "--group",
                "web",
                "--version",
                "1",
                "--kind",
                "Site",
            ],
            "a version such as `v1`",
        ),
        (
            vec![
                "create",
                "api",
                "--group",
                "web",
                "--version",
                "v1",
                "--kind",
                "site",
            ],
            "upper-camel-case",
        ),
        (
            vec!["create", "webhook", "--kind", "Nothing", "--validation"],
            "make it with `kubewright create api`",
        ),
        (
            vec!["create", "webhook", "--kind", "Site", "--conversion"],
            "kubewright create api with another --version",
        ),
        (
            vec!["alpha", "webhook", "--type=mutating", "--kind", "Pod"],
            "kubewright create webhook --defaulting --kind Pod",
        ),
        (
            vec!["edit", "--multigroup=true"],
            "kubewright create api --group",
        ),
    ] {
        let said = complaint(&run(folder.path(), &arguments));
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
    let nowhere = tempfile::tempdir().expect("a folder");
    let said = complaint(&run(nowhere.path(), &SITE));
    assert!(said.contains("kubewright init"), "{said}");
}

#[test]
fn each_flag_of_kubebuilders_is_answered_with_ours() {
    let folder = project();
    for (command, flags) in [
        (
            "init",
            "--repo=x --plugins=go/v4 --multigroup --namespaced --fetch-deps --license-file=x",
        ),
        (
            "create api",
            "--controller-name=x --force --make --external-api-path=x --external-api-domain=x \
             --external-api-module=x",
        ),
        (
            "create webhook",
            "--spoke=v2 --defaulting-path=/x --validation-path=/x --force",
        ),
    ] {
        let before = files(folder.path());
        for flag in flags.split(' ') {
            let mut words: Vec<&str> = command.split(' ').collect();
            words.push(flag);
            let said = complaint(&run(folder.path(), &words));
            let name = flag.split('=').next().unwrap_or_default();
            let start = format!("error: `{command} {name}` is kubebuilder's; here it is: ");
            assert!(said.starts_with(&start), "{words:?}: {said}");
        }
        assert_eq!(files(folder.path()), before);
    }
}

#[test]
fn an_owner_and_a_licence_stand_above_each_rust_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = [
        "init",
        "--name",
        "demo",
        "--owner",
        "Example Ltd.",
        "--license",
        "MIT",
    ];
    must(folder.path(), &arguments);
    must(folder.path(), &SITE);
    let rust = files(folder.path());
    for (name, text) in rust.iter().filter(|(name, _)| name.ends_with(".rs")) {
        let header = "// Copyright Example Ltd.\n// SPDX-License-Identifier: MIT\n";
        assert!(text.starts_with(header), "{name}:\n{text}");
    }
}
