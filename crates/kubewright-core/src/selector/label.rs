//! Label selectors: `app=web,tier in (a,b),!canary`.

use std::fmt;
use std::str::FromStr;

use super::error::ParseSelectorError;

/// Selects objects by their labels: an object matches when all requirements hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelSelector {
    /// The requirements, in the order they were written.
    pub requirements: Vec<LabelRequirement>,
}

/// One requirement on one label.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelRequirement {
    /// The label's key.
    pub key: String,
    /// What must hold for its value.
    pub operator: LabelOperator,
}

/// The condition that a requirement puts on a label's value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LabelOperator {
    /// The value is one of these.
    In(Vec<String>),
    /// The value is none of these; an absent label matches.
    NotIn(Vec<String>),
    /// The label is present.
    Exists,
    /// The label is absent.
    DoesNotExist,
    /// The value is a number above this one.
    GreaterThan(i64),
    /// The value is a number below this one.
    LessThan(i64),
}

impl LabelSelector {
    /// Whether every requirement holds, given the value of each named label.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements
            .iter()
            .all(|requirement| requirement.operator.accepts(label(&requirement.key)))
    }

    /// Whether there is nothing to match.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }
}

impl LabelOperator {
    fn accepts(&self, value: Option<&str>) -> bool {
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::In(values) => {
                value.is_some_and(|value| values.iter().any(|listed| listed == value))
            }
            Self::NotIn(values) => {
                value.is_none_or(|value| values.iter().all(|listed| listed != value))
            }
            Self::Exists => value.is_some(),
            Self::DoesNotExist => value.is_none(),
            Self::GreaterThan(bound) => number().is_some_and(|number| number > *bound),
            Self::LessThan(bound) => number().is_some_and(|number| number < *bound),
        }
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, LabelRequirement { key, operator }) in self.requirements.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            match operator {
                LabelOperator::In(values) => match values.as_slice() {
                    [value] => write!(f, "{key}={value}")?,
                    values => write!(f, "{key} in ({})", values.join(","))?,
                },
                LabelOperator::NotIn(values) => match values.as_slice() {
                    [value] => write!(f, "{key}!={value}")?,
                    values => write!(f, "{key} notin ({})", values.join(","))?,
                },
                LabelOperator::Exists => write!(f, "{key}")?,
                LabelOperator::DoesNotExist => write!(f, "!{key}")?,
                LabelOperator::GreaterThan(bound) => write!(f, "{key}>{bound}")?,
                LabelOperator::LessThan(bound) => write!(f, "{key}<{bound}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for LabelSelector {
    type Err = ParseSelectorError;

    /// Parses the grammar of `k8s.io/apimachinery/pkg/labels`: `k=v`, `k==v`, `k!=v`,
    /// `k in (a,b)`, `k notin (a,b)`, `k`, `!k`, `k>5`, `k<5`, joined by commas.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parser = Parser {
            tokens: tokens(text),
            at: 0,
        };
        let requirements = parser.requirements().map_err(|message| {
            ParseSelectorError::new(format!("unable to parse requirement: {message}"))
        })?;
        Ok(Self { requirements })
    }
}

const OPERATORS: &str = "in, notin, =, ==, !=, gt, lt";

