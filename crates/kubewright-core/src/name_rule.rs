//! The grammars of object names, with the messages of k8s.io/apimachinery/pkg/util/validation.

/// How the objects of a kind may be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// Lower case letters, digits, `-` and `.`, up to 253 characters.
    Subdomain,
    /// Lower case letters, digits and `-`, up to 63 characters.
    Label,
    /// A label that begins with a letter.
    Dns1035,
    /// Any text that can be one segment of a path.
    PathSegment,
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
    /// The problems of a name, in the words of Kubernetes; empty when it is valid.
    pub fn problems(self, name: &str) -> Vec<String> {
        match self {
            Self::Subdomain => grammar(name, 253, SUBDOMAIN, |name| name.split('.').all(is_label)),
            // Kubernetes has its own message for a name whose only problem is its dots.
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

    /// The problems of a `generateName`: it may end with a dash, because random letters follow.
    ///
    /// As in `maskTrailingDash` of k8s.io/apimachinery, the letter before the dash is not checked.
    pub fn prefix_problems(self, prefix: &str) -> Vec<String> {
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

fn grammar(name: &str, longest: usize, rule: &str, is_valid: impl Fn(&str) -> bool) -> Vec<String> {
    let mut problems = Vec::new();
    if name.len() > longest {
        problems.push(format!("must be no more than {longest} characters"));
    }
    if !is_valid(name) {
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

/// Whether the text matches `[a-z0-9]([-a-z0-9]*[a-z0-9])?`, whatever its length.
pub fn is_label(text: &str) -> bool {
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
    fn prefix_may_end_with_a_dash() {
        let accepts = |prefix: &str| NameRule::Subdomain.prefix_problems(prefix).is_empty();
        assert!(accepts("web-") && accepts("web"));
        assert!(!accepts("web..") && !accepts("a b-") && !accepts("-"));
    }
}
