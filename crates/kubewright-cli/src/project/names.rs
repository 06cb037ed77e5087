//! Names in a project: kinds, versions, groups, labels, modules.

use crate::error::Error;

/// Names that the generated code uses itself.
const RESERVED: [&str; 24] = [
    "Arc",
    "Change",
    "Condition",
    "ConfigMap",
    "Context",
    "Controller",
    "CustomResource",
    "Deserialize",
    "Duration",
    "Err",
    "Findings",
    "JsonSchema",
    "None",
    "ObjectMeta",
    "Ok",
    "Operator",
    "Option",
    "Outcome",
    "Result",
    "Serialize",
    "Some",
    "String",
    "Vec",
    "Webhook",
];

/// Checks that the kind is an upper-camel-case word that the generated code does not use itself.
pub(crate) fn check_kind(kind: &str) -> Result<(), Error> {
    let mut letters = kind.chars();
    let is_camel = letters
        .next()
        .is_some_and(|first| first.is_ascii_uppercase())
        && letters.all(|c| c.is_ascii_alphanumeric())
        && kind.len() <= 63;
    if !is_camel {
        return Err(invalid(
            "--kind",
            kind,
            "an upper-camel-case word such as `WebSite`",
        ));
    }
    if RESERVED.contains(&kind) {
        let expected = "a word that the generated code does not use itself, such as `WebSite`";
        return Err(invalid("--kind", kind, expected));
    }
    Ok(())
}

/// Checks that the version is like `v1`, `v1beta1` or `v1alpha1`, with numbers from 1.
pub(crate) fn check_version(version: &str) -> Result<(), Error> {
    let is_number = |text: &str| {
        !text.is_empty() && !text.starts_with('0') && text.chars().all(|c| c.is_ascii_digit())
    };
    let rest = version.strip_prefix('v').unwrap_or_default();
    let stage = ["alpha", "beta"]
        .iter()
        .find_map(|stage| rest.split_once(stage));
    let is_version = match stage {
        Some((major, minor)) => is_number(major) && is_number(minor),
        None => is_number(rest),
    };
    if is_version {
        return Ok(());
    }
    let expected = "a version such as `v1` or `v1beta1`";
    Err(invalid("--version", version, expected))
}

/// Returns the API group: one with a dot is complete, one without a dot is put before the domain,
/// and an empty one is the domain.
pub(crate) fn full_group(group: &str, domain: &str) -> Result<String, Error> {
    let full = match group {
        "" => domain.to_owned(),
        group if group.contains('.') => group.to_owned(),
        group => format!("{group}.{domain}"),
    };
    check_domain("--group", &full)?;
    Ok(full)
}

/// Checks that the value of a flag is a domain name with at least two labels.
pub(crate) fn check_domain(flag: &'static str, domain: &str) -> Result<(), Error> {
    let is_label = |label: &str| check_label(flag, label).is_ok();
    if domain.contains('.') && domain.split('.').all(is_label) {
        return Ok(());
    }
    let expected = "a domain name such as `apps.example.com`";
    Err(invalid(flag, domain, expected))
}

/// Checks that the name is valid for a namespace: lower-case letters, digits and dashes.
pub(crate) fn check_label(flag: &'static str, name: &str) -> Result<(), Error> {
    let is_valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_label = (1..=63).contains(&name.len())
        && name.chars().all(is_valid)
        && !name.starts_with('-')
        && !name.ends_with('-');
    if is_label {
        return Ok(());
    }
    Err(invalid(flag, name, "lower-case letters, digits and dashes"))
}

fn invalid(flag: &'static str, value: &str, expected: &'static str) -> Error {
    Error::Argument {
        flag,
        value: value.to_owned(),
        expected,
    }
}

/// Returns the module of a kind: `WebSite` is in `web_site`.
pub(crate) fn module_name(kind: &str) -> String {
    let mut name = String::new();
    let mut before = 'A';
    let mut letters = kind.chars().peekable();
    while let Some(letter) = letters.next() {
        let begins_word = letter.is_ascii_uppercase()
            && (!before.is_ascii_uppercase()
                || letters.peek().is_some_and(char::is_ascii_lowercase));
        if begins_word && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
        before = letter;
    }
    match syn::parse_str::<syn::Ident>(&name) {
        Ok(_) => name,
        Err(_) => format!("{name}_kind"), // a keyword
    }
}

#[cfg(test)]
mod tests {
    use super::{check_kind, check_version, full_group, module_name};

    #[test]
    fn module_of_a_kind_is_in_snake_case() {
        let kinds = ["Site", "MyDaemonSet", "HTTPRoute", "Type", "Web2Site"];
        assert_eq!(
            kinds.map(module_name),
            [
                "site",
                "my_daemon_set",
                "http_route",
                "type_kind",
                "web2_site"
            ]
        );
    }

    #[test]
    fn group_without_a_dot_gets_the_domain() {
        let group = |group| full_group(group, "example.com").ok();
        assert_eq!(group("web").as_deref(), Some("web.example.com"));
        assert_eq!(group("").as_deref(), Some("example.com"));
        assert_eq!(group("apps.kruise.io").as_deref(), Some("apps.kruise.io"));
        assert_eq!(group("Web"), None);
    }

    #[test]
    fn names_invalid_for_kubernetes_or_rust_are_rejected() {
        let version = |version| check_version(version).is_ok();
        assert_eq!(["v1", "v2beta10", "v1alpha1"].map(version), [true; 3]);
        assert_eq!(
            ["1", "v0", "v1beta", "v1gamma1", "v01"].map(version),
            [false; 5]
        );
        let kind = |kind| check_kind(kind).is_ok();
        assert_eq!(
            ["Site", "site", "My Kind", "Context", ""].map(kind),
            [true, false, false, false, false]
        );
    }
}
