use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

const VERSION: &str = "meta.k8s.io/v1";

/// Where a list in pieces goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ContinueToken {
    /// The revision all pieces are read at; none for the latest.
    pub(super) revision: Option<u64>,
    /// The path, as in `Key::path`, from which the next piece begins, without the listed
    /// namespace in front.
    pub(super) start: String,
}

#[derive(Serialize, Deserialize)]
struct Wire {
    v: String,
    rv: i64,
    start: String,
}

impl ContinueToken {
    pub(super) fn encode(&self) -> String {
        let wire = Wire {
            v: VERSION.to_owned(),
            rv: self
                .revision
                .map_or(-1, |number| i64::try_from(number).unwrap_or(i64::MAX)),
            start: format!("/{}", self.start),
        };
        let json = serde_json::to_vec(&wire).expect("two texts and a number are always JSON");
        URL_SAFE_NO_PAD.encode(json)
    }

    /// The message is the one Kubernetes gives after `invalid continue token: `.
    pub(super) fn decode(text: &str) -> Result<Self, String> {
        let bytes = URL_SAFE_NO_PAD
            .decode(text)
            .map_err(|_| "continue key is not valid: illegal base64 data at input byte 0")?;
        let wire: Wire = serde_json::from_slice(&bytes)
            .map_err(|error| format!("continue key is not valid: {error}"))?;
        if wire.v != VERSION {
            return Err(format!(
                "continue key is not valid: server does not recognize this encoded version {:?}",
                wire.v
            ));
        }
        if wire.rv == 0 {
            return Err(
                "continue key is not valid: incorrect encoded start resourceVersion \
                        (version meta.k8s.io/v1)"
                    .to_owned(),
            );
        }
        let start = wire.start.strip_prefix('/').unwrap_or(&wire.start);
        let escapes = start.split('/').any(|part| part == "..");
        if start.is_empty() || escapes {
            return Err("continue key is not valid: invalid start key".to_owned());
        }
        Ok(Self {
            revision: u64::try_from(wire.rv).ok(),
            start: start.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ContinueToken;

    #[test]
    fn a_token_comes_back_as_it_was_written() {
        for revision in [Some(7), None] {
            let token = ContinueToken {
                revision,
                start: "c1\0".to_owned(),
            };
            assert_eq!(ContinueToken::decode(&token.encode()), Ok(token));
        }
    }

    #[test]
    fn foreign_tokens_are_refused() {
        for text in ["", "!", "e30", "eyJ2IjoieCIsInJ2IjoxLCJzdGFydCI6Ii9hIn0"] {
            let error = ContinueToken::decode(text).unwrap_err();
            assert!(error.starts_with("continue key is not valid"), "{error}");
        }
    }
}
