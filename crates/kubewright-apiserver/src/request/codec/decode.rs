//! Decodes the bodies of requests.

use bytes::Bytes;
use kubewright_core::{GroupVersion, Kind};
use kubewright_wire::json::{self, Json, go_type};
use kubewright_wire::protobuf::{Layouts, ProtobufError, from_protobuf};
use kubewright_wire::schema::Schema;
use kubewright_wire::status::{Cause, Status};
use kubewright_wire::yaml;
use serde_json::{Map, Value, json};

use crate::request::message::Content;
use crate::request::options::FieldValidation;
use crate::request::target::Target;
use crate::resources::{cannot_handle, conform_builtin, undecodable};
use crate::scheme::not_registered;

/// How many bytes of a malformed body its error shows.
const MAX_SHOWN: usize = 30;

/// A decoded object, with warnings for the client.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) value: Value,
    pub(crate) warnings: Vec<String>,
}

/// Decodes the object in a body: its kind is checked, unknown fields are dropped, defaults are set.
pub(crate) fn object(
    target: &Target,
    content: &Content,
    kind: &Kind,
    validation: FieldValidation,
) -> Result<Decoded, Status> {
    let Json {
        mut value,
        duplicates,
    } = members(content).map_err(|error| error.about(kind, content))?;
    match target.resource.custom() {
        Some(_) => check_custom_kind(&value, kind, content)?,
        None => check_kind(&mut value, kind)?,
    }
    let unknown = target.resource.conform(&mut value, kind)?;
    let warnings = report(kind, validation, unknown, duplicates)?;
    Ok(Decoded { value, warnings })
}

/// Decodes the body of a subresource with a built-in kind of its own, such as `Scale`.
pub(crate) fn subresource(
    content: &Content,
    kind: &Kind,
    validation: FieldValidation,
) -> Result<Decoded, Status> {
    let Json {
        mut value,
        duplicates,
    } = members(content).map_err(|error| error.about(kind, content))?;
    check_kind(&mut value, kind)?;
    let unknown = conform_builtin(&mut value, kind).map_err(|error| undecodable(kind, &error))?;
    let warnings = report(kind, validation, unknown, duplicates)?;
    Ok(Decoded { value, warnings })
}

/// Why a body cannot be decoded.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// Its kind has no such encoding.
    MediaType,
    /// It is malformed.
    Malformed(String),
}

impl BodyError {
    /// The error for a body that should be an object of a kind.
    fn about(self, kind: &Kind, content: &Content) -> Status {
        match self {
            Self::MediaType => Status::unsupported_media_type(),
            Self::Malformed(error) => unrecognized(kind, &error, content),
        }
    }

    /// The error for a body that should be options.
    pub(crate) fn of_options(self) -> Status {
        match self {
            Self::MediaType => Status::unsupported_media_type(),
            Self::Malformed(error) => Status::bad_request(error),
        }
    }
}

/// The object in a body; `null` counts as an empty object.
pub(crate) fn members(content: &Content) -> Result<Json, BodyError> {
    if let Content::Protobuf(bytes) = content {
        return match from_protobuf(bytes, Layouts::builtin()) {
            Ok(value) => Ok(plain(value)),
            Err(ProtobufError::Kind(_)) => Err(BodyError::MediaType),
            Err(_) if bytes.is_empty() => Err(BodyError::Malformed("empty data".to_owned())),
            Err(error) => Err(BodyError::Malformed(error.to_string())),
        };
    }
    text_members(content).map_err(BodyError::Malformed)
}

fn text_members(content: &Content) -> Result<Json, String> {
    let json = read(content)
        .map_err(|error| format!("couldn't get version/kind; json parse error: {error}"))?;
    match json.value {
        Value::Object(_) => Ok(json),
        Value::Null => Ok(Json {
            value: Value::Object(Map::new()),
            ..json
        }),
        other => Err(format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value \
             of type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
             \"json:\\\"kind,omitempty\\\"\" }}",
            go_type(&other)
        )),
    }
}

/// Parses any value in a body, for patches and options.
pub(crate) fn parse(content: &Content) -> Result<Value, String> {
    read(content).map(|json| json.value)
}

fn plain(value: Value) -> Json {
    Json {
        value,
        duplicates: Vec::new(),
    }
}

