//! Evaluation of JSONPath.

use std::cmp::Ordering;

use serde_json::Value;

use super::error::EvaluateError;
use super::path::{Comparison, Filter, JsonPath, Operand, Operator, Step};

/// The most values of one step: recursive steps and unions can select a value many times.
const MAX_VALUES: usize = 100_000;

impl JsonPath {
    /// The values that the path selects, as client-go finds them with `AllowMissingKeys`: a missing
    /// field selects nothing, while an index out of bounds is an error.
    pub fn evaluate<'v>(&self, value: &'v Value) -> Result<Vec<&'v Value>, EvaluateError> {
        let mut values = vec![value];
        for step in &self.steps {
            values = step.evaluate(&values)?;
            if values.len() > MAX_VALUES {
                return Err(EvaluateError::TooMany);
            }
        }
        Ok(values)
    }

    /// The first value that the path selects; `None` also when the evaluation fails, as in the
    /// printer columns of custom resources.
    pub fn first<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.evaluate(value).ok()?.first().copied()
    }
}

impl Step {
    fn evaluate<'v>(&self, input: &[&'v Value]) -> Result<Vec<&'v Value>, EvaluateError> {
        match self {
            Self::Field(name) => Ok(input.iter().filter_map(|value| value.get(name)).collect()),
            Self::Wildcard => Ok(input.iter().flat_map(|value| children(value)).collect()),
            Self::Recursive => {
                let mut found = Vec::new();
                for value in input {
                    descend(value, &mut found)?;
                }
                Ok(found)
            }
            Self::Index(index) => {
                let items = arrays(input).map(|items| item(items?, *index));
                items.collect()
            }
            Self::Slice { start, end, step } => slices(input, *start, *end, *step),
            Self::Union(paths) => union(paths, input),
            Self::Filter(filter) => filtered(filter, input),
        }
    }
}

fn union<'v>(paths: &[JsonPath], input: &[&'v Value]) -> Result<Vec<&'v Value>, EvaluateError> {
    let mut found = Vec::new();
    for path in paths {
        for value in input {
            found.extend(path.evaluate(value)?);
        }
        if found.len() > MAX_VALUES {
            return Err(EvaluateError::TooMany);
        }
    }
    Ok(found)
}

fn filtered<'v>(filter: &Filter, input: &[&'v Value]) -> Result<Vec<&'v Value>, EvaluateError> {
    let mut found = Vec::new();
    for value in input {
        for item in value.as_array().ok_or(EvaluateError::NotAnArray)? {
            if filter.matches(item)? {
                found.push(item);
            }
        }
    }
    Ok(found)
}

/// The values of an object or array.
fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(members) => members.values().collect(),
        _ => Vec::new(),
    }
}

/// Adds the value and everything below it, except scalars and empty values.
fn descend<'v>(value: &'v Value, found: &mut Vec<&'v Value>) -> Result<(), EvaluateError> {
    let below = children(value);
    if below.is_empty() {
        return Ok(());
    }
    if found.len() > MAX_VALUES {
        return Err(EvaluateError::TooMany);
    }
    found.push(value);
    below
        .into_iter()
        .try_for_each(|child| descend(child, found))
}

/// The input as arrays; nulls are skipped.
fn arrays<'i, 'v>(
    input: &'i [&'v Value],
) -> impl Iterator<Item = Result<&'v [Value], EvaluateError>> + use<'i, 'v> {
    input
        .iter()
        .filter(|value| !value.is_null())
        .map(|value| match value {
            Value::Array(items) => Ok(items.as_slice()),
            _ => Err(EvaluateError::NotAnArray),
        })
}

fn item(items: &[Value], index: i64) -> Result<&Value, EvaluateError> {
    let length = items.len();
    usize::try_from(from_end(index, length))
        .ok()
        .and_then(|position| items.get(position))
        .ok_or(EvaluateError::OutOfBounds { index, length })
}

fn slices<'v>(
    input: &[&'v Value],
    start: Option<i64>,
    end: Option<i64>,
    step: Option<i64>,
) -> Result<Vec<&'v Value>, EvaluateError> {
    let mut found = Vec::new();
    for array in arrays(input) {
        let items = array?;
        let length = items.len();
        let out_of_bounds = |index| EvaluateError::OutOfBounds { index, length };
        let first = start.map_or(0, |index| from_end(index, length));
        let last = end.map_or(signed(length), |index| from_end(index, length));
        // client-go returns at the first empty slice, without the arrays after it.
        if first == last {
            return Ok(found);
        }
        if !(0..signed(length)).contains(&first) {
            return Err(out_of_bounds(first));
        }
        if !(0..=signed(length)).contains(&last) {
            return Err(out_of_bounds(last.saturating_sub(1)));
        }
        let selected = position(first)
            .zip(position(last))
            .and_then(|(first, last)| items.get(first..last))
            .ok_or(EvaluateError::Reversed)?;
        let distance = match step {
            None => 1,
            Some(step) => position(step)
                .filter(|step| *step > 0)
                .ok_or(EvaluateError::Step)?,
        };
        found.extend(selected.iter().step_by(distance));
    }
    Ok(found)
}

fn position(index: i64) -> Option<usize> {
    usize::try_from(index).ok()
}

