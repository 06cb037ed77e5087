//! The simple JSONPath of custom columns.

use serde_json::Value;

/// A simple JSONPath: names, positions, `*`, and filters that compare one field with a string or
/// number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JsonPath {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Name(String),
    /// Counted from the end when it is negative.
    Position(i64),
    All,
    Filter {
        path: Vec<String>,
        equals: bool,
        value: Value,
    },
}

impl JsonPath {
    /// Returns `None` when the path is not a simple one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (step, after) = match rest.strip_prefix('[') {
                Some(inside) => bracket(inside)?,
                None => name(rest.strip_prefix('.')?)?,
            };
            steps.push(step);
            rest = after;
        }
        Some(Self { steps })
    }

    /// The first value at the path.
    pub(crate) fn first<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        let mut found = vec![value];
        for step in &self.steps {
            found = found
                .into_iter()
                .flat_map(|value| step.take(value))
                .collect();
        }
        found.first().copied()
    }
}

impl Step {
    fn take<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        match self {
            Self::Name(name) => value.get(name).into_iter().collect(),
            Self::Position(position) => {
                let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
                let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
                let from_start = match *position {
                    position if position < 0 => length + position,
                    position => position,
                };
                let index = usize::try_from(from_start).ok();
                index
                    .and_then(|index| items.get(index))
                    .into_iter()
                    .collect()
            }
            Self::All => entries(value),
            Self::Filter {
                path,
                equals,
                value: wanted,
            } => entries(value)
                .into_iter()
                .filter(|entry| {
                    let found = path.iter().try_fold(*entry, |at, name| at.get(name));
                    found.is_some_and(|found| (found == wanted) == *equals)
                })
                .collect(),
        }
    }
}

fn entries(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(members) => members.values().collect(),
        _ => Vec::new(),
    }
}

/// Parses a name up to the next step. A dot in a name is escaped as `\.`.
fn name(text: &str) -> Option<(Step, &str)> {
    let mut found = String::new();
    let mut letters = text.char_indices();
    let mut end = text.len();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => found.push(letters.next()?.1),
            '.' | '[' => {
                end = at;
                break;
            }
            '{' | '}' | ' ' | '(' | ')' => return None,
            letter => found.push(letter),
        }
    }
    let rest = text.get(end..)?;
    match found.as_str() {
        "" => None,
        "*" => Some((Step::All, rest)),
        _ => Some((Step::Name(found), rest)),
    }
}

/// Parses what is between brackets.
fn bracket(text: &str) -> Option<(Step, &str)> {
    if let Some(filter) = text.strip_prefix("?(@") {
        let (condition, rest) = filter.split_once(")]")?;
        return Some((filter_step(condition)?, rest));
    }
    let (inside, rest) = text.split_once(']')?;
    let step = match inside.trim() {
        "*" => Step::All,
        inside => match unquoted(inside) {
            Some(name) => Step::Name(name.to_owned()),
            None => Step::Position(inside.parse().ok()?),
        },
    };
    Some((step, rest))
}

fn filter_step(condition: &str) -> Option<Step> {
    let (path, equals, value) = match condition.split_once("==") {
        Some((path, value)) => (path, true, value),
        None => {
            let (path, value) = condition.split_once("!=")?;
            (path, false, value)
        }
    };
    let literal = value.trim();
    let value = match unquoted(literal) {
        Some(text) => Value::String(text.to_owned()),
        None => serde_json::from_str(literal).ok()?,
    };
    let path = path.trim().strip_prefix('.')?;
    Some(Step::Filter {
        path: path.split('.').map(str::to_owned).collect(),
        equals,
        value,
    })
}

fn unquoted(text: &str) -> Option<&str> {
    ['\'', '"'].into_iter().find_map(|quote| {
        let inside = text.strip_prefix(quote)?;
        inside.strip_suffix(quote)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::JsonPath;

    #[test]
    fn first_value_at_a_simple_path_is_found() {
        let object = json!({
            "spec": {"replicas": 3, "ports": [80, 90], "a.b": {"c": "dot"}},
            "status": {"conditions": [
                {"type": "Old", "status": "False"}, {"type": "Ready", "status": "True"},
            ]},
        });
        for (path, wanted) in [
            (".spec.replicas", json!(3)),
            (".spec.ports[1]", json!(90)),
            (".spec.ports[-1]", json!(90)),
            (".spec.ports[*]", json!(80)),
            (r".spec.a\.b.c", json!("dot")),
            (".spec['a.b'].c", json!("dot")),
            (
                r#".status.conditions[?(@.type=="Ready")].status"#,
                json!("True"),
            ),
            (".status.conditions[?(@.type!='Old')].type", json!("Ready")),
        ] {
            let found = JsonPath::parse(path).unwrap();
            assert_eq!(found.first(&object), Some(&wanted), "{path}");
        }
        assert_eq!(
            JsonPath::parse(".spec.none.x").unwrap().first(&object),
            None
        );
        for path in ["spec", ".spec[", ".spec{x}", ".", ".a[?(@.b)]"] {
            assert_eq!(JsonPath::parse(path), None, "{path}");
        }
    }
}
