//! The `continue` token of a paginated list.

use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, NO_PAD};
use base64::{DecodeError, Engine};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::json::{go_type, read};

/// Base64 as Go decodes it: surplus bits at the end are ignored.
const BASE64: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);
const LENIENT: GeneralPurposeConfig = NO_PAD.with_decode_allow_trailing_bits(true);
const VERSION: &str = "meta.k8s.io/v1";

/// Where the next page of a list begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContinueToken {
    /// The revision of all pages; none for the latest.
    pub revision: Option<u64>,
    /// The storage path of the first object, without the listed namespace.
    pub start: String,
}

#[derive(Serialize)]
struct Wire {
    v: String,
    rv: i64,
    start: String,
}

impl ContinueToken {
    /// The token as text.
    ///
    /// # Panics
    ///
    /// Never: two texts and a number always have a JSON form.
    pub fn encode(&self) -> String {
        let wire = Wire {
            v: VERSION.to_owned(),
            rv: self
                .revision
                .map_or(-1, |number| i64::try_from(number).unwrap_or(i64::MAX)),
            start: format!("/{}", self.start),
        };
        let json = serde_json::to_vec(&wire).expect("two texts and a number have a JSON form");
        BASE64.encode(json)
    }

    /// Decodes a token. The error is the message of Kubernetes after `invalid continue token: `
    /// (`DecodeContinue` of k8s.io/apiserver/pkg/storage).
    pub fn decode(text: &str) -> Result<Self, String> {
        let invalid = |why: String| format!("continue key is not valid: {why}");
        let bytes = BASE64.decode(text).map_err(|error| {
            let at = corrupt_at(text, &error);
            invalid(format!("illegal base64 data at input byte {at}"))
        })?;
        let value = read(&bytes).map_err(invalid)?.value;
        let wire = Wire::read(&value).map_err(invalid)?;
        if wire.v != VERSION {
            let version = &wire.v;
            let why = format!("server does not recognize this encoded version {version}");
            return Err(invalid(why));
        }
        if wire.rv == 0 {
            let why = "incorrect encoded start resourceVersion (version meta.k8s.io/v1)";
            return Err(invalid(why.to_owned()));
        }
        if wire.start.is_empty() {
            let why = "encoded start key empty (version meta.k8s.io/v1)";
            return Err(invalid(why.to_owned()));
        }
        let start = wire.start.strip_prefix('/').unwrap_or(&wire.start);
        if !is_clean(start) {
            return Err(invalid(wire.start));
        }
        Ok(Self {
            revision: u64::try_from(wire.rv).ok(),
            start: start.to_owned(),
        })
    }
}

impl Wire {
    /// Reads a value as Go's decoder does, with its error messages.
    fn read(value: &Value) -> Result<Self, String> {
        let none = Map::new();
        let members = match value {
            Value::Object(members) => members,
            Value::Null => &none,
            other => {
                let found = go_type(other);
                return Err(format!(
                    "json: cannot unmarshal {found} into Go value of type storage.continueToken"
                ));
            }
        };
        let wrong = |field: &str, found: &str, wanted: &str| {
            format!(
                "json: cannot unmarshal {found} into Go struct field continueToken.{field} of \
                 type {wanted}"
            )
        };
        let text = |field: &str| match members.get(field) {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Err(wrong(field, go_type(other), "string")),
        };
        let rv = match members.get("rv") {
            None | Some(Value::Null) => 0,
            Some(Value::Number(number)) => number
                .as_i64()
                .ok_or_else(|| wrong("rv", &format!("number {number}"), "int64"))?,
            Some(other) => return Err(wrong("rv", go_type(other), "int64")),
        };
        Ok(Self {
            v: text("v")?,
            rv,
            start: text("start")?,
        })
    }
}

/// The position in the error of Go's decoder: a single character in the last group is invalid.
fn corrupt_at(text: &str, error: &DecodeError) -> usize {
    match error {
        DecodeError::InvalidByte(at, _) => *at,
        DecodeError::InvalidLength(length) => length.saturating_sub(1),
        // Unreachable: surplus bits are allowed.
        DecodeError::InvalidLastSymbol { offset, .. } => *offset,
        DecodeError::InvalidPadding => text.find('=').unwrap_or(0),
    }
}

/// Whether Go's `path.Clean` would not change the path.
fn is_clean(path: &str) -> bool {
    let is_part = |part: &str| !matches!(part, "" | "." | "..");
    path.is_empty() || path.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::ContinueToken;

    #[test]
    fn token_survives_a_round_trip() {
        for revision in [Some(7), None] {
            let token = ContinueToken {
                revision,
                start: "c1\0".to_owned(),
            };
            assert_eq!(ContinueToken::decode(&token.encode()), Ok(token));
        }
    }

    #[test]
    fn invalid_token_fails_with_the_message_of_go() {
        for (text, wanted) in [
            (
                "moon",
                "invalid character '\\u009a' looking for beginning of value",
            ),
            ("a!", "illegal base64 data at input byte 1"),
            ("moonm", "illegal base64 data at input byte 4"),
            ("", "unexpected end of JSON input"),
            (
                "MQ",
                "json: cannot unmarshal number into Go value of type storage.continueToken",
            ),
            ("e30", "server does not recognize this encoded version "),
        ] {
            let error = ContinueToken::decode(text).unwrap_err();
            assert_eq!(error, format!("continue key is not valid: {wanted}"));
        }
    }

    #[test]
    fn token_of_another_format_is_an_error() {
        for text in ["", "!", "e30", "eyJ2IjoieCIsInJ2IjoxLCJzdGFydCI6Ii9hIn0"] {
            let error = ContinueToken::decode(text).unwrap_err();
            assert!(error.starts_with("continue key is not valid"), "{error}");
        }
    }
}
