use kubewright_core::Kind;

/// How the objects of a kind may be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// Lower case letters, digits, `-` and `.`, up to 253 characters.
    Subdomain,
    /// Lower case letters, digits and `-`, up to 63 characters.
    Label,
    /// A label that begins with a letter.
    Dns1035,
    /// Anything that can stand alone between two slashes.
    PathSegment,
}

/// The rule for the names of a kind.
pub(crate) fn name_rule(kind: &Kind) -> NameRule {
    match (kind.group(), kind.kind.as_str()) {
        ("rbac.authorization.k8s.io", _) => NameRule::PathSegment,
        ("", "Namespace" | "Service") | ("apps", "StatefulSet") => NameRule::Label,
        _ => NameRule::Subdomain,
    }
}

/// Whether the finalizers of a built-in kind must be standard ones or have a domain.
///
/// `ValidateObjectMeta` of k8s.io/kubernetes/pkg/apis/core adds this rule to that of
/// k8s.io/apimachinery, which only demands qualified names. Kinds whose validation calls the latter
/// do not have it, and neither have custom resources.
pub(crate) fn finalizers_need_domain(kind: &Kind) -> bool {
    !matches!(
        kind.group(),
        "admissionregistration.k8s.io"
            | "apiextensions.k8s.io"
            | "apiregistration.k8s.io"
            | "coordination.k8s.io"
            | "node.k8s.io"
            | "policy"
    )
}

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
     characters, '-' or '.', and must start and end with an alphanumeric character (e.g. \
     'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters \
     or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or \
     '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const DNS_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or \
     '-', start with an alphabetic character, and end with an alphanumeric character (e.g. \
     'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

impl NameRule {
    /// What is wrong with a name, in the words of Kubernetes; empty when nothing is.
    pub(crate) fn problems(self, name: &str) -> Vec<String> {
        match self {
            Self::Subdomain => grammar(name, 253, SUBDOMAIN, |name| name.split('.').all(is_label)),
            // A name that only has dots too many is told so.
            Self::Label if !is_label(name) && name.split('.').all(is_label) => {
                let mut problems = grammar(name, 63, LABEL, |_| true);
                problems.push("must not contain dots".to_owned());
                problems
            }
            Self::Label => grammar(name, 63, LABEL, is_label),
            Self::Dns1035 => grammar(name, 63, DNS_1035, |name| {
                is_label(name) && name.starts_with(|c: char| c.is_ascii_lowercase())
            }),
            Self::PathSegment => path_segment(name),
        }
    }
}

impl NameRule {
    /// The same for what names begin with: a dash at its end is followed by letters.
    ///
    /// As `maskTrailingDash` of k8s.io/apimachinery has it, the letter before the dash is not
    /// looked at.
    pub(crate) fn prefix_problems(self, prefix: &str) -> Vec<String> {
        let start = prefix.strip_suffix('-').map(|start| {
            let mut letters = start.chars();
            (letters.next_back(), letters.as_str())
        });
        match start {
            Some((Some(_), start)) if self != Self::PathSegment => {
                self.problems(&format!("{start}a"))
            }
            _ => self.problems(prefix),
        }
    }
}

fn grammar(name: &str, longest: usize, rule: &str, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let mut problems = Vec::new();
    if name.len() > longest {
        problems.push(format!("must be no more than {longest} characters"));
    }
    if !fits(name) {
        problems.push(rule.to_owned());
    }
    problems
}

fn path_segment(name: &str) -> Vec<String> {
    if matches!(name, "." | "..") {
        return vec![format!("may not be '{name}'")];
    }
    ["/", "%"]
        .into_iter()
        .filter(|illegal| name.contains(illegal))
        .map(|illegal| format!("may not contain '{illegal}'"))
        .collect()
}

/// `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
pub(crate) fn is_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.chars().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::NameRule;

    #[test]
    fn names_follow_the_grammar_of_their_kind() {
        let accepts = |rule: NameRule, name: &str| rule.problems(name).is_empty();
        assert!(accepts(NameRule::Subdomain, "a.b-c.1"));
        assert!(!accepts(NameRule::Subdomain, "a..b"));
        assert!(!accepts(NameRule::Subdomain, "A"));
        assert!(!accepts(NameRule::Subdomain, &"a".repeat(254)));
        assert!(accepts(NameRule::Label, "a-1"));
        assert!(!accepts(NameRule::Label, "a.b"));
        assert!(!accepts(NameRule::Label, "-a"));
        assert!(accepts(NameRule::PathSegment, "system:node A"));
        assert!(!accepts(NameRule::PathSegment, "a/b"));
        assert!(!accepts(NameRule::PathSegment, ".."));
    }

    #[test]
    fn a_prefix_may_end_with_a_dash() {
        let accepts = |prefix: &str| NameRule::Subdomain.prefix_problems(prefix).is_empty();
        assert!(accepts("web-") && accepts("web"));
        assert!(!accepts("web..") && !accepts("a b-") && !accepts("-"));
    }
}
