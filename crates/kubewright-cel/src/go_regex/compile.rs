//! Compiles regular expressions of Go.

use std::fmt;

use regex::Regex;

use super::error::RegexError;
use super::translate::translate;

/// A regular expression of Go. It is displayed as its source.
#[derive(Clone, Debug)]
pub struct GoRegex {
    source: String,
    regex: Regex,
}

impl GoRegex {
    /// Compiles a regular expression. Fails with the error of Go.
    pub fn new(pattern: &str) -> Result<Self, RegexError> {
        let translated = translate(pattern)?;
        // The translation is valid. The `regex` crate rejects only what is too large for it.
        let regex = Regex::new(&translated).map_err(|_| RegexError::too_large(pattern))?;
        Ok(Self {
            source: pattern.to_owned(),
            regex,
        })
    }

    /// Whether the regular expression matches a part of the text.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// The translated regular expression.
    pub(crate) fn into_regex(self) -> Regex {
        self.regex
    }
}

impl fmt::Display for GoRegex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::GoRegex;

    #[test]
    fn invalid_patterns_fail_with_the_messages_of_go() {
        for (pattern, message) in [
            ("(", "missing closing ): `(`"),
            ("a)b", "unexpected ): `a)b`"),
            ("[a", "missing closing ]: `[a`"),
            ("x[z-a]", "invalid character class range: `z-a`"),
            ("[[:words:]]", "invalid character class range: `[:words:]`"),
            ("*a", "missing argument to repetition operator: `*`"),
            ("a|+?", "missing argument to repetition operator: `+?`"),
            ("a**", "invalid nested repetition operator: `**`"),
            ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
            ("a{2,1}", "invalid repeat count: `{2,1}`"),
            (r"^([a-z]{1,63}\.){1,20}$", "invalid repeat count: `{1,20}`"),
            ("(a|b{2,3}){400}", "invalid repeat count: `{400}`"),
            ("((a{10}b){10,}c){11}", "invalid repeat count: `{11}`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("(?!a)b", "invalid or unsupported Perl syntax: `(?!`"),
            ("(?P<n", "invalid named capture: `(?P<n`"),
            ("(?<a-b>c)", "invalid named capture: `(?<a-b>`"),
            (r"\", "trailing backslash at end of expression: ``"),
            (r"\q", r"invalid escape sequence: `\q`"),
            (r"\1", r"invalid escape sequence: `\1`"),
            (r"\pX", r"invalid character class range: `\pX`"),
            (
                r"\p{Unknown}",
                r"invalid character class range: `\p{Unknown}`",
            ),
        ] {
            let error = GoRegex::new(pattern).map(drop).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("error parsing regexp: {message}"),
                "{pattern}"
            );
        }
    }

    #[test]
    fn patterns_match_what_they_match_in_go() {
        for (pattern, matching, other) in [
            (r"^\d+$", "42", "\u{664}\u{662}"),
            (r"^\w+$", "a_1", "\u{e9}"),
            (r"^[\d\-x]+$", "1-x", "y"),
            (r"^[^\W_]+$", "ab", "a_"),
            (r"^\s$", "\t", "\u{a0}"),
            ("^a{,2}$", "a{,2}", "aa"),
            ("^{$", "{", "x"),
            ("^[[a]$", "[", "]"),
            ("^[a&&b]+$", "&a", "c"),
            ("^[]-]+$", "]-", "a"),
            ("^[+--]+$", "-,+", "."),
            (r"^\Qa.b\E$", "a.b", "axb"),
            (r"^[[:alpha:]\x{41}-\x43]+$", "aB", "1"),
            ("^(?i)abc$", "ABC", "abd"),
            ("^(?P<n>a)(?:b)(c)$", "abc", "ab"),
            (r"^\p{Greek}+\pL$", "\u{3b1}a", "a1"),
            (r"^\101\x42\n$", "AB\n", "AB"),
            ("^a.c$", "abc", "a\nc"),
            ("^(a|b)*?$", "abba", "abc"),
            ("^$", "", "\n"),
        ] {
            let regex = GoRegex::new(pattern).unwrap();
            assert!(
                regex.is_match(matching),
                "{pattern} does not match {matching:?}"
            );
            assert!(!regex.is_match(other), "{pattern} matches {other:?}");
            assert_eq!(regex.to_string(), pattern);
        }
    }
}
