//! Missing and invalid arguments, and arguments of kubebuilder.

use super::demo_project::{DemoProject, SITE};

#[test]
fn error_for_missing_or_invalid_arguments_names_the_solution() {
    let project = DemoProject::new();
    for (line, part) in [
        ("create api --group web --version v1", "--kind is missing"),
        (
            "create api --group web --version 1 --kind Site",
            "a version such as `v1`",
        ),
        (
            "create api --group web --version v1 --kind site",
            "upper-camel-case",
        ),
        (
            "create webhook --kind Nothing --validation",
            "create it with `kubewright create api`",
        ),
        (
            "create webhook --kind Site --conversion",
            "kubewright create api with another --version",
        ),
        (
            "alpha webhook --type=mutating --kind Pod",
            "kubewright create webhook --defaulting --kind Pod",
        ),
        ("edit --multigroup=true", "kubewright create api --group"),
    ] {
        let error = project.fail(line);
        assert!(error.contains(part), "{line}: {error}");
    }
    let error = DemoProject::empty().fail(SITE);
    assert!(error.contains("kubewright init"), "{error}");
}

#[test]
fn flags_of_kubebuilder_are_errors_with_their_replacement() {
    let project = DemoProject::new();
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
        let before = project.files();
        for flag in flags.split(' ') {
            let error = project.fail(&format!("{command} {flag}"));
            let name = flag.split('=').next().unwrap_or_default();
            let start =
                format!("error: `{command} {name}` belongs to kubebuilder; in kubewright: ");
            assert!(error.starts_with(&start), "{command} {flag}: {error}");
        }
        assert_eq!(project.files(), before);
    }
}
