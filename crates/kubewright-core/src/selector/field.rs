//! Field selectors: `spec.nodeName=a,status.phase!=Running`.

use std::fmt;
use std::str::FromStr;

use super::error::ParseSelectorError;

/// Selects objects of a list or watch by their fields: an object matches when all requirements
/// hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldSelector {
    /// The requirements, in the order they were written.
    pub requirements: Vec<FieldRequirement>,
}

/// A field that must, or must not, have a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldRequirement {
    /// The path, such as `spec.nodeName`.
    pub path: String,
    /// Whether the value must be `value` or must not be it.
    pub equal: bool,
    /// The value as text.
    pub value: String,
}

impl FieldSelector {
    /// Whether every requirement holds, given the text of each named field.
    pub fn matches<'a>(&self, field: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = field(&requirement.path).unwrap_or_default();
            (value == requirement.value) == requirement.equal
        })
    }

    /// Whether there is nothing to match.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }
}

impl FromStr for FieldSelector {
    type Err = ParseSelectorError;

    /// Parses `a.b=c,d!=e`, where `\,`, `\=` and `\\` are the escaped characters
    /// (`k8s.io/apimachinery/pkg/fields`).
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let requirements = split_unescaped(text)
            .into_iter()
            .filter(|term| !term.is_empty())
            .map(parse_term)
            .collect::<Result<_, _>>()?;
        Ok(Self { requirements })
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let operator = if requirement.equal { "=" } else { "!=" };
            write!(
                f,
                "{comma}{}{operator}{}",
                requirement.path,
                escape(&requirement.value)
            )?;
        }
        Ok(())
    }
}

fn parse_term(term: &str) -> Result<FieldRequirement, ParseSelectorError> {
    for (at, _) in term.char_indices() {
        let rest = term.get(at..).unwrap_or_default();
        for (operator, equal) in [("!=", false), ("==", true), ("=", true)] {
            if let Some(value) = rest.strip_prefix(operator) {
                let path = term.get(..at).unwrap_or_default().to_owned();
                return Ok(FieldRequirement {
                    path,
                    equal,
                    value: unescape(value)?,
                });
            }
        }
    }
    Err(ParseSelectorError::new(format!(
        "invalid selector: '{term}'; can't understand '{term}'"
    )))
}

fn split_unescaped(text: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                terms.push(text.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    terms.push(text.get(start..).unwrap_or_default());
    terms
}

fn escape(value: &str) -> String {
    value
        .replace('\\', r"\\")
        .replace(',', r"\,")
        .replace('=', r"\=")
}

fn unescape(value: &str) -> Result<String, ParseSelectorError> {
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => plain.push(escaped),
                Some(other) => {
                    let message = format!(
                        "invalid field selector: invalid escape sequence: \\{other} in {value}"
                    );
                    return Err(ParseSelectorError::new(message));
                }
                None => {
                    return Err(ParseSelectorError::new(format!(
                        "invalid field selector: invalid escape sequence: \\ in {value}"
                    )));
                }
            },
            ',' | '=' => {
                let message = format!(
                    "invalid field selector: unescaped character in value: {character} in {value}"
                );
                return Err(ParseSelectorError::new(message));
            }
            other => plain.push(other),
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::FieldSelector;

    fn matches(selector: &str, phase: &str) -> bool {
        let selector: FieldSelector = selector.parse().unwrap();
        selector.matches(|path| (path == "status.phase").then_some(phase))
    }

    #[test]
    fn all_three_operators_compare_text() {
        assert!(matches("status.phase=Running", "Running"));
        assert!(matches("status.phase==Running", "Running"));
        assert!(!matches("status.phase!=Running", "Running"));
        assert!(matches("status.phase!=Running,spec.nodeName=", "Pending"));
        assert!(matches("", "anything"));
    }

    #[test]
    fn escapes_survive_a_round_trip() {
        let selector: FieldSelector = r"a=x\,y\=z\\".parse().unwrap();
        assert_eq!(selector.requirements[0].value, r"x,y=z\");
        assert_eq!(selector.to_string(), r"a=x\,y\=z\\");
    }

    #[test]
    fn term_without_operator_fails_with_the_message_of_kubernetes() {
        let error = "metadata.name".parse::<FieldSelector>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "invalid selector: 'metadata.name'; can't understand 'metadata.name'"
        );
    }
}