/// Splits the text into words and symbols, without the whitespace between them.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let symbol = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"]
            .into_iter()
            .find(|symbol| rest.starts_with(symbol));
        let length = match symbol {
            Some(symbol) => symbol.len(),
            None => rest
                .find(|c: char| c.is_whitespace() || "=!(),><".contains(c))
                .unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

struct Parser<'a> {
    tokens: Vec<&'a str>,
    at: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> &'a str {
        self.tokens.get(self.at).copied().unwrap_or_default()
    }

    fn next(&mut self) -> &'a str {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn requirements(&mut self) -> Result<Vec<LabelRequirement>, String> {
        let mut requirements = Vec::new();
        if self.tokens.is_empty() {
            return Ok(requirements);
        }
        loop {
            requirements.push(self.requirement()?);
            match self.next() {
                "" => return Ok(requirements),
                "," if is_word(self.peek()) || self.peek() == "!" => {}
                "," => {
                    return Err(format!(
                        "found '{}', expected: identifier after ','",
                        self.peek()
                    ));
                }
                other => return Err(format!("found '{other}', expected: ',' or 'end of string'")),
            }
        }
    }

    fn requirement(&mut self) -> Result<LabelRequirement, String> {
        let negated = self.peek() == "!";
        if negated {
            self.at += 1;
        }
        let key = self.word()?;
        if negated {
            return Ok(LabelRequirement {
                key,
                operator: LabelOperator::DoesNotExist,
            });
        }
        if matches!(self.peek(), "" | ",") {
            return Ok(LabelRequirement {
                key,
                operator: LabelOperator::Exists,
            });
        }
        let operator = match self.next() {
            "=" | "==" => LabelOperator::In(vec![self.value()]),
            "!=" => LabelOperator::NotIn(vec![self.value()]),
            "in" => LabelOperator::In(self.values()?),
            "notin" => LabelOperator::NotIn(self.values()?),
            ">" | "gt" => LabelOperator::GreaterThan(self.number()?),
            "<" | "lt" => LabelOperator::LessThan(self.number()?),
            other => return Err(format!("found '{other}', expected: {OPERATORS}")),
        };
        Ok(LabelRequirement { key, operator })
    }

    fn word(&mut self) -> Result<String, String> {
        match self.next() {
            word if is_word(word) => Ok(word.to_owned()),
            other => Err(format!("found '{other}', expected: identifier")),
        }
    }

    /// Reads a value; an absent one is the empty text.
    fn value(&mut self) -> String {
        if is_word(self.peek()) {
            self.next().to_owned()
        } else {
            String::new()
        }
    }

    fn number(&mut self) -> Result<i64, String> {
        let next = self.peek();
        if !next.is_empty() && next != "," && !is_word(next) {
            return Err(format!("found '{next}', expected: identifier"));
        }
        let value = self.value();
        value.parse().map_err(|_| {
            format!("values[0]: Invalid value: \"{value}\": for 'Gt', 'Lt' operators, the value must be an integer")
        })
    }

    fn values(&mut self) -> Result<Vec<String>, String> {
        if self.next() != "(" {
            self.at -= 1;
            return Err(format!("found '{}' expected: '('", self.peek()));
        }
        let mut values = vec![self.value()];
        loop {
            match self.next() {
                "," => values.push(self.value()),
                ")" => break,
                other => return Err(format!("found '{other}', expected: ',', or ')'")),
            }
        }
        // Kubernetes keeps the values as a set.
        values.sort_unstable();
        values.dedup();
        Ok(values)
    }
}

fn is_word(token: &str) -> bool {
    token
        .chars()
        .next()
        .is_some_and(|first| !"=!(),><".contains(first))
}

#[cfg(test)]
mod tests {
    use super::LabelSelector;

    fn matches(selector: &str, labels: &[(&str, &str)]) -> bool {
        let selector: LabelSelector = selector.parse().unwrap();
        selector.matches(|key| {
            labels
                .iter()
                .find(|(k, _)| *k == key)
                .map(|(_, value)| *value)
        })
    }

    #[test]
    fn each_operator_matches_as_in_kubernetes() {
        let labels = [("app", "web"), ("size", "7")];
        for selector in [
            "",
            "app=web",
            "app==web",
            "app!=db",
            "gone!=x",
            "app in (db, web)",
            "gone notin (a)",
            "app",
            "!gone",
            "size>5",
            "size<8",
            "app=web,size gt 6",
        ] {
            assert!(matches(selector, &labels), "{selector}");
        }
        for selector in [
            "app=db",
            "app!=web",
            "app in (db)",
            "app notin (web)",
            "gone",
            "!app",
            "size>7",
            "app>1",
        ] {
            assert!(!matches(selector, &labels), "{selector}");
        }
    }

    #[test]
    fn missing_operator_fails_with_the_message_of_kubernetes() {
        let error = "a b".parse::<LabelSelector>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"
        );
    }

    #[test]
    fn selector_survives_a_round_trip_through_text() {
        let text = "app=web,tier in (a,b),!gone,size>5,x!=y";
        let selector: LabelSelector = text.parse().unwrap();
        assert_eq!(selector.to_string(), text);
    }
}
