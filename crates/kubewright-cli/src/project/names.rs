use crate::error::Error;

/// Names that the generated code uses itself.
const TAKEN: [&str; 24] = [
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

/// A kind is an upper-camel-case word that is no name of the generated code's own.
pub(crate) fn check_kind(kind: &str) -> Result<(), Error> {
    let mut letters = kind.chars();
    let is_camel = letters
        .next()
        .is_some_and(|first| first.is_ascii_uppercase())
        && letters.all(|c| c.is_ascii_alphanumeric())
        && kind.len() <= 63;
    if !is_camel {
        return Err(wrong(
            "--kind",
            kind,
            "an upper-camel-case word such as `WebSite`",
        ));
    }
    if TAKEN.contains(&kind) {
        let wanted = "a word that the code beside it does not use itself, such as `WebSite`";
        return Err(wrong("--kind", kind, wanted));
    }
    Ok(())
}

/// A version is `v1`, `v1beta1` or `v1alpha1`, with any numbers from 1.
pub(crate) fn check_version(version: &str) -> Result<(), Error> {
    let number = |text: &str| {
        !text.is_empty() && !text.starts_with('0') && text.chars().all(|c| c.is_ascii_digit())
    };
    let rest = version.strip_prefix('v').unwrap_or_default();
    let stage = ["alpha", "beta"]
        .iter()
        .find_map(|stage| rest.split_once(stage));
    let is_version = match stage {
        Some((major, minor)) => number(major) && number(minor),
        None => number(rest),
    };
    match is_version {
        true => Ok(()),
        false => Err(wrong(
            "--version",
            version,
            "a version such as `v1` or `v1beta1`",
        )),
    }
}

/// The API group: one with a dot is whole, another stands before the domain, none is the domain.
pub(crate) fn full_group(group: &str, domain: &str) -> Result<String, Error> {
    let whole = match group {
        "" => domain.to_owned(),
        group if group.contains('.') => group.to_owned(),
        group => format!("{group}.{domain}"),
    };
    let is_label = |label: &str| check_label("--group", label).is_ok();
    match whole.contains('.') && whole.split('.').all(is_label) {
        true => Ok(whole),
        false => Err(wrong(
            "--group",
            &whole,
            "a domain name such as `apps.example.com`",
        )),
    }
}

/// A name as Kubernetes takes it for namespaces: lower-case letters, digits and dashes.
pub(crate) fn check_label(flag: &'static str, name: &str) -> Result<(), Error> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_label = (1..=63).contains(&name.len())
        && name.chars().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-');
    match is_label {
        true => Ok(()),
        false => Err(wrong(flag, name, "lower-case letters, digits and dashes")),
    }
}

fn wrong(flag: &'static str, value: &str, wanted: &'static str) -> Error {
    Error::Argument {
        flag,
        value: value.to_owned(),
        wanted,
    }
}

/// The module of a kind: `WebSite` is in `web_site`.
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
        Err(_) => format!("{name}_kind"), // a word of the language
    }
}

#[cfg(test)]
mod tests {
    use super::{check_kind, check_version, full_group, module_name};

    #[test]
    fn modules_are_named_as_rust_names_them() {
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
    fn a_group_with_a_dot_is_whole() {
        let group = |group| full_group(group, "example.com").ok();
        assert_eq!(group("web").as_deref(), Some("web.example.com"));
        assert_eq!(group("").as_deref(), Some("example.com"));
        assert_eq!(group("apps.kruise.io").as_deref(), Some("apps.kruise.io"));
        assert_eq!(group("Web"), None);
    }

    #[test]
    fn names_that_no_server_or_compiler_takes_are_refused() {
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
