use std::fmt;

use regex::Regex;

use super::translate::translate;
use super::wrong::Wrong;

/// A pattern as Go reads it; shown as it was written.
#[derive(Clone, Debug)]
pub(crate) struct GoRegex {
    source: String,
    regex: Regex,
}

impl GoRegex {
    /// Reads a pattern; where Go cannot, what Go says.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let translated = translate(pattern).map_err(|wrong| wrong.to_string())?;
        // What Go reads and this does not is too large.
        let regex = Regex::new(&translated);
        Ok(Self {
            source: pattern.to_owned(),
            regex: regex.map_err(|_| Wrong::too_large(pattern).to_string())?,
        })
    }

    /// Whether a text has something in it that fits.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// What does the work.
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
    fn what_is_no_pattern_is_told_in_the_words_of_go() {
        for (pattern, wanted) in [
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
                r"\p{Nobody}",
                r"invalid character class range: `\p{Nobody}`",
            ),
        ] {
            let wanted = format!("error parsing regexp: {wanted}");
            assert_eq!(GoRegex::new(pattern).map(|_| ()), Err(wanted), "{pattern}");
        }
    }

    #[test]
    fn patterns_mean_what_they_mean_in_go() {
        for (pattern, fits, misfit) in [
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
            let compiled = GoRegex::new(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}"));
            assert!(compiled.is_match(fits), "{pattern} does not take {fits:?}");
            assert!(!compiled.is_match(misfit), "{pattern} takes {misfit:?}");
            assert_eq!(compiled.to_string(), pattern);
        }
    }
}