fn read(content: &Content) -> Result<Json, String> {
    match content {
        Content::Empty => Err("unexpected end of JSON input".to_owned()),
        Content::Value(value) => Ok(plain(value.clone())),
        Content::Json(bytes) => json::read(bytes),
        // Most clients write JSON, which is YAML too and quicker to read.
        Content::Yaml(bytes) => json::read(bytes).or_else(|_| {
            let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
            let value = yaml::from_str(text).map_err(|error| error.to_string())?;
            Ok(plain(value))
        }),
        Content::Protobuf(bytes) => from_protobuf(bytes, Layouts::builtin())
            .map(plain)
            .map_err(|error| error.to_string()),
    }
}

/// Checks the kind of a patched object. A patch can remove it, but not change it.
pub(crate) fn check_patched_kind(target: &Target, value: &mut Value) -> Result<(), Status> {
    let kind = target.kind();
    if target.resource.custom().is_none() {
        let result = value.to_string();
        return check_kind(value, kind).map_err(|status| {
            // Kubernetes leaves out the beginning of the message here.
            let prefix = format!("cannot be handled as a {}: ", kind.kind);
            let why = status
                .message
                .split_once(&prefix)
                .map_or(status.message.as_str(), |(_, why)| why);
            invalid_patch(result, why)
        });
    }
    let own = [
        ("kind", kind.kind.clone()),
        ("apiVersion", kind.api_version()),
    ];
    for (field, text) in own {
        if value[field].as_str().unwrap_or_default().is_empty() {
            value[field] = Value::String(text);
        }
    }
    check_custom_kind(value, kind, &Content::Empty)
}

/// The error for a patch whose result cannot be decoded, which it shows.
pub(crate) fn invalid_patch(result: String, why: &str) -> Status {
    let cause = Cause::invalid("patch", &Value::String(result), why);
    Status::invalid_as("", "", "", vec![cause])
}

/// Sets an absent `kind` and `apiVersion`; others than those of the URL are an error.
fn check_kind(value: &mut Value, kind: &Kind) -> Result<(), Status> {
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
    let or = |sent: &str, expected: &str| {
        let chosen = if sent.is_empty() { expected } else { sent };
        chosen.to_owned()
    };
    let sent = Kind {
        group_version: GroupVersion::from_api_version(&or(text("apiVersion"), &kind.api_version())),
        kind: or(text("kind"), &kind.kind),
    };
    if sent != *kind {
        return Err(other_kind(&sent, kind));
    }
    value["kind"] = Value::String(kind.kind.clone());
    value["apiVersion"] = Value::String(kind.api_version());
    Ok(())
}

