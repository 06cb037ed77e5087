use std::collections::BTreeSet;

/// The name of a type or a variant: `issuerRef` is `IssuerRef`, `TLS-v1.2` is `TlsV12`... but for
/// letters that are capitals already, which stay.
pub(super) fn type_name(text: &str) -> String {
    let mut name = String::new();
    let mut begins = true;
    for letter in text.chars() {
        if !letter.is_ascii_alphanumeric() {
            begins = true;
            continue;
        }
        match begins {
            true => name.push(letter.to_ascii_uppercase()),
            false => name.push(letter),
        }
        begins = false;
    }
    match name.chars().next() {
        None => "Empty".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("V{name}"),
        Some(_) if name == "Self" => "SelfValue".to_owned(),
        Some(_) => name,
    }
}

/// The name of a field, without what makes a word of the language a name: `podCIDRs` is
/// `pod_cidrs`.
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
        let begins_word = letter.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase()
                        && after.is_some_and(char::is_ascii_lowercase)
                        && !ends_plural(&letters, at))
            });
        if begins_word && !name.is_empty() && !name.ends_with('_') {
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

/// Whether the capital at a place and the letter behind it are the end of `CIDRs` or `URLs`.
fn ends_plural(letters: &[char], at: usize) -> bool {
    let behind = letters.get(at + 2);
    letters.get(at + 1) == Some(&'s') && behind.is_none_or(|letter| !letter.is_ascii_lowercase())
}

/// A field's name as Rust takes it.
pub(super) fn identifier(name: &str) -> String {
    if syn::parse_str::<syn::Ident>(name).is_ok() {
        return name.to_owned();
    }
    match name {
        "self" | "super" | "crate" | "_" => format!("{name}_"),
        _ => format!("r#{name}"),
    }
}

/// What serde makes of a field's name under `rename_all = "camelCase"`.
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

/// The name, or with a number behind it if it is taken; it is taken from now on.
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
    fn fields_are_named_as_rust_names_them() {
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
    fn types_and_variants_begin_with_a_capital() {
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
    fn serdes_own_renaming_is_known() {
        assert_eq!(camel("issuer_ref"), "issuerRef");
        assert_eq!(camel("pod_cidrs"), "podCidrs");
    }
}
