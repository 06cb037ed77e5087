//! Parsing of JSONPath (k8s.io/client-go/util/jsonpath).

use std::str::FromStr;

use serde_json::Value;

use super::error::JsonPathError;
use super::literal::{condition_end, literal, unquote};
use super::path::{Comparison, Filter, JsonPath, Operand, Operator, Step};

/// The deepest nesting of filters and brackets, which limits the recursion.
const MAX_DEPTH: usize = 16;

impl JsonPath {
    /// Parses a path such as `.spec.ports[0].name`.
    ///
    /// As in client-go, a name in brackets is a path of its own: `['a.b']` is `.a.b`. A dot in a
    /// name is written `\.`, in brackets too.
    pub fn parse(text: &str) -> Result<Self, JsonPathError> {
        steps(text, 0, 0)
            .map(|steps| Self { steps })
            .map_err(|error| JsonPathError {
                path: text.to_owned(),
                at: error.at,
                what: error.what,
            })
    }
}

impl FromStr for JsonPath {
    type Err = JsonPathError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

/// What is wrong, and its byte in the whole path.
struct Problem {
    at: usize,
    what: String,
}

impl Problem {
    fn new(at: usize, what: impl Into<String>) -> Self {
        Self {
            at,
            what: what.into(),
        }
    }
}

/// Parses `text`, which begins at byte `base` of the whole path.
fn steps(text: &str, base: usize, depth: usize) -> Result<Vec<Step>, Problem> {
    if depth > MAX_DEPTH {
        return Err(Problem::new(base, "brackets are nested too deeply"));
    }
    let mut parsed = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let at = base + text.len() - rest.len();
        rest = if let Some(inner) = rest.strip_prefix("[?(") {
            let (step, after) = filter(inner, at + 3, depth)?;
            parsed.push(step);
            after
        } else if let Some(after) = rest.strip_prefix("..") {
            if parsed.last() == Some(&Step::Recursive) {
                return Err(Problem::new(at, "a second .. follows the first"));
            }
            parsed.push(Step::Recursive);
            if after.starts_with(|c: char| c == '_' || c.is_alphanumeric()) {
                let (step, behind) = field(after, at + 2)?;
                parsed.push(step);
                behind
            } else {
                after
            }
        } else if let Some(after) = rest.strip_prefix([' ', '@', '$']) {
            after
        } else if let Some(inner) = rest.strip_prefix('[') {
            let (content, after) = inner
                .split_once(']')
                .ok_or_else(|| Problem::new(at, "a bracket is not closed"))?;
            parsed.extend(bracket(content, at + 1, depth)?);
            after
        } else if let Some(name) = rest.strip_prefix('.') {
            let (step, after) = field(name, at + 1)?;
            parsed.push(step);
            after
        } else {
            let what = format!("expected . or [ but found {letter:?}");
            return Err(Problem::new(at, what));
        };
    }
    Ok(parsed)
}

/// A name up to the next step, and the text after it.
fn field(text: &str, at: usize) -> Result<(Step, &str), Problem> {
    let mut name = String::new();
    let mut end = text.len();
    let mut letters = text.char_indices();
    while let Some((index, letter)) = letters.next() {
        match letter {
            // client-go removes all backslashes, so that a name cannot contain one.
            '\\' => name.extend(
                letters
                    .next()
                    .map(|(_, escaped)| escaped)
                    .filter(|c| *c != '\\'),
            ),
            ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}' => {
                end = index;
                break;
            }
            letter => name.push(letter),
        }
    }
    let (raw, after) = text.split_at_checked(end).unwrap_or((text, ""));
    match raw {
        "" => Err(Problem::new(at, "a name is missing")),
        "*" => Ok((Step::Wildcard, after)),
        _ => Ok((Step::Field(name), after)),
    }
}

/// The steps of the text between brackets.
fn bracket(content: &str, at: usize, depth: usize) -> Result<Vec<Step>, Problem> {
    if content == "*" {
        return Ok(vec![Step::Slice {
            start: None,
            end: None,
            step: None,
        }]);
    }
    if content.contains(',') {
        if depth >= MAX_DEPTH {
            return Err(Problem::new(at, "brackets are nested too deeply"));
        }
        let members = content.split(',').map(|member| {
            let steps = bracket(member.trim_matches(' '), at, depth + 1)?;
            Ok(JsonPath { steps })
        });
        return Ok(vec![Step::Union(members.collect::<Result<_, _>>()?)]);
    }
    let quoted = content
        .strip_prefix('\'')
        .and_then(|inner| inner.strip_suffix('\''));
    match quoted {
        Some(name) if !name.contains('\'') => steps(&format!(".{name}"), at, depth + 1),
        _ => Ok(vec![index_or_slice(content, at)?]),
    }
}

