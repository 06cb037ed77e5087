use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use crate::response::Response;

/// One thing in which two responses to the same request differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The request.
    pub request: String,
    /// Where: `status`, a header, or a JSON pointer into the body.
    pub place: String,
    /// What the real server answered there; none when it has no such place.
    pub real: Option<Value>,
    /// What the embedded server answered there.
    pub embedded: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Option<Value>| {
            value
                .as_ref()
                .map_or_else(|| "nothing".to_owned(), Value::to_string)
        };
        write!(
            f,
            "{}\n    {}\n      real:     {}\n      embedded: {}",
            self.request,
            self.place,
            text(&self.real),
            text(&self.embedded)
        )
    }
}

/// What differs between masked responses to the same requests.
pub fn compare(real: &[Response], embedded: &[Response]) -> Vec<Difference> {
    let mut differences = Vec::new();
    if real.len() != embedded.len() {
        differences.push(Difference {
            request: "all".to_owned(),
            place: "number of responses".to_owned(),
            real: Some(real.len().into()),
            embedded: Some(embedded.len().into()),
        });
    }
    for (real, embedded) in real.iter().zip(embedded) {
        let mut note = |place: &str, one: Option<&Value>, other: Option<&Value>| {
            differences.push(Difference {
                request: real.request.clone(),
                place: place.to_owned(),
                real: one.cloned(),
                embedded: other.cloned(),
            });
        };
        let (one, other) = (Value::from(real.status), Value::from(embedded.status));
        if one != other {
            note("status", Some(&one), Some(&other));
        }
        let names: BTreeSet<_> = real.headers.keys().chain(embedded.headers.keys()).collect();
        for name in names {
            let value =
                |response: &Response| response.headers.get(name).map(|v| Value::from(v.clone()));
            let (one, other) = (value(real), value(embedded));
            if one != other {
                note(&format!("header {name}"), one.as_ref(), other.as_ref());
            }
        }
        walk("", Some(&real.body), Some(&embedded.body), &mut note);
    }
    differences
}

type Note<'a> = dyn FnMut(&str, Option<&Value>, Option<&Value>) + 'a;

fn walk(place: &str, real: Option<&Value>, embedded: Option<&Value>, note: &mut Note<'_>) {
    match (real, embedded) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let names: BTreeSet<_> = one.keys().chain(other.keys()).collect();
            for name in names {
                let place = format!("{place}/{name}");
                walk(&place, one.get(name), other.get(name), note);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) => {
            for position in 0..one.len().max(other.len()) {
                let place = format!("{place}/{position}");
                walk(&place, one.get(position), other.get(position), note);
            }
        }
        (one, other) if one == other => {}
        (one, other) => note(place, one, other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::compare;
    use crate::response::Response;

    fn response(status: u16, body: Value) -> Response {
        Response {
            request: "GET /x".to_owned(),
            status,
            headers: [(
                "content-type".to_owned(),
                vec!["application/json".to_owned()],
            )]
            .into(),
            body,
        }
    }

    #[test]
    fn each_difference_has_a_place_and_both_sides() {
        let real = response(200, json!({ "a": 1, "list": [1, { "b": 2 }] }));
        let embedded = response(404, json!({ "a": 1, "list": [1, { "b": 3 }, 4] }));
        let places: Vec<_> = compare(std::slice::from_ref(&real), &[embedded])
            .into_iter()
            .map(|difference| difference.place)
            .collect();
        assert_eq!(places, ["status", "/list/1/b", "/list/2"]);
        assert!(compare(std::slice::from_ref(&real), std::slice::from_ref(&real)).is_empty());
    }

    #[test]
    fn an_answer_that_is_missing_is_a_difference() {
        let response = response(200, json!({}));
        let differences = compare(&[response.clone(), response.clone()], &[response]);
        let text: Vec<_> = differences.iter().map(ToString::to_string).collect();
        assert_eq!(
            text,
            ["all\n    number of responses\n      real:     2\n      embedded: 1"]
        );
    }
}
