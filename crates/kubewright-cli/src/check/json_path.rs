use serde_json::Value;

/// One step of a path such as `.status.conditions[?(@.type=="Ready")].status`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    /// `[0]`, `[*]`, `[1:3]`, `[?(..)]`.
    Items,
    /// `..name`, which may be anywhere.
    Anywhere,
}

/// Where a path leads in a schema.
#[derive(Debug, PartialEq)]
pub(super) enum Reach<'a> {
    /// To a value of this schema.
    Value(&'a Value),
    /// Into what the schema leaves open.
    Open,
    /// Nowhere; this is the first name that is not there.
    Nowhere(String),
    /// The path itself cannot be read.
    Unreadable,
}

/// Follows a simple path (as columns and selectable fields have it) through an object's schema.
pub(super) fn follow<'a>(schema: &'a Value, path: &str) -> Reach<'a> {
    let Some(steps) = steps(path) else {
        return Reach::Unreadable;
    };
    let mut place = schema;
    for (depth, step) in steps.iter().enumerate() {
        let next = match step {
            Step::Anywhere => return Reach::Open,
            // What every object has is not in the schema of one.
            Step::Field(name) if depth == 0 && name == "metadata" => return metadata(&steps),
            Step::Field(name) => field(place, name),
            Step::Items => place.get("items").filter(|items| items.is_object()),
        };
        place = match next {
            Some(next) => next,
            None if is_open(place) => return Reach::Open,
            None => {
                return Reach::Nowhere(match step {
                    Step::Field(name) => name.clone(),
                    _ => "[..] of what is no list".to_owned(),
                });
            }
        };
    }
    Reach::Value(place)
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

fn metadata(steps: &[Step]) -> Reach<'static> {
    match steps.get(1) {
        Some(Step::Field(name)) if !METADATA.contains(&name.as_str()) => {
            Reach::Nowhere(name.clone())
        }
        _ => Reach::Open,
    }
}

/// Reads a path; nothing when it is no path.
fn steps(path: &str) -> Option<Vec<Step>> {
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

/// What stands between `[` and its `]`.
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

    use super::{Reach, follow};

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
    fn paths_lead_to_what_the_schema_has() {
        let schema = schema();
        for (path, form) in [
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
            let Reach::Value(found) = follow(&schema, path) else {
                panic!("{path}: {:?}", follow(&schema, path));
            };
            assert_eq!(found["type"], form, "{path}");
        }
    }

    #[test]
    fn what_is_left_open_may_be_anything() {
        let schema = schema();
        for path in [
            ".metadata.labels.app",
            ".metadata.creationTimestamp",
            ".status.free.x.y",
            "..image",
        ] {
            assert_eq!(follow(&schema, path), Reach::Open, "{path}");
        }
    }

    #[test]
    fn the_first_name_that_is_not_there_is_told() {
        let schema = schema();
        for (path, missing) in [
            (".spec.imgae", "imgae"),
            (".sepc.image", "sepc"),
            (".metadata.creationTime", "creationTime"),
            (".spec.image[0]", "[..] of what is no list"),
        ] {
            let nowhere = Reach::Nowhere(missing.to_owned());
            assert_eq!(follow(&schema, path), nowhere, "{path}");
        }
        for path in ["spec.image", "", ".status.conditions[0"] {
            assert_eq!(follow(&schema, path), Reach::Unreadable, "{path:?}");
        }
    }
}
