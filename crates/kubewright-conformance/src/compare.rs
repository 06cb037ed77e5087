//! Compares the responses of two clusters.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use crate::response::Response;

/// A difference of two responses to the same request.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The request.
    pub request: String,
    /// The differing part: `status`, a header, or a JSON pointer into the body.
    pub place: String,
    /// The value in the response of the real server; `None` if the part is missing.
    pub real: Option<Value>,
    /// The value in the response of the embedded server.
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

/// The differences between masked responses to the same requests.
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
        let mut add = |place: &str, real_value: Option<&Value>, embedded_value: Option<&Value>| {
            differences.push(Difference {
                request: real.request.clone(),
                place: place.to_owned(),
                real: real_value.cloned(),
                embedded: embedded_value.cloned(),
            });
        };
        let statuses = [real, embedded].map(|response| Value::from(response.status));
        if statuses[0] != statuses[1] {
            add("status", Some(&statuses[0]), Some(&statuses[1]));
        }
        let names: BTreeSet<_> = real.headers.keys().chain(embedded.headers.keys()).collect();
        for name in names {
            let value =
                |response: &Response| response.headers.get(name).map(|v| Value::from(v.clone()));
            let values = [value(real), value(embedded)];
            if values[0] != values[1] {
                let [real_value, embedded_value] = &values;
                add(
                    &format!("header {name}"),
                    real_value.as_ref(),
                    embedded_value.as_ref(),
                );
            }
        }
        compare_bodies("", Some(&real.body), Some(&embedded.body), &mut add);
    }
    differences
}

type AddDifference<'a> = dyn FnMut(&str, Option<&Value>, Option<&Value>) + 'a;

fn compare_bodies(
    place: &str,
    real: Option<&Value>,
    embedded: Option<&Value>,
    add: &mut AddDifference<'_>,
) {
    match (real, embedded) {
        (Some(Value::Object(real)), Some(Value::Object(embedded))) => {
            let names: BTreeSet<_> = real.keys().chain(embedded.keys()).collect();
            for name in names {
                let place = format!("{place}/{name}");
                compare_bodies(&place, real.get(name), embedded.get(name), add);
            }
        }
        (Some(Value::Array(real)), Some(Value::Array(embedded))) => {
            for index in 0..real.len().max(embedded.len()) {
                let place = format!("{place}/{index}");
                compare_bodies(&place, real.get(index), embedded.get(index), add);
            }
        }
        (real, embedded) if real == embedded => {}
        (real, embedded) => add(place, real, embedded),
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
    fn difference_has_its_place_and_both_values() {
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
    fn missing_response_is_a_difference() {
        let response = response(200, json!({}));
        let differences = compare(&[response.clone(), response.clone()], &[response]);
        let text: Vec<_> = differences.iter().map(ToString::to_string).collect();
        assert_eq!(
            text,
            ["all\n    number of responses\n      real:     2\n      embedded: 1"]
        );
    }
}