/// A custom resource must have `kind` and `apiVersion`.
fn check_custom_kind(value: &Value, kind: &Kind, content: &Content) -> Result<(), Status> {
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
    for (field, name) in [("kind", "Kind"), ("apiVersion", "apiVersion")] {
        if text(field).is_empty() {
            let body = match content {
                Content::Json(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                _ => value.to_string(),
            };
            let error = format!("Object '{name}' is missing in '{body}'");
            return Err(unrecognized(kind, &error, content));
        }
    }
    let (sent_kind, sent_version) = (text("kind"), text("apiVersion"));
    if sent_version != kind.api_version() {
        return Err(Status::bad_request(format!(
            "the API version in the data ({sent_version}) does not match the expected API version \
             ({})",
            kind.api_version()
        )));
    }
    if sent_kind != kind.kind {
        let detail = format!("must be {}", kind.kind);
        let cause = Cause::invalid("kind", &json!(sent_kind), &detail);
        let name = value["metadata"]["name"].as_str().unwrap_or_default();
        let causes = vec![cause];
        return Err(Status::invalid_as(kind.group(), sent_kind, name, causes));
    }
    Ok(())
}

/// The error for an object of another kind or version than that of the URL.
fn other_kind(sent: &Kind, kind: &Kind) -> Status {
    let is_known = Schema::builtin().kind(sent).is_some();
    if is_known && sent.kind == kind.kind && sent.group() == kind.group() {
        return Status::bad_request(format!(
            "the API version in the data ({}) does not match the expected API version ({})",
            sent.api_version(),
            kind.api_version()
        ));
    }
    let why = if is_known {
        // Go names the packages of the two types.
        format!(
            "converting ({}.{}) to ({}.{}): unknown conversion",
            sent.version(),
            sent.kind,
            match kind.group().split('.').next() {
                Some("") | None => "core",
                Some(package) => package,
            },
            kind.kind
        )
    } else {
        not_registered(&sent.kind, &sent.api_version())
    };
    Status::bad_request(format!(
        "{} in version {:?} cannot be handled as a {}: {why}",
        sent.kind,
        sent.version(),
        kind.kind
    ))
}

/// Reports unknown and duplicate fields: not at all, as warnings, or as an error.
pub(crate) fn report(
    kind: &Kind,
    validation: FieldValidation,
    unknown: Vec<String>,
    duplicates: Vec<String>,
) -> Result<Vec<String>, Status> {
    // As in Kubernetes, the fields of metadata are reported first.
    let (in_metadata, others): (Vec<_>, Vec<_>) = unknown
        .into_iter()
        .partition(|path| path.starts_with("metadata."));
    let mut problems: Vec<String> = in_metadata
        .iter()
        .chain(&others)
        .map(|path| format!("unknown field {path:?}"))
        .collect();
    problems.extend(
        duplicates
            .iter()
            .map(|path| format!("duplicate field {path:?}")),
    );
    match validation {
        FieldValidation::Ignore => Ok(Vec::new()),
        FieldValidation::Strict if !problems.is_empty() => Err(Status::bad_request(format!(
            "{}: strict decoding error: {}",
            cannot_handle(kind),
            problems.join(", ")
        ))),
        FieldValidation::Warn | FieldValidation::Strict => Ok(problems),
    }
}

fn unrecognized(kind: &Kind, error: &str, content: &Content) -> Status {
    Status::bad_request(format!(
        "the object provided is unrecognized (must be of type {}): {error} ({})",
        kind.kind,
        summary(content)
    ))
}

/// The first bytes of a body, as `summarizeData` of k8s.io/apiserver shows them.
fn summary(content: &Content) -> String {
    let bytes: &Bytes = match content {
        Content::Json(bytes) | Content::Yaml(bytes) | Content::Protobuf(bytes) => bytes,
        Content::Empty | Content::Value(_) => return "<empty>".to_owned(),
    };
    let shown = bytes.get(..MAX_SHOWN).unwrap_or(bytes);
    let dots = if bytes.len() > MAX_SHOWN { " ..." } else { "" };
    match shown.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{dots}", String::from_utf8_lossy(shown)),
        Some(_) => {
            let hex: String = shown.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{hex}{dots}")
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use kubewright_core::Kind;
    use serde_json::json;

    use super::{check_kind, parse, unrecognized};
    use crate::request::Content;

    #[test]
    fn absent_kind_is_that_of_the_url() {
        let mut value = json!({"data": {}});
        check_kind(&mut value, &Kind::new("apps", "v1", "Deployment")).unwrap();
        assert_eq!(value["apiVersion"], "apps/v1");
        assert_eq!(value["kind"], "Deployment");
    }

    #[test]
    fn object_of_another_version_or_kind_fails_with_400() {
        let kind = Kind::new("", "v1", "ConfigMap");
        let mut other = json!({"apiVersion": "v2", "kind": "ConfigMap"});
        assert_eq!(
            check_kind(&mut other, &kind).unwrap_err().message,
            "ConfigMap in version \"v2\" cannot be handled as a ConfigMap: no kind \"ConfigMap\" \
             is registered for version \"v2\" in scheme \"pkg/runtime/scheme.go:111\""
        );
        let mut other = json!({"apiVersion": "v1", "kind": "Secret"});
        assert_eq!(
            check_kind(&mut other, &kind).unwrap_err().message,
            "Secret in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Secret) to \
             (core.ConfigMap): unknown conversion"
        );
    }

    #[test]
    fn json_in_a_yaml_body_is_read_like_yaml() {
        let read = |text: &'static str| parse(&Content::Yaml(Bytes::from_static(text.as_bytes())));
        assert_eq!(read(r#"{"a": [1, "b"]}"#), read("a: [1, b]"));
        assert_eq!(read(r#"{"a": 1}"#), Ok(json!({"a": 1})));
        assert_eq!(read(r#"{"a": 1, "a": 2}"#), Ok(json!({"a": 2})));
        assert!(read("{a: ").is_err());
    }

    #[test]
    fn error_of_a_malformed_body_shows_its_first_bytes() {
        let kind = Kind::new("", "v1", "ConfigMap");
        let bad = Content::Json(Bytes::from_static(b"\xff\xfe"));
        let error = parse(&bad).unwrap_err();
        let message = unrecognized(&kind, &error, &bad).message;
        assert!(message.ends_with("(fffe)"), "{message}");
        let deep = Content::Json(Bytes::from("[".repeat(100_000)));
        assert!(parse(&deep).is_err());
    }
}
