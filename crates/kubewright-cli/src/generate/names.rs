//! Names in Rust for the names in a schema.

use std::collections::BTreeSet;

/// Returns the name of a type or a variant: `issuerRef` becomes `IssuerRef`, `TLS-v1.2` becomes
/// `TLSV12`.
pub(super) fn type_name(text: &str) -> String {
    let mut name = String::new();
    let mut starts_word = true;
    for letter in text.chars() {
        if !letter.is_ascii_alphanumeric() {
            starts_word = true;
            continue;
        }
        name.push(if starts_word {
            letter.to_ascii_uppercase()
        } else {
            letter
        });
        starts_word = false;
    }
    match name.chars().next() {
        None => "Empty".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("V{name}"),
        Some(_) if name == "Self" => "SelfValue".to_owned(),
        Some(_) => name,
    }
}

/// Returns the name of a field: `podCIDRs` becomes `pod_cidrs`. It may be a keyword.
pub(super) fn field_name(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut name = String::new();
    for (at, letter) in letters.iter().enumerate() {
        if !letter.is_ascii_alphanumeric() {
            if !name.is_empty() && !name.ends_with('_') {
                name.push('_');
            }
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| letters.get(before));
        let after = letters.get(at + 1);
        let starts_word = letter.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase()
                        && after.is_some_and(char::is_ascii_lowercase)
                        && !ends_plural(&letters, at))
            });
        if starts_word && !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    let name = name.trim_end_matches('_').to_owned();
    match name.chars().next() {
        None => "value".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("n{name}"),
        Some(_) => name,
    }
}

/// Whether the capital at the index and the next letter end an acronym in plural, such as `CIDRs`.
fn ends_plural(letters: &[char], at: usize) -> bool {
    let next = letters.get(at + 2);
    letters.get(at + 1) == Some(&'s') && next.is_none_or(|letter| !letter.is_ascii_lowercase())
}

/// Returns the name as an identifier: keywords are escaped.
pub(super) fn identifier(name: &str) -> String {
    if syn::parse_str::<syn::Ident>(name).is_ok() {
        return name.to_owned();
    }
    match name {
        "self" | "super" | "crate" | "_" => format!("{name}_"),
        _ => format!("r#{name}"),
    }
}

/// Returns serde's name of a field under `rename_all = "camelCase"`.
pub(super) fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut text, word| {
        let mut letters = word.chars();
        text.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        text.extend(letters);
        text
    })
}

/// Returns the name, with a number if it is taken already, and marks it as taken.
pub(super) fn unique(name: String, taken: &mut BTreeSet<String>) -> String {
    let mut candidate = name.clone();
    let mut number = 2;
    while !taken.insert(candidate.clone()) {
        candidate = format!("{name}{number}");
        number += 1;
    }
    candidate
}

#[cfg(test)]
mod tests {
    use super::{camel, field_name, identifier, type_name};

    #[test]
    fn field_name_is_in_snake_case() {
        for (text, name) in [
            ("issuerRef", "issuer_ref"),
            ("podCIDRs", "pod_cidrs"),
            ("nonResourceURLs", "non_resource_urls"),
            ("clusterIP", "cluster_ip"),
            ("HTTPRoute", "http_route"),
            ("x-kubernetes-foo", "x_kubernetes_foo"),
            ("$ref", "ref"),
            ("ec2Instance", "ec2_instance"),
            ("8021x", "n8021x"),
        ] {
            assert_eq!(field_name(text), name, "{text}");
        }
        assert_eq!(identifier("type"), "r#type");
        assert_eq!(identifier("self"), "self_");
    }

    #[test]
    fn type_name_starts_with_a_capital() {
        for (text, name) in [
            ("issuerRef", "IssuerRef"),
            ("kubernetes.io/tls", "KubernetesIoTls"),
            ("", "Empty"),
            ("1.2", "V12"),
            ("Self", "SelfValue"),
        ] {
            assert_eq!(type_name(text), name, "{text}");
        }
    }

    #[test]
    fn camel_case_is_the_same_as_in_serde() {
        assert_eq!(camel("issuer_ref"), "issuerRef");
        assert_eq!(camel("pod_cidrs"), "podCidrs");
    }
}
