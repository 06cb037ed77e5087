//! `create webhook`: parts of a webhook, conversions, and the kind that a webhook is for.

use std::fs;
use std::process::Output;

use super::demo_project::DemoProject;
use crate::error_of;

#[test]
fn missing_part_is_added_to_an_existing_webhook() {
    let project = DemoProject::with_site();
    let webhook = |part: &str| format!("create webhook --kind Site {part}");
    project.succeed(&webhook("--validation"));
    let path = project.path("src/site_webhook.rs");
    let text = fs::read_to_string(&path).expect("the file");
    let edited = text.replace("/// Rejects invalid", "// Mine.\n/// Rejects invalid");
    fs::write(&path, &edited).expect("the file");
    project.succeed(&webhook("--defaulting"));
    let files = project.files();
    let file = &files["src/site_webhook.rs"];
    for part in [
        "// Mine.\n/// Rejects invalid",
        "pub(crate) fn defaults() -> Webhook",
        "fn existing_manager_is_kept()",
        "fn name_that_is_too_long_is_rejected()",
    ] {
        assert_eq!(file.matches(part).count(), 1, "{part} in\n{file}");
    }
    let library = &files["src/lib.rs"];
    for function in ["defaults", "validates"] {
        let call = format!(".webhook(site_webhook::{function}())");
        assert_eq!(library.matches(&call).count(), 1, "{library}");
    }
    assert_eq!(library.matches("mod site_webhook;").count(), 1, "{library}");
    for part in ["--defaulting", "--validation"] {
        let error = project.fail(&webhook(part));
        assert!(
            error.contains("src/site_webhook.rs has one already"),
            "{error}"
        );
    }
    assert_eq!(project.files(), files);
}

#[test]
fn conversion_is_added_to_a_version_without_one() {
    let project = DemoProject::with_site();
    project.succeed("create api --group web --version v2 --kind Site");
    let conversion = "create webhook --kind Site --conversion";
    let error = project.fail(conversion);
    assert!(error.contains("src/site_v2.rs has one already"), "{error}");

    // A version written by hand: another field, and no conversion.
    let (second, library) = ("src/site_v2.rs", "src/lib.rs");
    let before = project.files();
    let (kind, _) = before[second]
        .split_once("/// Converts objects")
        .expect("the conversion");
    let kind = kind.replace("pub message: String", "pub text: String");
    fs::write(project.path(second), kind).expect("the file");
    let call = ".webhook(site_v2::converts())";
    let without = before[library].replace(call, "");
    fs::write(project.path(library), without).expect("the file");
    let printed = project.succeed(conversion);
    assert!(
        printed.contains("v1 remains the stored version"),
        "{printed}"
    );
    let after = project.files();
    assert!(after[library].contains(call), "{}", after[library]);
    let source = &after[second];
    assert!(
        source.contains("Webhook::converts(to_hub, from_hub)"),
        "{source}"
    );
    for line in ["message: Default::default()", "text: Default::default()"] {
        assert!(source.contains(line), "{line} in\n{source}");
    }
    let error = project.fail(conversion);
    assert!(error.contains("src/site_v2.rs has one already"), "{error}");
}

/// Calls `create webhook` with these flags for the kind.
fn create_webhook(project: &DemoProject, kind: &str) -> Output {
    project.call(&format!(
        "create webhook {kind} --defaulting --programmatic-validation"
    ))
}

/// The groups also exist in Kubernetes.
#[test]
fn kind_of_the_project_has_precedence_over_a_builtin_kind() {
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
        let project = DemoProject::new();
        let flags = format!("--group {group} --version {version} --kind {kind}");
        project.succeed(&format!("create api {flags}"));
        let output = create_webhook(&project, &flags);
        assert!(output.status.success(), "{output:?}");
        let files = project.files();
        let source = &files[&format!("src/{module}_webhook.rs")];
        assert!(
            source.contains(&format!("use crate::{module}::{kind};")),
            "{source}"
        );
        assert!(!source.contains("k8s_openapi"), "{source}");
        // Another version is an error, even if Kubernetes has it.
        let error = error_of(&create_webhook(&project, &flags.replace(version, "v7")));
        assert!(
            error.contains(&format!("has it in {version}; set --version {version}")),
            "{error}"
        );
        assert_eq!(project.files(), files);
    }
}

#[test]
fn webhook_for_an_unknown_builtin_kind_is_an_error() {
    let project = DemoProject::new();
    let before = project.files();
    for (flags, available) in [
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
        let error = error_of(&create_webhook(&project, flags));
        assert!(error.contains(available), "{flags}: {error}");
    }
    let api = "create api --group core --version v1 --kind Pot --resource=false";
    let error = project.fail(api);
    assert!(
        error.contains("PersistentVolumeClaim, Pod, PodTemplate"),
        "{error}"
    );
    assert_eq!(project.files(), before);
    let output = create_webhook(&project, "--group batch --version v1 --kind CronJob");
    assert!(output.status.success(), "{output:?}");
    let source = &project.files()["src/cron_job_webhook.rs"];
    assert!(
        source.contains("k8s_openapi::api::batch::v1::CronJob"),
        "{source}"
    );
}