fn signed(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// A negative index counts from the end.
fn from_end(index: i64, length: usize) -> i64 {
    if index < 0 {
        index.saturating_add(signed(length))
    } else {
        index
    }
}

impl Filter {
    fn matches(&self, item: &Value) -> Result<bool, EvaluateError> {
        let Some(Comparison { operator, right }) = &self.comparison else {
            // An error within the operand counts as absent.
            let left = self.left.values(item).unwrap_or_default();
            return Ok(!left.is_empty());
        };
        let (left, right) = (self.left.single(item)?, right.single(item)?);
        operator.compare(left, right)
    }
}

impl Operand {
    fn values<'v>(&'v self, item: &'v Value) -> Result<Vec<&'v Value>, EvaluateError> {
        match self {
            Self::Path(path) => path.evaluate(item),
            Self::Literal(value) => Ok(vec![value]),
        }
    }

    fn single<'v>(&'v self, item: &'v Value) -> Result<&'v Value, EvaluateError> {
        match self.values(item)?.as_slice() {
            [only] => Ok(only),
            _ => Err(EvaluateError::Operand),
        }
    }
}

impl Operator {
    fn compare(self, left: &Value, right: &Value) -> Result<bool, EvaluateError> {
        if let (Value::Bool(left), Value::Bool(right)) = (left, right) {
            return match self {
                Self::Equal => Ok(left == right),
                Self::NotEqual => Ok(left != right),
                _ => Err(EvaluateError::Incomparable),
            };
        }
        let ordering = order(left, right).ok_or(EvaluateError::Incomparable)?;
        Ok(match self {
            Self::Equal => ordering.is_eq(),
            Self::NotEqual => ordering.is_ne(),
            Self::Less => ordering.is_lt(),
            Self::LessOrEqual => ordering.is_le(),
            Self::Greater => ordering.is_gt(),
            Self::GreaterOrEqual => ordering.is_ge(),
        })
    }
}

/// The order of two texts, two integers or two other numbers: Go compares only values of one kind.
fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) => match (left.as_i128(), right.as_i128()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            (None, None) => left.as_f64()?.partial_cmp(&right.as_f64()?),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{EvaluateError, JsonPath};

    fn object() -> Value {
        json!({
            "spec": {"replicas": 3, "ports": [80, 90, 100], "a.b": {"c": "dot"}, "none": null},
            "status": {"conditions": [
                {"type": "Old", "status": "False", "age": 7},
                {"type": "Ready", "status": "True", "age": 2, "since": "now"},
            ]},
        })
    }

    fn evaluated(path: &str) -> Result<Value, EvaluateError> {
        let object = object();
        let found = JsonPath::parse(path).unwrap().evaluate(&object)?;
        Ok(found.into_iter().cloned().collect())
    }

    #[test]
    fn path_selects_values() {
        for (path, expected) in [
            (".spec.replicas", json!([3])),
            (".spec.ports[1]", json!([90])),
            (".spec.ports[-1]", json!([100])),
            (".spec.ports[*]", json!([80, 90, 100])),
            (".spec.ports[1:]", json!([90, 100])),
            (".spec.ports[:-1]", json!([80, 90])),
            (".spec.ports[::2]", json!([80, 100])),
            (".spec.ports[0,2]", json!([80, 100])),
            (r".spec.a\.b.c", json!(["dot"])),
            (r".spec['a\.b'].c", json!(["dot"])),
            (".spec['a.b'].c", json!([])),
            ("..c", json!(["dot"])),
            (".status.conditions.*.type", json!(["Old", "Ready"])),
            (
                r#".status.conditions[?(@.type=="Ready")].status"#,
                json!(["True"]),
            ),
            (
                ".status.conditions[?(@.type!='Old')].type",
                json!(["Ready"]),
            ),
            (".status.conditions[?(@.age>2)].type", json!(["Old"])),
            (".status.conditions[?(@.since)].type", json!(["Ready"])),
            (".spec.missing.x", json!([])),
            (".spec.none[0]", json!([])),
            (".spec.none.x", json!([])),
        ] {
            assert_eq!(evaluated(path), Ok(expected), "{path}");
        }
    }

    #[test]
    fn invalid_use_of_a_value_is_an_error() {
        let out_of_bounds = |index| EvaluateError::OutOfBounds { index, length: 3 };
        for (path, error) in [
            (".spec[0]", EvaluateError::NotAnArray),
            (".spec['replicas','ports'][0]", EvaluateError::NotAnArray),
            (".spec[?(@.a==1)]", EvaluateError::NotAnArray),
            (".spec.ports[3]", out_of_bounds(3)),
            (".spec.ports[-4]", out_of_bounds(-4)),
            (".spec.ports[1:9]", out_of_bounds(8)),
            (".spec.ports[2:1]", EvaluateError::Reversed),
            (".spec.ports[0:2:0]", EvaluateError::Step),
            (
                ".status.conditions[?(@.since=='now')]",
                EvaluateError::Operand,
            ),
            (
                ".status.conditions[?(@.age=='7')]",
                EvaluateError::Incomparable,
            ),
            (
                ".status.conditions[?(@.age==7.5)]",
                EvaluateError::Incomparable,
            ),
        ] {
            assert_eq!(evaluated(path), Err(error), "{path}");
        }
    }

    #[test]
    fn first_value_is_none_after_an_error() {
        let object = object();
        let first = |path: &str| JsonPath::parse(path).unwrap().first(&object).cloned();
        assert_eq!(first(".spec.ports[*]"), Some(json!(80)));
        assert_eq!(first(".spec.missing.x"), None);
        assert_eq!(first(".spec.ports[9]"), None);
    }

    #[test]
    fn number_of_values_is_limited() {
        let deep = (0..100).fold(json!("x"), |inner, _| json!({"a": inner}));
        let path = JsonPath::parse("..a..a..a..a..a..a").unwrap();
        assert_eq!(path.evaluate(&deep), Err(EvaluateError::TooMany));
        let unions = JsonPath::parse(&"[*,*]".repeat(40)).unwrap();
        let nested = (0..40).fold(json!(1), |inner, _| json!([inner]));
        assert_eq!(unions.evaluate(&nested), Err(EvaluateError::TooMany));
    }
}
