//! Follows the simple JSON paths of columns and selectable fields through a schema.

use serde_json::Value;

/// A step of a path such as `.status.conditions[?(@.type=="Ready")].status`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    /// `[0]`, `[*]`, `[1:3]`, `[?(..)]`.
    Items,
    /// `..name`, a field at any depth.
    Anywhere,
}

/// What a path refers to in a schema.
#[derive(Debug, PartialEq)]
pub(super) enum Target<'a> {
    /// A value of this schema.
    Schema(&'a Value),
    /// A value that the schema does not define.
    Open,
    /// Nothing: the schema does not have this field.
    Missing(String),
    /// The text is not a path.
    InvalidPath,
}

/// Follows a path through the schema of an object.
pub(super) fn follow<'a>(schema: &'a Value, path: &str) -> Target<'a> {
    let Some(steps) = parse(path) else {
        return Target::InvalidPath;
    };
    let mut current = schema;
    for (depth, step) in steps.iter().enumerate() {
        let next = match step {
            Step::Anywhere => return Target::Open,
            // Schemas of kinds do not describe the metadata that every object has.
            Step::Field(name) if depth == 0 && name == "metadata" => return metadata(&steps),
            Step::Field(name) => field(current, name),
            Step::Items => current.get("items").filter(|items| items.is_object()),
        };
        current = match next {
            Some(next) => next,
            None if is_open(current) => return Target::Open,
            None => {
                return Target::Missing(match step {
                    Step::Field(name) => name.clone(),
                    _ => "list for [..]".to_owned(),
                });
            }
        };
    }
    Target::Schema(current)
}

fn field<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    let known = schema["properties"].get(name);
    known.or_else(|| {
        schema
            .get("additionalProperties")
            .filter(|any| any.is_object())
    })
}

fn is_open(schema: &Value) -> bool {
    schema["x-kubernetes-preserve-unknown-fields"] == true
        || schema["x-kubernetes-embedded-resource"] == true
        || schema["additionalProperties"] == true
}

/// The fields of `ObjectMeta` in apimachinery's meta/v1/types.go.
const METADATA: [&str; 15] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

fn metadata(steps: &[Step]) -> Target<'static> {
    match steps.get(1) {
        Some(Step::Field(name)) if !METADATA.contains(&name.as_str()) => {
            Target::Missing(name.clone())
        }
        _ => Target::Open,
    }
}

/// Parses a path.
fn parse(path: &str) -> Option<Vec<Step>> {
    let mut letters = path.chars().peekable();
    let mut steps = Vec::new();
    while let Some(letter) = letters.next() {
        match letter {
            '.' if letters.peek() == Some(&'.') => steps.push(Step::Anywhere),
            '.' if matches!(letters.peek(), Some('[') | None) => {}
            '.' => {
                let mut name = String::new();
                while let Some(next) = letters.next_if(|next| !matches!(next, '.' | '[')) {
                    match next {
                        '\\' => name.extend(letters.next()),
                        other => name.push(other),
                    }
                }
                steps.push(Step::Field(name));
            }
            '[' => steps.push(brackets(&mut letters)?),
            _ => return None,
        }
    }
    (!steps.is_empty()).then_some(steps)
}

/// Parses the text between `[` and its `]`.
fn brackets(letters: &mut impl Iterator<Item = char>) -> Option<Step> {
    let mut inner = String::new();
    let mut depth = 1;
    let mut quote = None;
    for letter in letters {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            ('\'' | '"', None) => quote = Some(letter),
            ('[', None) => depth += 1,
            (']', None) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let name = inner
                .strip_prefix(['\'', '"'])
                .and_then(|rest| rest.strip_suffix(['\'', '"']));
            return Some(name.map_or(Step::Items, |name| Step::Field(name.to_owned())));
        }
        inner.push(letter);
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Target, follow};

    fn schema() -> Value {
        json!({"properties": {
            "spec": {"properties": {"image": {"type": "string"}, "a.b": {"type": "integer"}}},
            "status": {"properties": {
                "conditions": {"items": {"properties": {"status": {"type": "string"}}}},
                "labels": {"additionalProperties": {"type": "boolean"}},
                "free": {"x-kubernetes-preserve-unknown-fields": true},
            }},
        }})
    }

    #[test]
    fn path_refers_to_the_schema_of_its_field() {
        let schema = schema();
        for (path, expected) in [
            (".spec.image", "string"),
            (r".spec.a\.b", "integer"),
            (".spec['a.b']", "integer"),
            (
                r#".status.conditions[?(@.type=="Re]ady")].status"#,
                "string",
            ),
            (".status.conditions[0].status", "string"),
            (".status.labels.anything", "boolean"),
        ] {
            let Target::Schema(found) = follow(&schema, path) else {
                panic!("{path}: {:?}", follow(&schema, path));
            };
            assert_eq!(found["type"], expected, "{path}");
        }
    }

    #[test]
    fn path_into_an_open_part_of_the_schema_is_open() {
        let schema = schema();
        for path in [
            ".metadata.labels.app",
            ".metadata.creationTimestamp",
            ".status.free.x.y",
            "..image",
        ] {
            assert_eq!(follow(&schema, path), Target::Open, "{path}");
        }
    }

    #[test]
    fn first_field_that_does_not_exist_is_named() {
        let schema = schema();
        for (path, missing) in [
            (".spec.imgae", "imgae"),
            (".sepc.image", "sepc"),
            (".metadata.creationTime", "creationTime"),
            (".spec.image[0]", "list for [..]"),
        ] {
            let expected = Target::Missing(missing.to_owned());
            assert_eq!(follow(&schema, path), expected, "{path}");
        }
        for path in ["spec.image", "", ".status.conditions[0"] {
            assert_eq!(follow(&schema, path), Target::InvalidPath, "{path:?}");
        }
    }
}
