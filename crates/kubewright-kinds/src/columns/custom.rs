//! The columns that CustomResourceDefinitions declare.

use jiff::Timestamp;
use kubewright_wire::json_path::JsonPath;
use serde_json::{Value, json};

use super::age::since;
use super::column::{ColumnDefinition, definition};

/// A column that a CustomResourceDefinition declares.
#[derive(Clone, Debug)]
pub struct CustomColumn {
    name: String,
    kind: String,
    format: String,
    description: String,
    priority: i64,
    /// None when it cannot be parsed: all cells are null then.
    path: Option<JsonPath>,
}

impl CustomColumn {
    /// The columns after the name of a version of a CustomResourceDefinition: those that it
    /// declares, or else the age.
    pub fn all(version: &Value) -> Vec<Self> {
        let declared = version["additionalPrinterColumns"].as_array();
        match declared.filter(|columns| !columns.is_empty()) {
            Some(columns) => columns.iter().map(Self::new).collect(),
            None => vec![Self::new(&json!({
                "name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp",
                "description": "",
            }))],
        }
    }

    fn new(column: &Value) -> Self {
        let text = |name: &str| column[name].as_str().unwrap_or_default().to_owned();
        let path = text("jsonPath");
        let description = match text("description") {
            empty if empty.is_empty() => {
                format!("Custom resource definition column (in JSONPath format): {path}")
            }
            given => given,
        };
        Self {
            name: text("name"),
            kind: text("type"),
            format: text("format"),
            description,
            priority: column["priority"].as_i64().unwrap_or_default(),
            path: JsonPath::parse(&path).ok(),
        }
    }

    /// The column as a table lists it.
    pub fn definition(&self) -> Value {
        definition(&ColumnDefinition {
            name: &self.name,
            kind: &self.kind,
            format: &self.format,
            description: &self.description,
            priority: self.priority,
        })
    }

    /// The cell of an object; null when the value is absent or of another type.
    pub fn cell(&self, object: &Value, now: Timestamp) -> Value {
        let found = self.path.as_ref().and_then(|path| path.first(object));
        let Some(value) = found else {
            return Value::Null;
        };
        match (self.kind.as_str(), value) {
            ("string", Value::String(_))
            | ("number", Value::Number(_))
            | ("boolean", Value::Bool(_)) => value.clone(),
            // As JSON; Go prints scalars in the same way.
            ("string", other) => json!(other.to_string()),
            ("integer", Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => json!(whole),
                (None, Some(part)) => json!(whole(part)),
                (None, None) => Value::Null,
            },
            ("date", Value::String(text)) if text.is_empty() => json!("<unknown>"),
            ("date", Value::String(text)) => match text.parse::<Timestamp>() {
                Ok(_) => json!(since(Some(value), now)),
                Err(_) => json!("<invalid>"),
            },
            _ => Value::Null,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "an integer column truncates, as the conversion of Go does"
)]
fn whole(number: f64) -> i64 {
    number.trunc() as i64
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::CustomColumn;

    #[test]
    fn cells_of_another_type_than_the_column_are_null() {
        let version = json!({"additionalPrinterColumns": [
            {"name": "S", "type": "string", "jsonPath": ".spec.s"},
            {"name": "I", "type": "integer", "jsonPath": ".spec.i"},
            {"name": "B", "type": "boolean", "jsonPath": ".spec.b"},
            {"name": "D", "type": "date", "jsonPath": ".spec.d"},
        ]});
        let columns = CustomColumn::all(&version);
        let now: Timestamp = "2026-01-01T01:00:00Z".parse().unwrap();
        let cells = |spec: Value| {
            let object = json!({"spec": spec});
            let cells = columns.iter().map(|column| column.cell(&object, now));
            Value::Array(cells.collect())
        };
        let spec = json!({"s": "x", "i": 2.9, "b": true, "d": "2026-01-01T00:58:00Z"});
        assert_eq!(cells(spec), json!(["x", 2, true, "2m"]));
        let spec = json!({"s": {"a": [1]}, "i": "2", "b": "yes", "d": "soon"});
        assert_eq!(cells(spec), json!(["{\"a\":[1]}", null, null, "<invalid>"]));
        assert_eq!(cells(json!({})), json!([null, null, null, null]));
    }

    #[test]
    fn cell_is_the_first_value_at_the_path() {
        let cell = |path: &str| {
            let column = json!({"name": "S", "type": "string", "jsonPath": path});
            let version = json!({"additionalPrinterColumns": [column]});
            let object = json!({
                "spec": {"ports": [80, 90], "a.b": {"c": "dot"}},
                "status": {"conditions": [
                    {"type": "Old", "status": "False"}, {"type": "Ready", "status": "True"},
                ]},
            });
            CustomColumn::all(&version)[0].cell(&object, Timestamp::UNIX_EPOCH)
        };
        for (path, expected) in [
            (".spec.ports[*]", json!("80")),
            (".spec.ports[-1]", json!("90")),
            (".spec.ports[5]", Value::Null),
            (r".spec.a\.b.c", json!("dot")),
            // As in client-go, the dot in the brackets separates two names.
            (".spec['a.b'].c", Value::Null),
            (
                r#".status.conditions[?(@.type=="Ready")].status"#,
                json!("True"),
            ),
            (".spec[", Value::Null),
        ] {
            assert_eq!(cell(path), expected, "{path}");
        }
    }
}
