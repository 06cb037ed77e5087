//! `create api`: kinds, other versions of a kind, and controllers for built-in kinds.

use super::demo_project::{DemoProject, SITE, assert_no_placeholders};

/// Returns the command line that adds the kind Site in a version.
fn site_in(version: &str) -> String {
    SITE.replace("--version v1", &format!("--version {version}"))
}

#[test]
fn second_call_names_the_existing_file_and_changes_nothing() {
    let project = DemoProject::with_site();
    let before = project.files();
    let error = project.fail(SITE);
    assert!(
        error.contains("src/site.rs has that kind already"),
        "{error}"
    );
    assert_eq!(project.files(), before);
    let webhook = "create webhook --kind Site --programmatic-validation";
    project.succeed(webhook);
    let before = project.files();
    let error = project.fail(webhook);
    assert!(
        error.contains("src/site_webhook.rs has one already"),
        "{error}"
    );
    assert_eq!(project.files(), before);
}

#[test]
fn second_version_has_a_conversion_a_sample_and_a_test() {
    let project = DemoProject::with_site();
    let second = site_in("v2");
    let printed = project.succeed(&second);
    assert!(
        printed.contains("v1 remains the stored version"),
        "{printed}"
    );
    let files = project.files();
    assert!(files["src/lib.rs"].contains(".webhook(site_v2::converts())"));
    assert!(files["tests/it/main.rs"].contains("mod site_v2;"));
    let test = &files["tests/it/site_v2.rs"];
    assert!(test.contains("object_of_v1_is_unchanged_by_a_write_in_v2"));
    // The test passes even if a field has another name in each version.
    assert!(!test.contains("json!(read.spec)"), "{test}");
    let sample = &files["samples/site_v2.yaml"];
    assert!(sample.contains("apiVersion: web.ex.io/v2\n"), "{sample}");
    assert!(sample.contains("message: Hello"), "{sample}");
    assert_no_placeholders(&files);

    let error = project.fail(&second);
    assert!(
        error.contains("src/site_v2.rs has that kind already"),
        "{error}"
    );
    assert_eq!(project.files(), files);
    // A third version is also converted to the first.
    project.succeed(&site_in("v3"));
    let third = &project.files()["src/site_v3.rs"];
    assert!(third.contains("fn to_hub(object: Site) -> crate::site::Site"));
}

#[test]
fn second_kind_is_added_beside_the_first() {
    let project = DemoProject::with_site();
    project.succeed(
        "create api --group web --version v1beta1 --kind HTTPRoute --plural httproutes \
         --shortname hr --namespaced=false",
    );
    let files = project.files();
    assert!(files["src/lib.rs"].contains(".controller(http_route::controller())"));
    assert!(files["tests/it/main.rs"].contains("mod http_route;\nmod site;\n"));
    let kind = &files["src/http_route.rs"];
    assert!(
        kind.contains("shortname = \"hr\"") && !kind.contains("namespaced,"),
        "{kind}"
    );
}

#[test]
fn second_version_cannot_change_group_names_or_scope() {
    let project = DemoProject::with_site();
    let before = project.files();
    let error = project.fail(&SITE.replace("--group web", "--group shop"));
    assert!(
        error.contains("src/site.rs has that kind already"),
        "{error}"
    );
    let second = site_in("v2");
    let error = project.fail(&format!("{second} --shortname st"));
    assert!(error.contains("the names of the first"), "{error}");
    let error = project.fail(&format!("{second} --namespaced=false"));
    assert!(error.contains("the scope of the first"), "{error}");
    assert_eq!(project.files(), before);
}

#[test]
fn builtin_kinds_get_a_controller_or_a_webhook_without_a_type() {
    let project = DemoProject::new();
    project.succeed("create api --group apps --version v1 --kind Deployment --resource=false");
    project.succeed(
        "create webhook --group core --version v1 --kind Pod --defaulting --operations create",
    );
    let files = project.files();
    assert!(files["src/deployment.rs"].contains("k8s_openapi::api::apps::v1::Deployment"));
    assert!(files["src/pod_webhook.rs"].contains("k8s_openapi::api::core::v1::Pod"));
    assert!(files["src/pod_webhook.rs"].contains("defaults(fill_in).on(Operation::Create)"));
}
