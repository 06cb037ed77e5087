//! Formats of text fields: each function returns the problems with a text, in the words of
//! k8s.io/apimachinery/pkg/util/validation; an empty list means that the text is valid.

use crate::name_rule::{NameRule, is_label};

const QUALIFIED_PART: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', \
     and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or \
     '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric \
     characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. \
     'MyValue',  or 'my_value',  or '12345', regex used for validation is \
     '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const CONFIG_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or \
     '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is \
     '[-._a-zA-Z0-9]+')";
const HEADER_NAME: &str = "a valid HTTP header must consist of alphanumeric characters or '-' \
     (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
const VARIABLE: &str = "a valid environment variable name must consist only of printable ASCII \
     characters other than '='";
const LONGEST_LABEL: usize = 63;

/// Problems of `prefix/name`, where the prefix is a subdomain and may be absent.
pub fn qualified_name(text: &str) -> Vec<String> {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    let mut problems = Vec::new();
    match prefix {
        Some("") => problems.push("prefix part must be non-empty".to_owned()),
        Some(prefix) if !prefix.split('.').all(is_label) => {
            let rule = NameRule::Subdomain.problems(prefix);
            problems.extend(
                rule.into_iter()
                    .map(|problem| format!("prefix part {problem}")),
            );
        }
        _ => {}
    }
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > LONGEST_LABEL {
        problems.push(format!(
            "name part must be no more than {LONGEST_LABEL} bytes"
        ));
    }
    if !is_qualified_part(name) {
        problems.push(QUALIFIED_PART.to_owned());
    }
    problems
}

/// Problems of the value of a label.
pub fn label_value(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > LONGEST_LABEL {
        problems.push(format!("must be no more than {LONGEST_LABEL} bytes"));
    }
    if !text.is_empty() && !is_qualified_part(text) {
        problems.push(LABEL_VALUE.to_owned());
    }
    problems
}

/// `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`
fn is_qualified_part(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.chars().all(inner) && edge(text.chars().next()) && edge(text.chars().last())
}

fn problem_unless(valid: bool, problem: impl Into<String>) -> Vec<String> {
    if valid {
        Vec::new()
    } else {
        vec![problem.into()]
    }
}

/// Problems of the number of a port.
pub fn port_number(port: i64) -> Vec<String> {
    problem_unless(
        (1..=65_535).contains(&port),
        "must be between 1 and 65535, inclusive",
    )
}

/// Problems of the name of a port.
pub fn port_name(name: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let mut expect = |valid: bool, problem: &str| problems.extend(problem_unless(valid, problem));
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    expect(name.len() <= 15, "must be no more than 15 characters");
    expect(
        !name.is_empty() && name.chars().all(inner),
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
    );
    expect(
        name.contains(|c: char| c.is_ascii_lowercase()),
        "must contain at least one letter (a-z)",
    );
    expect(!name.contains("--"), "must not contain consecutive hyphens");
    expect(
        !name.starts_with('-') && !name.ends_with('-'),
        "must not begin or end with a hyphen",
    );
    problems
}

/// Problems of the name of an environment variable.
pub fn variable_name(name: &str) -> Vec<String> {
    let is_allowed = |c: char| (' '..='~').contains(&c) && c != '=';
    problem_unless(name.chars().all(is_allowed), VARIABLE)
}

/// Problems of a key of a ConfigMap or Secret.
pub fn config_key(key: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if key.len() > 253 {
        problems.push("must be no more than 253 characters".to_owned());
    }
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    if key.is_empty() || !key.chars().all(is_allowed) {
        problems.push(CONFIG_KEY.to_owned());
    }
    match key {
        "." | ".." => problems.push(format!("must not be '{key}'")),
        key if key.starts_with("..") => problems.push("must not start with '..'".to_owned()),
        _ => {}
    }
    problems
}

/// Problems of the name of an HTTP header.
pub fn header_name(name: &str) -> Vec<String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
    problem_unless(
        !name.is_empty() && name.chars().all(is_allowed),
        HEADER_NAME,
    )
}

/// Problems of the number of a user or group.
pub fn user_or_group(id: i64) -> Vec<String> {
    problem_unless(
        (0..=i64::from(i32::MAX)).contains(&id),
        format!("must be between 0 and {}, inclusive", i32::MAX),
    )
}

/// Problems of the name of an object of most kinds.
pub fn subdomain(name: &str) -> Vec<String> {
    NameRule::Subdomain.problems(name)
}

/// Problems of a name that is one DNS label.
pub fn label(name: &str) -> Vec<String> {
    NameRule::Label.problems(name)
}

#[cfg(test)]
mod tests {
    use super::{config_key, port_name, qualified_name, variable_name};

    #[test]
    fn port_name_is_short_and_has_a_letter() {
        assert!(port_name("http-1").is_empty());
        assert_eq!(port_name("80").len(), 1);
        assert_eq!(port_name("").len(), 2);
        assert_eq!(
            port_name("-a--b-"),
            [
                "must not contain consecutive hyphens",
                "must not begin or end with a hyphen",
            ]
        );
    }

    #[test]
    fn config_keys_and_variable_names_allow_only_their_characters() {
        assert!(config_key("a_B.c-1").is_empty());
        assert_eq!(config_key("..a"), ["must not start with '..'"]);
        assert_eq!(config_key("a/b").len(), 1);
        assert!(variable_name("A b!").is_empty());
        assert_eq!(variable_name("A=b").len(), 1);
        assert_eq!(qualified_name("/x").len(), 1);
    }
}
