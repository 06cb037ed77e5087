use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::expression_type::{add_metadata, is_embedded};
use crate::cel::{Declared, escape};

/// The largest request that Kubernetes reads, which bounds what a schema does not.
pub(super) const LARGEST_REQUEST: u64 = 3 * 1024 * 1024;

/// The fewest bytes of values, as JSON.
const LEAST_TEXT: u64 = 2;
const LEAST_DURATION: u64 = 3;
const DATE: u64 = 12;
const LEAST_TIME: u64 = 21;
const LEAST_BOOL: u64 = 4;
const LEAST_NUMBER: u64 = 1;
/// `[]` and `{}`.
const LEAST_CONTAINER: u64 = 2;
/// The most characters of a time or duration.
const MOST_TIME: u64 = 32;
/// A character takes up to four bytes.
const BYTES_PER_CHARACTER: u64 = 4;
/// The quotes of a key, a colon and a comma, around the shortest key.
const AROUND_ENTRY: u64 = 6;
/// The same around the name of a field.
const AROUND_FIELD: u64 = 4;

/// How large the values of a schema can be; none when expressions do not see them
/// (`SchemaDeclType` of k8s.io/apiserver/pkg/cel/common).
pub(super) fn declared(schema: &Value, is_resource: bool) -> Option<Declared> {
    if schema["x-kubernetes-int-or-string"] == true {
        let length = limit(schema, "maxLength");
        let most = length.map_or(LARGEST_REQUEST - 2, characters);
        return Some(value(most, LEAST_NUMBER));
    }
    Some(match schema["type"].as_str()? {
        "array" => {
            let items = schema.get("items").filter(|items| items.is_object())?;
            let item = declared(items, is_embedded(items))?;
            let most = (LARGEST_REQUEST - 2) / (item.least_bytes + 1);
            Declared {
                most: limit(schema, "maxItems").unwrap_or(most),
                least_bytes: LEAST_CONTAINER,
                element: Some(Box::new(item)),
                ..Declared::default()
            }
        }
        "object" => match schema
            .get("additionalProperties")
            .filter(|rest| rest.is_object())
        {
            Some(rest) => entries(schema, declared(rest, is_embedded(rest))?),
            None => fields(schema, is_resource),
        },
        "string" => text(schema),
        "boolean" => value(0, LEAST_BOOL),
        "number" | "integer" => value(0, LEAST_NUMBER),
        _ => return None,
    })
}

fn value(most: u64, least_bytes: u64) -> Declared {
    Declared {
        most,
        least_bytes,
        ..Declared::default()
    }
}

fn characters(length: u64) -> u64 {
    length.saturating_mul(BYTES_PER_CHARACTER)
}

/// A bound that the schema sets; one below zero counts as zero.
pub(super) fn limit(schema: &Value, name: &str) -> Option<u64> {
    let set = schema.get(name).filter(|set| set.is_number())?;
    Some(set.as_u64().unwrap_or(0))
}

fn entries(schema: &Value, element: Declared) -> Declared {
    let most = (LARGEST_REQUEST - 2) / (element.least_bytes + AROUND_ENTRY);
    Declared {
        most: limit(schema, "maxProperties").unwrap_or(most),
        least_bytes: LEAST_CONTAINER,
        // Nothing bounds the keys, and Kubernetes counts them as empty.
        key: Some(Box::new(value(0, LEAST_TEXT))),
        element: Some(Box::new(element)),
        ..Declared::default()
    }
}

fn fields(schema: &Value, is_resource: bool) -> Declared {
    let mut properties: Map<String, Value> = schema["properties"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    if is_resource {
        add_metadata(&mut properties);
    }
    let required = schema["required"].as_array().into_iter().flatten();
    let required: BTreeSet<&str> = required.filter_map(Value::as_str).collect();
    let mut fields = BTreeMap::new();
    let mut least_bytes = LEAST_CONTAINER;
    for (name, schema) in &properties {
        let Some(field) = declared(schema, is_embedded(schema)) else {
            continue;
        };
        // The server fills in what has a default.
        if required.contains(name.as_str()) && schema.get("default").is_none_or(Value::is_null) {
            let length = u64::try_from(name.len()).unwrap_or(u64::MAX);
            least_bytes += length + field.least_bytes + AROUND_FIELD;
        }
        if let Some(name) = escape(name) {
            fields.insert(name, field);
        }
    }
    Declared {
        least_bytes,
        fields,
        ..Declared::default()
    }
}

fn text(schema: &Value) -> Declared {
    let longest = limit(schema, "maxLength");
    match schema["format"].as_str() {
        Some("byte") => value(longest.unwrap_or(LARGEST_REQUEST - 2), LEAST_TEXT),
        Some("duration") => value(MOST_TIME, LEAST_DURATION),
        Some("date") => value(DATE, DATE),
        Some("date-time") => value(MOST_TIME, LEAST_TIME),
        _ => {
            let named = schema["enum"].as_array().filter(|named| !named.is_empty());
            let named = named.map(|named| {
                let lengths = named.iter().filter_map(Value::as_str).map(str::len);
                u64::try_from(lengths.max().unwrap_or(0)).unwrap_or(u64::MAX)
            });
            let most = longest.map(characters).or(named);
            value(most.unwrap_or(LARGEST_REQUEST - 2), LEAST_TEXT)
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
        let compiled = Rule::compile(&json!({"rule": rule}), &of, schema);
        let compiled = compiled.unwrap_or_else(|wrong| panic!("{rule}: {wrong:?}"));
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

    /// The figures of `TestCostEstimation` in k8s.io/apiextensions-apiserver.
    #[test]
    fn what_nothing_bounds_is_bounded_by_a_request() {
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
    fn bounds_make_rules_cheap() {
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

    /// Counted by hand from the comprehensions that cel-go makes of the macros.
    #[test]
    fn macros_cost_what_they_are_made_of() {
        let list = json!({"type": "array", "maxItems": 10, "items": {"type": "integer"}});
        for (rule, expected) in [
            // 1 for `self`, 1 for the result, and ten times: 3 to go on, 1 and the body.
            ("self.exists(x, x == 1)", 1 + 1 + 10 * (4 + 1)),
            ("self.exists_one(x, x == 1)", 1 + 2 + 10 * (2 + 1)),
            // A list is made first, and one for each item.
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
    fn a_text_that_a_number_becomes_has_no_bound() {
        let number = json!({"type": "integer"});
        let cost = cost(&number, "('n is ' + string(self)).size() > 1");
        assert!(cost > 100_000_000, "{cost}");
    }
}