fn index_or_slice(content: &str, at: usize) -> Result<Step, Problem> {
    let number = |part: &str| match part {
        "" => Ok(None),
        _ => part
            .parse::<i64>()
            .ok()
            .filter(|_| !part.starts_with('+'))
            .map(Some)
            .ok_or_else(|| {
                let what =
                    format!("{content:?} is not an index, a slice or a name in single quotes");
                Problem::new(at, what)
            }),
    };
    let parts: Vec<&str> = content.split(':').collect();
    match parts.as_slice() {
        [index] => Ok(Step::Index(number(index)?.unwrap_or(0))),
        [start, end] => Ok(Step::Slice {
            start: number(start)?,
            end: number(end)?,
            step: None,
        }),
        [start, end, step] => Ok(Step::Slice {
            start: number(start)?,
            end: number(end)?,
            step: number(step)?,
        }),
        _ => Err(Problem::new(at, "a slice has more than three parts")),
    }
}

/// A filter whose condition begins at `text`, and the text after it.
fn filter(text: &str, at: usize, depth: usize) -> Result<(Step, &str), Problem> {
    let end = condition_end(text).ok_or_else(|| Problem::new(at, "a filter is not closed"))?;
    let (condition, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let after = rest
        .strip_prefix(")]")
        .ok_or_else(|| Problem::new(at + end, "a filter does not end with )]"))?;
    let is_operator = |c: char| matches!(c, '!' | '<' | '>' | '=');
    let Some(start) = condition.find(is_operator) else {
        let filter = Filter {
            left: operand(condition, at, depth)?,
            comparison: None,
        };
        return Ok((Step::Filter(filter), after));
    };
    let (left, compared) = condition.split_at_checked(start).unwrap_or((condition, ""));
    let right = compared.trim_start_matches(is_operator);
    let symbol = compared.strip_suffix(right).unwrap_or(compared);
    let operator = match symbol {
        "==" => Operator::Equal,
        "!=" => Operator::NotEqual,
        "<" => Operator::Less,
        "<=" => Operator::LessOrEqual,
        ">" => Operator::Greater,
        ">=" => Operator::GreaterOrEqual,
        other => {
            let what = format!("the operator {other} is unknown: use ==, !=, <, <=, > or >=");
            return Err(Problem::new(at + start, what));
        }
    };
    let filter = Filter {
        left: operand(left, at, depth)?,
        comparison: Some(Comparison {
            operator,
            right: operand(right, at + start + symbol.len(), depth)?,
        }),
    };
    Ok((Step::Filter(filter), after))
}

fn operand(text: &str, at: usize, depth: usize) -> Result<Operand, Problem> {
    let trimmed = text.trim_matches(' ');
    match trimmed.chars().next() {
        None => Err(Problem::new(at, "an operand of a filter is missing")),
        Some(quote @ ('\'' | '"')) => unquote(trimmed, quote)
            .map(|text| Operand::Literal(Value::String(text)))
            .ok_or_else(|| Problem::new(at, format!("{trimmed} is not a quoted text"))),
        Some('@' | '$' | '.' | '[') => Ok(Operand::Path(JsonPath {
            steps: steps(text, at, depth + 1)?,
        })),
        Some(_) => literal(trimmed)
            .map(Operand::Literal)
            .ok_or_else(|| Problem::new(at, format!("{trimmed} is not a path or a literal"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Comparison, Filter, JsonPath, Operand, Operator, Step};

    fn parsed(path: &str) -> Vec<Step> {
        JsonPath::parse(path).unwrap().steps
    }

    fn field(name: &str) -> Step {
        Step::Field(name.to_owned())
    }

    fn slice(start: Option<i64>, end: Option<i64>, step: Option<i64>) -> Step {
        Step::Slice { start, end, step }
    }

    #[test]
    fn names_are_after_dots_and_in_brackets() {
        assert_eq!(parsed(".spec.image"), [field("spec"), field("image")]);
        assert_eq!(parsed(r".spec.a\.b"), [field("spec"), field("a.b")]);
        assert_eq!(parsed(r".spec['a\.b']"), [field("spec"), field("a.b")]);
        assert_eq!(
            parsed(".spec['a.b']"),
            [field("spec"), field("a"), field("b")]
        );
        assert_eq!(parsed("$.kind"), [field("kind")]);
        assert_eq!(parsed(""), []);
    }

    #[test]
    fn brackets_have_indexes_slices_and_unions() {
        assert_eq!(parsed(".a[0]"), [field("a"), Step::Index(0)]);
        assert_eq!(parsed(".a[-1]"), [field("a"), Step::Index(-1)]);
        assert_eq!(parsed(".a[*]"), [field("a"), slice(None, None, None)]);
        assert_eq!(
            parsed(".a[1:3]"),
            [field("a"), slice(Some(1), Some(3), None)]
        );
        assert_eq!(parsed(".a[::2]"), [field("a"), slice(None, None, Some(2))]);
        let union = Step::Union(vec![
            JsonPath::parse(".metadata.name").unwrap(),
            JsonPath::parse("[2]").unwrap(),
        ]);
        assert_eq!(parsed("['metadata.name', 2]"), [union]);
    }

    #[test]
    fn wildcards_and_recursive_descent_are_parsed() {
        assert_eq!(parsed(".a.*"), [field("a"), Step::Wildcard]);
        assert_eq!(parsed("..image"), [Step::Recursive, field("image")]);
        assert_eq!(parsed(".a.."), [field("a"), Step::Recursive]);
        assert_eq!(parsed(r".\*"), [field("*")]);
    }

    #[test]
    fn filters_compare_paths_and_literals() {
        let filter = |operator, right| {
            Step::Filter(Filter {
                left: Operand::Path(JsonPath::parse(".type").unwrap()),
                comparison: Some(Comparison { operator, right }),
            })
        };
        let text = |text: &str| Operand::Literal(json!(text));
        for (path, expected) in [
            (
                r#"[?(@.type=="Ready")]"#,
                filter(Operator::Equal, text("Ready")),
            ),
            (
                "[?(@.type != 'Old')]",
                filter(Operator::NotEqual, text("Old")),
            ),
            (
                r#"[?(@.type=="Re]a)dy")]"#,
                filter(Operator::Equal, text("Re]a)dy")),
            ),
            (
                r#"[?(@.type=="a\"b")]"#,
                filter(Operator::Equal, text("a\"b")),
            ),
            (
                "[?(@.type>=3)]",
                filter(Operator::GreaterOrEqual, Operand::Literal(json!(3))),
            ),
            (
                "[?(@.type<1.5)]",
                filter(Operator::Less, Operand::Literal(json!(1.5))),
            ),
            (
                "[?(@.type==true)]",
                filter(Operator::Equal, Operand::Literal(json!(true))),
            ),
            (
                "[?(@.type==@.other)]",
                filter(
                    Operator::Equal,
                    Operand::Path(JsonPath::parse(".other").unwrap()),
                ),
            ),
        ] {
            assert_eq!(parsed(path), [expected], "{path}");
        }
        let exists = Step::Filter(Filter {
            left: Operand::Path(JsonPath::parse(".b").unwrap()),
            comparison: None,
        });
        assert_eq!(parsed(".a[?(@.b)]"), [field("a"), exists]);
    }

    #[test]
    fn error_has_the_problem_and_its_position() {
        for (path, what, at) in [
            ("spec", "expected . or [ but found 's'", 0),
            (".spec[", "a bracket is not closed", 5),
            (".spec{x}", "expected . or [ but found '{'", 5),
            (".", "a name is missing", 1),
            (
                r#".a["b"]"#,
                r#""\"b\"" is not an index, a slice or a name in single quotes"#,
                3,
            ),
            (".a[1:2:3:4]", "a slice has more than three parts", 3),
            (".a[?(@.b==1]", "a filter is not closed", 5),
            (".a[?(@.b==1)", "a filter does not end with )]", 11),
            (
                ".a[?(@.b=~1)]",
                "the operator = is unknown: use ==, !=, <, <=, > or >=",
                8,
            ),
            (".a[?(@.b==)]", "an operand of a filter is missing", 10),
            (".a[?(@.b==c)]", "c is not a path or a literal", 10),
            ("....a", "a second .. follows the first", 2),
        ] {
            let error = JsonPath::parse(path).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("read the JSONPath {path:?}: {what} at byte {at}")
            );
        }
    }

    #[test]
    fn nesting_is_limited() {
        let nested = |depth: usize| {
            let text = format!("{}.a{}", "[?(@".repeat(depth), ")]".repeat(depth));
            JsonPath::parse(&text)
        };
        assert!(nested(16).is_ok());
        assert!(nested(17).is_err());
        assert!(nested(100_000).is_err());
    }

    #[test]
    fn path_of_fields_has_names() {
        let path = JsonPath::parse(r".spec['a\.b'].c").unwrap();
        assert_eq!(path.field_names(), Some(vec!["spec", "a.b", "c"]));
        assert_eq!(JsonPath::parse(".spec[0]").unwrap().field_names(), None);
    }
}
