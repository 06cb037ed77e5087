//! Field paths of CustomResourceDefinitions: names after dots or in brackets.

use super::error::FieldPathError;

/// Iterates over the names of a field path such as `.spec.names['a']`, as `ValidFieldPath` of
/// k8s.io/apiextensions-apiserver parses it.
///
/// The names are parsed one by one, so that a caller that looks each of them up in a schema finds
/// the errors in the order of Kubernetes. After an error the iterator ends.
#[derive(Clone, Debug)]
pub struct FieldPath<'p> {
    rest: &'p str,
    allows_brackets: bool,
    /// Whether a bracket must be closed before the next name.
    is_open: bool,
}

impl<'p> FieldPath<'p> {
    /// The names of this path.
    pub fn new(path: &'p str) -> Self {
        Self {
            rest: path,
            allows_brackets: true,
            is_open: false,
        }
    }

    /// Brackets are an error, as in selectable fields.
    #[must_use]
    pub fn without_brackets(self) -> Self {
        Self {
            allows_brackets: false,
            ..self
        }
    }

    /// The next name; `None` at the end.
    fn name(&mut self) -> Result<Option<String>, FieldPathError> {
        if self.is_open {
            self.is_open = false;
            match self.token().ok_or(FieldPathError::End)? {
                "]" => {}
                other => return Err(FieldPathError::Unclosed(other.to_owned())),
            }
        }
        match self.token() {
            None => Ok(None),
            Some(".") => {
                let name = self.token().ok_or(FieldPathError::End)?;
                Ok(Some(name.to_owned()))
            }
            Some("[") if !self.allows_brackets => Err(FieldPathError::ArrayNotation),
            Some("[") => {
                let token = self.token().ok_or(FieldPathError::End)?;
                let quoted = token
                    .strip_prefix('\'')
                    .and_then(|inner| inner.strip_suffix('\''))
                    .ok_or_else(|| FieldPathError::Unquoted(token.to_owned()))?;
                self.is_open = true;
                unescape(quoted).map(Some)
            }
            Some(other) => Err(FieldPathError::Separator(other.to_owned())),
        }
    }

    /// The next delimiter, quoted name, or text before a delimiter.
    fn token(&mut self) -> Option<&'p str> {
        let end = match self.rest.chars().next()? {
            '.' | '[' | ']' => 1,
            '\'' => quoted_length(self.rest),
            _ => self.rest.find(['.', '[', ']']).unwrap_or(self.rest.len()),
        };
        let (token, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        Some(token)
    }
}

impl Iterator for FieldPath<'_> {
    type Item = Result<String, FieldPathError>;

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.name();
        if name.is_err() {
            self.rest = "";
        }
        name.transpose()
    }
}

/// The length of the quoted name at the beginning of a text, or of the text when it is not closed.
fn quoted_length(text: &str) -> usize {
    let mut before = '\'';
    for (index, letter) in text.char_indices().skip(1) {
        if letter == '\'' && before != '\\' {
            return index + 1;
        }
        before = letter;
    }
    text.len()
}

fn unescape(text: &str) -> Result<String, FieldPathError> {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            plain.push(letter);
            continue;
        }
        match letters.next() {
            Some('a') => plain.push('\u{7}'),
            Some('b') => plain.push('\u{8}'),
            Some('f') => plain.push('\u{c}'),
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some('t') => plain.push('\t'),
            Some('v') => plain.push('\u{b}'),
            Some(escaped @ ('\'' | '\\')) => plain.push(escaped),
            Some(other) => return Err(FieldPathError::Escape(format!("\\{other}"))),
            // Go's pattern `\\.` does not match a backslash at the end.
            None => plain.push('\\'),
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::{FieldPath, FieldPathError};

    fn names(path: &str) -> Result<Vec<String>, String> {
        FieldPath::new(path)
            .map(|name| name.map_err(|error| error.to_string()))
            .collect()
    }

    #[test]
    fn names_are_after_dots_and_in_brackets() {
        for (path, expected) in [
            (".a.b", vec!["a", "b"]),
            (".a['b']", vec!["a", "b"]),
            (".m['x.y']", vec!["m", "x.y"]),
            (r".m['it\'s'].n", vec!["m", "it's", "n"]),
            ("['a']['b']", vec!["a", "b"]),
            ("", vec![]),
        ] {
            let expected = expected.into_iter().map(str::to_owned).collect();
            assert_eq!(names(path), Ok(expected), "{path}");
        }
    }

    #[test]
    fn errors_have_the_messages_of_kubernetes() {
        for (path, message) in [
            ("a.b", "expected [ or . but got: a"),
            (".a.", "unexpected end of JSON path"),
            (".a[", "unexpected end of JSON path"),
            (".a['b'", "unexpected end of JSON path"),
            (".a[0]", "expected single quoted string but got 0"),
            (".a['b", "expected single quoted string but got 'b"),
            (".a['b'c", "expected ] but got c"),
            (
                r".a['\x']",
                r"invalid string literal: invalid escape char \x",
            ),
        ] {
            assert_eq!(names(path), Err(message.to_owned()), "{path}");
        }
    }

    #[test]
    fn name_before_an_error_is_returned_first() {
        let mut path = FieldPath::new(".a['b'c");
        assert_eq!(path.next(), Some(Ok("a".to_owned())));
        assert_eq!(path.next(), Some(Ok("b".to_owned())));
        assert_eq!(
            path.next(),
            Some(Err(FieldPathError::Unclosed("c".to_owned())))
        );
        assert_eq!(path.next(), None);
    }

    #[test]
    fn simple_path_has_only_names_after_dots() {
        let simple = |path| FieldPath::new(path).without_brackets().collect();
        let names: Result<Vec<String>, FieldPathError> = simple(".spec.replicas");
        assert_eq!(names, Ok(vec!["spec".to_owned(), "replicas".to_owned()]));
        assert_eq!(simple(".a['b']"), Err(FieldPathError::ArrayNotation));
    }
}
