//! The sizes that a schema declares, for the estimate of costs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::expression_type::{add_metadata, is_embedded};
use crate::json::items;
use kubewright_cel::{SizeLimits, escape};

/// The largest request that Kubernetes accepts, which bounds what a schema does not.
pub(crate) const MAX_REQUEST_SIZE: u64 = 3 * 1024 * 1024;

/// The least bytes of a value as JSON.
const LEAST_TEXT: u64 = 2;
const LEAST_DURATION: u64 = 3;
const DATE: u64 = 12;
const LEAST_TIME: u64 = 21;
const LEAST_BOOL: u64 = 4;
const LEAST_NUMBER: u64 = 1;
/// The bytes of `[]` and `{}`.
const LEAST_CONTAINER: u64 = 2;
/// The most characters of a time or duration.
const MOST_TIME: u64 = 32;
/// A character takes up to four bytes.
const BYTES_PER_CHARACTER: u64 = 4;
/// The bytes of an entry besides its value: quotes, colon, comma, and the shortest key.
const ENTRY_OVERHEAD: u64 = 6;
/// The bytes of a field besides its name and value: quotes, colon and comma.
const FIELD_OVERHEAD: u64 = 4;

/// How large the values of a schema can be; `None` when expressions cannot use them
/// (`SchemaDeclType` of k8s.io/apiserver/pkg/cel/common).
pub(crate) fn declared(schema: &Value, is_resource: bool) -> Option<SizeLimits> {
    if schema["x-kubernetes-int-or-string"] == true {
        let length = limit(schema, "maxLength");
        let most = length.map_or(MAX_REQUEST_SIZE - 2, characters);
        return Some(value(most, LEAST_NUMBER));
    }
    Some(match schema["type"].as_str()? {
        "array" => {
            let items = schema.get("items").filter(|items| items.is_object())?;
            let item = declared(items, is_embedded(items))?;
            let most = (MAX_REQUEST_SIZE - 2) / (item.least_bytes + 1);
            SizeLimits {
                most: limit(schema, "maxItems").unwrap_or(most),
                least_bytes: LEAST_CONTAINER,
                element: Some(Box::new(item)),
                ..SizeLimits::default()
            }
        }
        "object" => match schema
            .get("additionalProperties")
            .filter(|rest| rest.is_object())
        {
            Some(rest) => entries(schema, declared(rest, is_embedded(rest))?),
            None => fields(schema, is_resource),
        },
        "string" => string(schema),
        "boolean" => value(0, LEAST_BOOL),
        "number" | "integer" => value(0, LEAST_NUMBER),
        _ => return None,
    })
}

fn value(most: u64, least_bytes: u64) -> SizeLimits {
    SizeLimits {
        most,
        least_bytes,
        ..SizeLimits::default()
    }
}

fn characters(length: u64) -> u64 {
    length.saturating_mul(BYTES_PER_CHARACTER)
}

/// A limit in the schema; a negative one is zero.
pub(crate) fn limit(schema: &Value, name: &str) -> Option<u64> {
    let set = schema.get(name).filter(|set| set.is_number())?;
    Some(set.as_u64().unwrap_or(0))
}

fn entries(schema: &Value, element: SizeLimits) -> SizeLimits {
    let most = (MAX_REQUEST_SIZE - 2) / (element.least_bytes + ENTRY_OVERHEAD);
    SizeLimits {
        most: limit(schema, "maxProperties").unwrap_or(most),
        least_bytes: LEAST_CONTAINER,
        // Keys are unbounded, and Kubernetes estimates them as empty.
        key: Some(Box::new(value(0, LEAST_TEXT))),
        element: Some(Box::new(element)),
        ..SizeLimits::default()
    }
}

fn fields(schema: &Value, is_resource: bool) -> SizeLimits {
    let mut properties: Map<String, Value> = schema["properties"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    if is_resource {
        add_metadata(&mut properties);
    }
    let required: BTreeSet<&str> = items(&schema["required"])
        .filter_map(Value::as_str)
        .collect();
    let mut fields = BTreeMap::new();
    let mut least_bytes = LEAST_CONTAINER;
    for (name, schema) in &properties {
        let Some(field) = declared(schema, is_embedded(schema)) else {
            continue;
        };
        // A required field with a default may be absent in the request.
        if required.contains(name.as_str()) && schema.get("default").is_none_or(Value::is_null) {
            let length = u64::try_from(name.len()).unwrap_or(u64::MAX);
            least_bytes += length + field.least_bytes + FIELD_OVERHEAD;
        }
        if let Some(name) = escape(name) {
            fields.insert(name, field);
        }
    }
    SizeLimits {
        least_bytes,
        fields,
        ..SizeLimits::default()
    }
}

fn string(schema: &Value) -> SizeLimits {
    let longest = limit(schema, "maxLength");
    match schema["format"].as_str() {
        Some("byte") => value(longest.unwrap_or(MAX_REQUEST_SIZE - 2), LEAST_TEXT),
        Some("duration") => value(MOST_TIME, LEAST_DURATION),
        Some("date") => value(DATE, DATE),
        Some("date-time") => value(MOST_TIME, LEAST_TIME),
        _ => {
            let values = schema["enum"]
                .as_array()
                .filter(|values| !values.is_empty());
            let longest_value = values.map(|values| {
                let lengths = values.iter().filter_map(Value::as_str).map(str::len);
                u64::try_from(lengths.max().unwrap_or(0)).unwrap_or(u64::MAX)
            });
            let most = longest.map(characters).or(longest_value);
            value(most.unwrap_or(MAX_REQUEST_SIZE - 2), LEAST_TEXT)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::expression_type::expression_type;
    use super::super::rule::Rule;
    use super::declared;

    fn cost(schema: &Value, rule: &str) -> u64 {
        let of = expression_type(schema, false, "self").unwrap();
        let compiled = Rule::compile(&json!({"rule": rule}), &of, schema)
            .unwrap_or_else(|error| panic!("{rule}: {error:?}"));
        compiled.cost(&declared(schema, false).unwrap())
    }

    fn list(items: Value) -> Value {
        json!({"type": "array", "items": items})
    }

    fn map(values: Value) -> Value {
        json!({"type": "object", "additionalProperties": values})
    }

    fn text(length: u64) -> Value {
        json!({"type": "string", "maxLength": length})
    }

    /// The costs are those of `TestCostEstimation` in k8s.io/apiextensions-apiserver.
    #[test]
    fn unbounded_values_are_bounded_by_the_size_of_a_request() {
        let of = |kind: &str| json!({"type": kind});
        let format = |format: &str| json!({"type": "string", "format": format});
        let object = json!({"type": "object", "required": ["required"], "properties": {
            "required": {"type": "string"}, "optional": {"type": "string"}}});
        let either = json!({"x-kubernetes-int-or-string": true});
        for (schema, rule, expected) in [
            (list(of("number")), "self.all(x, true)", 4_718_591),
            (list(of("string")), "self.all(x, true)", 3_145_727),
            (list(of("boolean")), "self.all(x, true)", 1_887_437),
            (list(list(of("number"))), "self.all(x, true)", 3_145_727),
            (list(object.clone()), "self.all(x, true)", 555_128),
            (map(of("number")), "self.all(x, true)", 1_348_169),
            (map(of("string")), "self.all(x, true)", 1_179_647),
            (of("string"), "self.contains('test')", 314_574),
            (of("string"), "self.startsWith('test')", 2),
            (
                of("string"),
                "size(self + \"hello\") > size(\"hello\")",
                314_578,
            ),
            (list(of("number")), "self[1] == 0.0", 2),
            (list(of("string")), "self[1] == self[1]", 314_577),
            (of("string"), "self.matches(\"x\")", 314_574),
            (
                of("string"),
                "\"\".matches(\"(((((((((())))))))))[0-9]\")",
                7,
            ),
            (
                map(of("string")),
                "self.all(x, x.contains(self[x]))",
                2_752_507,
            ),
            (list(of("number")), "self.all(x, x == 0.0)", 6_291_454),
            (
                list(map(object)),
                "self.all(x, x[\"y\"].required == \"z\")",
                7_340_027,
            ),
            (list(either.clone()), "self.all(x, true)", 4_718_591),
            (list(either.clone()), "self[0] == 5", 3),
            (list(list(of("number"))), "self[0][0] == -1.0", 3),
            (
                list(map(of("number"))),
                "self.all(x, x.y == 25.2)",
                6_291_452,
            ),
            (list(map(of("number"))), "self[0].x > 2.0", 4),
            (list(format("duration")), "self.all(x, true)", 2_359_295),
            (list(format("duration")), "self[0].getHours() == 2", 4),
            (list(format("date")), "self.all(x, true)", 725_936),
            (list(format("date-time")), "self.all(x, true)", 428_963),
            (map(format("date-time")), "self[\"a\"] == self[\"b\"]", 8),
            (of("string"), "self.find('[0-9]+') == ''", 629_147),
            (
                list(of("string")),
                "self.join(' ') == 'aa bb'",
                329_853_068_905,
            ),
            (
                list(of("string")),
                "self.isSorted() == true",
                329_854_432_052,
            ),
            (of("string"), "self.lowerAscii() == 'lower!'", 314_575),
            (map(of("integer")), "oldSelf.size() == self.size()", 5),
            (either, "isQuantity(self)", 314_574),
        ] {
            assert_eq!(cost(&schema, rule), expected, "{rule} on {schema}");
        }
        let named = json!({"type": "string", "enum": ["A", "B", "C", "LongValue"]});
        assert_eq!(cost(&named, "self.contains('A')"), 2);
        let nested = cost(&list(of("number")), "self.all(x, self.all(y, true))");
        assert!(nested > 10_000_000, "{nested}");
    }

    #[test]
    fn declared_bounds_lower_the_cost() {
        let short = |most: u64| {
            json!({"type": "array", "maxItems": most, "items": {
            "type": "number"}})
        };
        let texts = json!({"type": "array", "maxItems": 10, "items": text(10)});
        let replaced = json!({"type": "object", "properties": {
            "str": text(4), "before": text(2), "after": text(4)}});
        let split = json!({"type": "object", "properties": {
            "str": text(10), "separator": text(10)}});
        for (schema, rule, expected) in [
            (short(10), "self.all(x, true)", 32),
            (short(10), "self.all(x, self.all(y, true))", 352),
            (
                short(10),
                "self.all(x, self.all(y, self.all(z, true)))",
                3_552,
            ),
            (short(0), "self[3] == 0.0", 2),
            (short(6_291_456), "self.all(x, x == 0.0)", 25_165_826),
            (text(10), "self.contains('test')", 5),
            (text(4), "size(self + \"hello\") > size(\"hello\")", 7),
            (text(50), "self.matches(\"x\")", 22),
            (text(0), "self == \"x\"", 1),
            (text(10), "self.find('[0-9]+') == ''", 11),
            (texts.clone(), "self.join(' ') == 'aa bb'", 43),
            (texts, "self.isSorted() == true", 52),
            (
                replaced,
                "self.str.replace(self.before, self.after) == 'does not matter'",
                12,
            ),
            (split, "self.str.split(self.separator) == []", 22),
            (text(10), "self.lowerAscii() == 'lower!'", 6),
        ] {
            assert_eq!(cost(&schema, rule), expected, "{rule} on {schema}");
        }
    }

    /// Computed by hand from the comprehensions that cel-go expands macros to.
    #[test]
    fn macros_cost_as_much_as_their_comprehensions() {
        let list = json!({"type": "array", "maxItems": 10, "items": {"type": "integer"}});
        for (rule, expected) in [
            // 1 for `self`, 1 for the result, and ten times: 3 for the loop condition, 1 and the body.
            ("self.exists(x, x == 1)", 1 + 1 + 10 * (4 + 1)),
            ("self.exists_one(x, x == 1)", 1 + 2 + 10 * (2 + 1)),
            // A list is created first, and one for each item.
            (
                "self.map(x, x).size() == 1",
                (1 + 10 + 1 + 10 * (12 + 1)) + 2,
            ),
            (
                "self.filter(x, x == 1).size() == 1",
                (1 + 10 + 1 + 10 * (13 + 1)) + 2,
            ),
            ("[1, 2].all(x, x > 0)", 10 + 1 + 2 * (3 + 2)),
            ("self.all(i, v, i < v)", 1 + 1 + 10 * (3 + 3)),
        ] {
            assert_eq!(cost(&list, rule), expected, "{rule}");
        }
    }

    #[test]
    fn string_from_a_number_is_unbounded() {
        let number = json!({"type": "integer"});
        let cost = cost(&number, "('n is ' + string(self)).size() > 1");
        assert!(cost > 100_000_000, "{cost}");
    }
}
